// SPDX-License-Identifier: Apache-2.0
// One connection at several capture points: where it is followed, which packets of the others are copies,
// and what was lost between two of them.
#include <algorithm>
#include <bit>
#include <utility>

#include "analyze/tracker/tracker_impl.hpp"
#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {
namespace {

bool one_point(std::uint8_t points) noexcept {
  return std::popcount(points) == 1;
}

}  // namespace

/// Begins to tell points apart. What was followed so far came from one point a direction.
CaptureViews& Tracker::Impl::views_of(Track& track) {
  if (track.views != nullptr) return *track.views;
  track.views = std::make_unique<CaptureViews>();
  CaptureViews& views = *track.views;
  for (unsigned side = 0; side < 2; ++side) {
    const auto& own = track.spaces[side];
    const auto& other = track.spaces[side ^ 1U];
    const bool before = (own && own->requests_seen()) || (other && other->answers_seen());
    if (!before || track.places[side] == no_place) continue;
    const unsigned at = views.index_of(states[track.places[side]].point);
    views.points[at].known = views.points[at].shown[side] = true;
    views.followed[side] = static_cast<std::uint8_t>(1U << at);
  }
  views.fresh = views.followed[0] == 0 && views.followed[1] == 0;
  views.deciding = views.fresh;
  link(track);  // closes the short way
  return views;
}

/// A copy was found: there will be others, of all connections, perhaps much later.
void Tracker::Impl::expect_copies() {
  if (std::exchange(copies_expected, true)) return;
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].in_use) static_cast<void>(views_of(tracks[i]));
  }
}

/// The packet of which this one of a flow without a sequence is the view of another capture point.
Sighting* Tracker::Impl::copied(PlainFlow& flow, FlowState& state, const PacketRecord& record,
                                std::uint64_t number) {
  if (flow.copies == nullptr) {
    if (!copies_expected && record.point == state.point) return nullptr;
    flow.copies = std::make_unique<CopyRing>();
  }
  Sighting here;
  here.key = key_of(record);
  here.frame = number;
  here.time_ns = record.time_ns;
  here.view = static_cast<std::uint8_t>(record.point);
  const auto bit = static_cast<std::uint8_t>(1U << (record.point & 7U));
  Sighting* const there = flow.copies->find(
      here.key, [&](const Sighting& s) { return s.view != here.view && (s.seen_at & bit) == 0; });
  if (there != nullptr) {
    there->seen_at = static_cast<std::uint8_t>(there->seen_at | bit);
    return there;
  }
  flow.copies->add(here, copy_budget);
  return nullptr;
}

/// Whether packets that waited come from several points.
void Tracker::Impl::look_for_points(std::uint32_t connection, const std::vector<Held>& packets) {
  Track& track = tracks[connection];
  const bool several = std::any_of(packets.begin(), packets.end(), [&](const Held& packet) {
    return packet.record.point != packets.front().record.point;
  });
  const bool apart = track.places[0] != no_place && track.places[1] != no_place &&
                     states[track.places[0]].point != states[track.places[1]].point;
  if (several || apart || copies_expected) static_cast<void>(views_of(track));
}

/// Whether the packet of a known connection is only compared with those that are followed.
bool Tracker::Impl::only_looked_at(const FlowState& state, const PacketRecord& record) {
  CaptureViews* const views = tracks[state.connection].views.get();
  if (views == nullptr) return record.point != state.point;
  return !views->is_followed(state.side, views->index_of(static_cast<std::uint16_t>(record.point)));
}

/// A packet of a connection that may be seen at several points.
Verdict Tracker::Impl::step_at(std::uint32_t connection, unsigned side, const PacketRecord& record,
                               std::uint64_t number, std::uint32_t place) {
  Track& track = tracks[connection];
  if (track.views == nullptr && record.point == states[place].point && !copies_expected) [[likely]] {
    return step(connection, side, record, number, place);
  }
  CaptureViews& views = views_of(track);
  const unsigned at = views.index_of(static_cast<std::uint16_t>(record.point));
  views.points[at].shown[side] = true;
  if (views.deciding || !views.points[at].known || views.followed[side] == 0) {
    return wait_at(connection, side, at, record, number);
  }
  if (views.is_followed(side, at)) return follow_at(connection, side, at, record, number, place);
  return compare_at(connection, side, at, record, number);
}

/// Which points show copies is not known yet: the packet waits, with all that follow.
Verdict Tracker::Impl::wait_at(std::uint32_t connection, unsigned side, unsigned at,
                               const PacketRecord& record, std::uint64_t number) {
  Track& track = tracks[connection];
  CaptureViews& views = *track.views;
  views.deciding = true;
  views.held.push_back({record, number});
  ++held;
  std::uint8_t& shown = views.shown_at[key_of(record)];
  for (unsigned other = 0; other < views.points.size(); ++other) {
    if (other == at || (shown >> other & 1U) == 0) continue;
    views.relate(at, other);
    views.copied[side] = true;
    expect_copies();
  }
  shown = static_cast<std::uint8_t>(shown | 1U << at);
  const auto anywhere = static_cast<unsigned>(views.followed[0] | views.followed[1]);
  if (!views.points[at].known && anywhere != 0) {
    const bool request = dissect::opcode_info(record.opcode).request;
    const auto& space = track.spaces[request ? side : side ^ 1U];
    if (space != nullptr && space->remembers(record, request)) {
      views.relate(at, static_cast<unsigned>(std::countr_zero(anywhere)));
      expect_copies();
    }
  }
  const bool paired = track.places[0] != no_place && track.places[1] != no_place;
  if (views.settled(paired) || views.held.size() >= CaptureViews::looked_at || held > held_of_all)
    decide(connection);
  Verdict verdict;
  if (shared.verdicts != nullptr) {
    if (const Verdict* known = shared.verdicts->find(number)) verdict = *known;
  }
  return verdict;
}

/// Whether points that show no copies of what is followed go on with it: another interface after a failover,
/// or one of several that share the load; and not what was followed long ago, shown again.
bool Tracker::Impl::goes_on(const Track& track, unsigned side, std::uint8_t others,
                            const std::vector<CaptureViews::Packet>& packets) const {
  const CaptureViews& views = *track.views;
  struct Range {
    std::uint64_t packets = 0;
    std::int64_t low = 0, high = 0;
  } theirs, ours;
  std::uint64_t old = 0;
  std::optional<std::uint32_t> base;
  for (const CaptureViews::Packet& packet : packets) {
    const PacketRecord& r = packet.record;
    const bool request = dissect::opcode_info(r.opcode).request;
    if (!request && !dissect::opcode_info(r.opcode).response) continue;
    const std::uint32_t place = track.places[side];
    if (place == no_place || !(flows.at(place).key == r.key)) continue;
    unsigned at = 0;
    while (at + 1 < views.points.size() && views.points[at].number != r.point) ++at;
    const bool their = (others >> at & 1U) != 0;
    if (!their && (!views.is_followed(side, at) || !base)) continue;
    if (!base) base = r.psn;
    Range& range = their ? theirs : ours;
    const std::int64_t psn = dissect::serial_distance(*base, r.psn);
    range.low = range.packets == 0 ? psn : std::min(range.low, psn);
    range.high = range.packets == 0 ? psn : std::max(range.high, psn);
    ++range.packets;
    const auto& space = track.spaces[request ? side : side ^ 1U];
    if (their && space != nullptr && space->confirmed(r.psn)) ++old;
  }
  if (theirs.packets == 0 || old * 2 > theirs.packets) return false;
  return ours.packets == 0 || (theirs.low <= ours.high && ours.low <= theirs.high);
}

/// Chooses where the connection is followed, and goes on with the packets that waited for that.
void Tracker::Impl::decide(std::uint32_t connection) {
  Track& track = tracks[connection];
  CaptureViews& views = *track.views;
  const std::array<std::uint8_t, 2> before = views.followed;
  const auto any_before = static_cast<std::uint8_t>(before[0] | before[1]);
  unsigned done = 0;
  for (unsigned i = 0; i < views.points.size(); ++i) {
    if ((done >> i & 1U) != 0) continue;
    const std::uint8_t together = views.group_of(i);
    done |= together;
    const auto followed_here = static_cast<std::uint8_t>(together & any_before);
    const unsigned best =
        followed_here != 0 ? static_cast<unsigned>(std::countr_zero(followed_here)) : views.best_of(together);
    for (unsigned side = 0; side < 2; ++side) {
      const auto here = static_cast<std::uint8_t>(together & views.shown(side));
      if (here == 0 || (before[side] & together) != 0) continue;
      if (before[side] != 0 && !goes_on(track, side, together, views.held)) continue;
      const unsigned chosen = (here >> best & 1U) != 0 ? best : static_cast<unsigned>(std::countr_zero(here));
      views.followed[side] = static_cast<std::uint8_t>(views.followed[side] | 1U << chosen);
    }
  }
  for (PointOfView& point : views.points) point.known = true;
  views.deciding = views.fresh = false;
  views.shown_at = {};
  views.copied = {};
  std::vector<CaptureViews::Packet> packets = std::move(views.held);
  views.held.clear();
  held -= std::min(held, packets.size());
  replay_at(packets);
}

/// What waited is followed, unless its connection left meanwhile.
void Tracker::Impl::replay_at(const std::vector<CaptureViews::Packet>& packets) {
  for (const CaptureViews::Packet& packet : packets) replay_one(packet.record, packet.number);
}

/// A packet at the point where its direction is followed.
Verdict Tracker::Impl::follow_at(std::uint32_t connection, unsigned side, unsigned at,
                                 const PacketRecord& record, std::uint64_t number, std::uint32_t place) {
  Track& track = tracks[connection];
  CaptureViews& views = *track.views;
  PacketRecord looked = record;
  if (!one_point(views.followed[side])) {
    // They share the load: another way is no other view here.
    if (views.path[side] == 0) views.path[side] = record.path;
    looked.path = views.path[side];
  }
  views.since_followed = 0;
  Sighting here = sighting_of(record, number, at);
  bool first_there = false;
  for (unsigned other = 0; other < views.points.size(); ++other) {
    if (views.is_followed(side, other)) continue;
    Sighting* there = views.waiting[side].find(
        here.key, [&](const Sighting& s) { return s.view == other && s.seen_at == 0; });
    if (there == nullptr) continue;
    there->seen_at = 1;
    here.seen_at = static_cast<std::uint8_t>(here.seen_at | 1U << other);
    count_unfollowed(track, side, there->frame);
    if (shared.verdicts != nullptr) {
      if (Verdict* said = shared.verdicts->at(there->frame))
        said->original = static_cast<std::uint32_t>(number);
    }
    Crossing& crossed = views.points[other].crossed[side];
    if (there->frame < crossed.last_there) {
      // Another one, sent before, was there later.
      if (Sighting* late = views.passed[side].find_frame(crossed.last_there_is))
        came_late(track, side, other, *late, crossed.last_there, there->time_ns);
    }
    note_damage(views.points[other], side, here, *there);
    cross(crossed, here, there->frame, there->time_ns);
    first_there = first_there || crossed.matched == 1;
  }
  if (const auto gone = views.passed[side].add(here, copy_budget)) judge_passed(track, side, *gone);
  if (first_there) settle_late(track);
  return step(connection, side, looked, number, place);
}

/// Another point shows the connection, and the one where it was followed no longer does: its capture ended,
/// or the packets go another way. Unless they are old ones.
void Tracker::Impl::hand_over(std::uint32_t connection, std::size_t at_least) {
  Track& track = tracks[connection];
  CaptureViews& views = *track.views;
  std::vector<CaptureViews::Packet> packets;
  for (const auto& unfollowed : views.unfollowed) {
    packets.insert(packets.end(), unfollowed.begin(), unfollowed.end());
  }
  views.since_followed = 0;
  if (packets.empty()) return;
  const auto by_number = [](const auto& a, const auto& b) { return a.number < b.number; };
  std::sort(packets.begin(), packets.end(), by_number);
  const std::uint32_t point = packets.back().record.point;
  const unsigned at = views.index_of(static_cast<std::uint16_t>(point));
  // Not what another connection goes on with by now, nor what came before a copy of what was followed.
  std::erase_if(packets, [&](const auto& packet) {
    const std::uint32_t place = flows.find(packet.record.key);
    if (packet.record.point != point || place == no_place) return true;
    if (place != track.places[0] && place != track.places[1]) return true;
    return packet.number <= views.points[at].crossed[place == track.places[1] ? 1 : 0].last_there;
  });
  const auto side_of = [&](const CaptureViews::Packet& packet) {
    return flows.find(packet.record.key) == track.places[1] ? 1U : 0U;
  };
  // It had shown what was followed last; else these may be copies of what is forgotten.
  constexpr std::uint32_t last = 64;
  bool caught_up = false;
  for (CopyRing& passed : views.passed) {
    passed.for_last(last, [&](const Sighting& s) { caught_up = caught_up || (s.seen_at >> at & 1U) != 0; });
  }
  std::uint64_t old = 0;
  for (const CaptureViews::Packet& packet : packets) {
    const bool request = dissect::opcode_info(packet.record.opcode).request;
    const unsigned side = side_of(packet);
    const auto& space = track.spaces[request ? side : side ^ 1U];
    if (space != nullptr && space->confirmed(packet.record.psn)) ++old;
  }
  const bool goes_on_there = caught_up || (packets.size() >= at_least && old * 2 <= packets.size());
  // They are no copies.
  const auto goes_on_with = [&](const CaptureViews::Packet& each) {
    return goes_on_there && std::binary_search(packets.begin(), packets.end(), each, by_number);
  };
  for (auto& unfollowed : views.unfollowed) std::erase_if(unfollowed, goes_on_with);
  for (unsigned side = 0; side < 2; ++side) count_unfollowed(track, side, UINT64_MAX);
  if (!goes_on_there || packets.empty()) return;
  // Only what is known by now is compared for the last time.
  if (may_be_lost_between(track)) explain_episode(connection);
  judge_all(track);
  for (unsigned side = 0; side < 2; ++side) {
    if (views.points[at].shown[side]) views.followed[side] = static_cast<std::uint8_t>(1U << at);
  }
  for (PointOfView& each : views.points) each.crossed = {};
  replay_at(packets);
}

/// The capture ends: what only another point showed since is followed, if it goes on with it. True if there
/// was anything to do.
bool Tracker::Impl::end_views(std::uint32_t connection, bool take_over) {
  constexpr std::size_t enough = 16;
  bool any = false;
  while (tracks[connection].views != nullptr && tracks[connection].views->deciding) {
    decide(connection);
    any = true;
  }
  if (take_over && tracks[connection].views != nullptr && tracks[connection].views->since_followed != 0) {
    hand_over(connection, enough);
    any = true;
  }
  return any;
}

/// Says which points showed the connection: first the one where it was followed.
void Tracker::Impl::conclude_views(Track& track) {
  if (track.views == nullptr) return;
  for (unsigned side = 0; side < 2; ++side) count_unfollowed(track, side, UINT64_MAX);
  judge_all(track);
  const CaptureViews& views = *track.views;
  const unsigned followed = views.followed[0] | views.followed[1];
  for (const bool first : {true, false}) {
    for (unsigned at = 0; at < views.points.size(); ++at) {
      const bool shows = views.points[at].shown[0] || views.points[at].shown[1];
      if (shows && ((followed >> at & 1U) != 0) == first)
        track.result.points.push_back(views.points[at].number);
    }
  }
  track.result.followed_points = static_cast<std::uint8_t>(std::popcount(followed));
  track.result.split =
      views.followed[0] != 0 && views.followed[1] != 0 && views.followed[0] != views.followed[1];
  drop_views(track);
}

void Tracker::Impl::drop_views(Track& track) {
  if (track.views == nullptr) return;
  held -= std::min(held, track.views->held.size());
  for (auto* rings : {&track.views->passed, &track.views->waiting}) {
    for (CopyRing& ring : *rings) ring.release(copy_budget);
  }
  track.views.reset();
}

/// Two connections become one: the second is the other direction of the first.
void Tracker::Impl::merge_views(Track& into, Track& from) {
  if (into.views == nullptr && from.views == nullptr &&
      states[into.places[0]].point == states[from.places[0]].point) {
    return;
  }
  CaptureViews& views = views_of(into);
  CaptureViews& others = views_of(from);
  for (unsigned side = 0; side < 2; ++side) count_unfollowed(from, side, UINT64_MAX);
  judge_all(from);
  std::array<unsigned, CaptureViews::points_at_most> place_here{};
  for (unsigned i = 0; i < others.points.size(); ++i) {
    const unsigned at = views.index_of(others.points[i].number);
    place_here[i] = at;
    views.points[at].known = views.points[at].known || others.points[i].known;
    views.points[at].shown[1] = views.points[at].shown[1] || others.points[i].shown[0];
    if (others.is_followed(0, i)) {
      views.followed[1] = static_cast<std::uint8_t>(views.followed[1] | 1U << at);
    }
  }
  for (unsigned i = 0; i < others.points.size(); ++i) {
    for (unsigned j = 0; j < i; ++j) {
      if ((others.related[i] >> j & 1U) != 0 && place_here[i] != place_here[j])
        views.relate(place_here[i], place_here[j]);
    }
  }
  for (const auto& [key, points] : others.shown_at) {
    std::uint8_t& shown = views.shown_at[key];
    for (unsigned i = 0; i < others.points.size(); ++i) {
      if ((points >> i & 1U) != 0) shown = static_cast<std::uint8_t>(shown | 1U << place_here[i]);
    }
  }
  views.copied[1] = views.copied[1] || others.copied[0];
  views.deciding = views.deciding || others.deciding;
  views.fresh = views.fresh && others.fresh;
  views.held.insert(views.held.end(), others.held.begin(), others.held.end());
  std::sort(views.held.begin(), views.held.end(),
            [](const auto& a, const auto& b) { return a.number < b.number; });
  from.views.reset();
}

}  // namespace roce::analyze
