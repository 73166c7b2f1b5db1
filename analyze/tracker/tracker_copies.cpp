// SPDX-License-Identifier: Apache-2.0
// What other capture points show of a connection: copies of what is followed, packets that came late there,
// and proof of losses between two points.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {
namespace {

std::int32_t psns_behind(std::uint32_t later, std::uint32_t psn) noexcept {
  return dissect::serial_distance(psn, later);
}

/// Whether a packet passed a point after that one of `side`, by the clock of one point.
bool came_after(const CaptureViews& views, unsigned side, const Sighting& later, const Sighting& earlier) {
  const bool followed = views.is_followed(side, earlier.view);
  const Crossing& crossed = views.points[followed ? later.view : earlier.view].crossed[side];
  if (later.view == earlier.view || crossed.matched == 0 || later.time_ns == capture::no_time ||
      earlier.time_ns == capture::no_time)
    return later.frame > earlier.frame;
  const double took = crossed.sum_ns / static_cast<double>(crossed.matched);
  return static_cast<double>(later.time_ns - earlier.time_ns) > (followed ? took : -took);
}

/// Whether the READ or ATOMIC of that response was sent again afterwards: the last request that begins at its
/// PSN or before, for a READ may be asked for again from within.
bool asked_again(const CaptureViews& views, unsigned side, const Sighting& response) {
  const std::uint32_t psn = response.psn_place & dissect::serial_mask;
  std::int32_t nearest = INT32_MAX;
  bool again = false;
  views.passed[side ^ 1U].for_each([&](const Sighting& other) {
    const std::int32_t behind = psns_behind(psn, other.psn_place);
    if (!other.request || behind < 0 || behind > nearest) return;
    again = (again && behind == nearest) ||
            (other.asks && other.repeats && came_after(views, side, other, response));
    nearest = behind;
  });
  return again;
}

/// Whether the requester went on as it cannot without that response, which nobody sent again: it asks for it
/// long before it has sent so much more, or so many more READs and ATOMICs as may be open at once. If it did
/// ask again, it is not known to have it, whatever it had sent before.
bool went_on_without(const CaptureViews& views, unsigned side, const Sighting& response) {
  constexpr std::int32_t far = 64;
  constexpr unsigned open_at_once = 16;
  const std::uint32_t psn = response.psn_place & dissect::serial_mask;
  unsigned further = 0;
  const bool went_on = views.passed[side ^ 1U].newest_first([&](const Sighting& other) {
    if (!other.request) return false;
    const std::int32_t ahead = psns_behind(other.psn_place, psn);
    if (other.asks && !other.repeats && ahead > 0 && other.frame > response.frame) ++further;
    return ahead >= far || further > open_at_once;
  });
  return went_on && !asked_again(views, side, response);
}

/// Whether that transmission arrived, so that the point behind, which does not show it, missed it: a
/// responder does not acknowledge, nor does a requester go on without, what never came; and it was not sent
/// again. Of an ACK nothing tells.
bool arrived(const Track& track, unsigned side, const Sighting& sighting) {
  CaptureViews& views = *track.views;
  const std::uint32_t psn = sighting.psn_place & dissect::serial_mask;
  // Of what only another point shows, no transmission was seen where the connection is followed.
  const bool followed = views.is_followed(side, sighting.view);
  for (const CopyRing* ring : {&views.passed[side], &views.waiting[side]}) {
    const Sighting* newest = ring->newest_at(sighting.psn_place);
    if (newest == nullptr || newest->frame == sighting.frame) continue;
    if (newest->frame > sighting.frame || (!followed && ring == &views.passed[side])) return false;
  }
  if (track.result.service == dissect::Service::uc) return false;  // nobody answers
  if (sighting.repeats && !sighting.after_nak) return false;       // perhaps the one before arrived
  if (sighting.request) return track.spaces[side] != nullptr && track.spaces[side]->confirmed(psn);
  return sighting.data_answer && went_on_without(views, side, sighting);
}

/// Whether something was sent in that place after the packet, which another point does not show.
bool sent_after(const CaptureViews& views, unsigned side, std::uint32_t psn_place, const Sighting& unshown) {
  for (const CopyRing* ring : {&views.passed[side], &views.waiting[side]}) {
    const Sighting* newest = ring->newest_at(psn_place);
    if (newest != nullptr && newest->frame != unshown.frame && came_after(views, side, *newest, unshown))
      return true;
  }
  return false;
}

/// Whether that packet was sent again, and not merely because the one before it was: its sender lacked the
/// answer to it.
bool sent_again_for_itself(const CaptureViews& views, unsigned side, const Sighting& unshown) {
  const std::uint32_t psn = unshown.psn_place & dissect::serial_mask;
  const bool answer = unshown.psn_place != psn;
  const std::uint32_t before = psn_place_of((psn - 1) & dissect::serial_mask, answer);
  return sent_after(views, side, unshown.psn_place, unshown) && !sent_after(views, side, before, unshown);
}

/// Whether no packet like it is followed, of which it may be a copy that the network made.
bool is_alone(CaptureViews& views, unsigned side, const Sighting& sighting) {
  return views.passed[side].find(
             sighting.key, [&](const Sighting& other) { return other.frame != sighting.frame; }) == nullptr;
}

/// Whether it is not known yet what that packet was. Only where memory is short it is asked for so early.
bool still_waits(const Track& track, std::uint64_t frame) {
  const auto is_it = [frame](const Held& packet) { return packet.number == frame; };
  if (track.jump != nullptr && is_it(*track.jump)) return true;
  return track.episode != nullptr &&
         std::any_of(track.episode->held.begin(), track.episode->held.end(), is_it);
}

/// The claim of a loss that the packet sent in place of that one shows as well.
std::vector<CaptureViews::Claim>::iterator shows_it_too(CaptureViews& views, unsigned side,
                                                        const Sighting& there) {
  return std::find_if(views.claims.begin(), views.claims.end(), [&](const CaptureViews::Claim& one) {
    return one.loss.where == Lost::before_capture && one.loss.side == side &&
           one.psn_place == there.psn_place;
  });
}

}  // namespace

/// What was said of a packet at the point where it is followed.
void Tracker::Impl::note_ruled(const Step& s, Track& track) {
  using What = episode::Ruling::What;
  const episode::Ruling& ruling = s.ruling;
  if (Sighting* here = track.views->passed[s.side].find_frame(s.number)) {
    here->repeats = ruling.what == What::repeat;
    here->copy = ruling.what == What::copy && !ruling.by_network;
    here->after_nak = here->repeats && ruling.cause == Cause::nak && !ruling.spurious;
  }
  ShownLoss loss{Lost::before_capture, s.side, s.number, s.side, s.r.time_ns, 1, s.counts};
  loss.count = ruling.lost_before + ruling.lost_or_missed;
  if (loss.count != 0) claim(track, {loss, 0, psn_place_of(s.r.psn, s.info.response)});
  loss.where = Lost::after_capture;
  loss.side ^= 1U;
  loss.count = 1;
  if (ruling.lost_after + ruling.lost_behind_one != 0) claim(track, {loss, ruling.lost_frame, 0});
  if (ruling.doubt != episode::Doubt::none) claim(track, {loss, ruling.doubt_frame, 0, ruling.doubt});
  const std::uint32_t behind = ruling.lost_after + ruling.lost_behind_one;
  if (behind <= 1) return;
  loss.count = behind - 1;
  claim(track, {loss, 0, 0});
}

void Tracker::Impl::claim(Track& track, const CaptureViews::Claim& claim) {
  if (track.views->claims.size() < CaptureViews::claims_at_most) {
    track.views->claims.push_back(claim);
  } else {
    book_claim(track, claim);
  }
}

/// No other point knows better.
void Tracker::Impl::book_claim(Track& track, const CaptureViews::Claim& claim) {
  const bool open = claim.doubt != episode::Doubt::none;
  if (open && !way_from(track, claim.loss.side).path.was_lost(claim.doubt, network)) return;
  const std::uint32_t place = track.places[claim.loss.side];
  Verdict* const verdict = shared.verdicts != nullptr ? shared.verdicts->at(claim.loss.by) : nullptr;
  book_loss(claim.loss, track.result, place == no_place ? nullptr : &flows.at(place), shared.series, verdict);
}

/// What only another point showed is a copy of what is followed.
void Tracker::Impl::count_copy(Track& track, unsigned side, const CaptureViews::Packet& packet) {
  const PacketRecord& r = packet.record;
  if (!r.has(PacketRecord::selected) || track.places[side] == no_place) return;
  Flow& flow = flows.at(track.places[side]);
  ++flow.sequence_to_change().duplicate_captures;
  track.result.sent[side].add(Event::duplicate_capture, packet.number, r.time_ns);
  if (!r.damaged()) return;
  ++flow.icrc_mismatches;
  track.result.sent[side].add(Event::icrc_mismatch, packet.number, r.time_ns);
}

/// The ones up to that number will not be followed any more.
void Tracker::Impl::count_unfollowed(Track& track, unsigned side, std::uint64_t up_to) {
  std::deque<CaptureViews::Packet>& unfollowed = track.views->unfollowed[side];
  for (; !unfollowed.empty() && unfollowed.front().number <= up_to; unfollowed.pop_front())
    count_copy(track, side, unfollowed.front());
}

/// Of a packet seen at both points.
void Tracker::Impl::note_damage(PointOfView& point, unsigned side, const Sighting& here,
                                const Sighting& there) {
  const Sighting& broken = here.icrc_wrong ? here : there;
  const Sighting& right = here.icrc_wrong ? there : here;
  if (broken.icrc_wrong && right.icrc_right && here.selected)
    (here.icrc_wrong ? point.damaged_here : point.damaged_there)[side].add(Event::damaged_between_points,
                                                                           broken.frame, broken.time_ns);
}

/// The point behind the other one shows damaged what had passed that one whole. Where it is the other way
/// round, or nearly all are, a capture is at fault.
void Tracker::Impl::conclude_damage(Track& track, unsigned side, unsigned at) {
  CaptureViews& views = *track.views;
  PointOfView& point = views.points[at];
  constexpr Event damage = Event::damaged_between_points;
  const Events there = std::exchange(point.damaged_there[side], {}),
               here = std::exchange(point.damaged_here[side], {});
  const auto behind = views.behind(side, at, true);
  if (!behind && !here.empty() && !there.empty()) return;
  const bool is_there = behind ? *behind == side : here.empty();
  const EventLog* const log = (is_there ? there : here).find(damage);
  if (log == nullptr || log->count * 20 >= point.crossed[side].matched * 19) return;
  Events& sent = track.result.sent[side];
  for (const std::uint64_t frame : log->frames) sent.add(damage, frame, log->first_time_ns);
  sent.add(damage, 0, log->last_time_ns, log->count - log->frames.size());
}

void Tracker::Impl::cross(Crossing& crossed, const Sighting& here, std::uint64_t there,
                          std::int64_t there_ns) noexcept {
  const bool timed = here.time_ns != capture::no_time && there_ns != capture::no_time;
  crossed.add(here.frame, there, timed ? there_ns - here.time_ns : 0);
}

/// A packet at another point: a copy of one that is followed, or will be, or was lost between the two.
Verdict Tracker::Impl::compare_at(std::uint32_t connection, unsigned side, unsigned at,
                                  const PacketRecord& record, std::uint64_t number) {
  Track& track = tracks[connection];
  CaptureViews& views = *track.views;
  Verdict verdict;
  verdict.connection = track.result.id;
  if (side == 1) verdict.set(Verdict::b_to_a);
  verdict.set(Verdict::duplicate_capture);

  const Sighting there = sighting_of(record, number, at);
  if (views.points[at].holds_twice(side, there.key, there.time_ns)) {
    // Of the one before it, which is compared.
    count_copy(track, side, {record, number});
    publish(number, verdict);
    return verdict;
  }
  Crossing& crossed = views.points[at].crossed[side];
  // Where no ID tells, what was sent twice has one key: the one in its order, before one that would be late.
  Sighting* here = views.passed[side].find(
      there.key, [&](const Sighting& s) { return (s.seen_at >> at & 1U) == 0 && s.frame > crossed.last; });
  if (here == nullptr) {
    here = views.passed[side].find(there.key, [&](const Sighting& s) { return (s.seen_at >> at & 1U) == 0; });
  }
  ++views.since_followed;
  if (here != nullptr) {
    here->seen_at = static_cast<std::uint8_t>(here->seen_at | 1U << at);
    verdict.original = static_cast<std::uint32_t>(here->frame);
    publish(number, verdict);
    count_unfollowed(track, side, number);
    count_copy(track, side, {record, number});
    if (here->frame < crossed.last) came_late(track, side, at, *here, number, record.time_ns);
    note_damage(views.points[at], side, *here, there);
    cross(crossed, *here, number, record.time_ns);
    if (crossed.matched == 1) settle_late(track);
    return verdict;
  }
  publish(number, verdict);
  if (const auto gone = views.waiting[side].add(there, copy_budget)) judge_waiting(track, side, *gone);
  std::deque<CaptureViews::Packet>& unfollowed = views.unfollowed[side];
  unfollowed.push_back({record, number});
  if (unfollowed.size() > CaptureViews::kept_unfollowed)
    count_unfollowed(track, side, unfollowed.front().number);
  if (views.since_followed >= CaptureViews::looked_at && unfollowed.size() >= CaptureViews::looked_at / 2)
    hand_over(connection, CaptureViews::looked_at / 2);
  return verdict;
}

/// On the way to another point others overtook it there.
void Tracker::Impl::came_late(Track& track, unsigned side, unsigned at, Sighting& here, std::uint64_t there,
                              std::int64_t there_ns) {
  CaptureViews& views = *track.views;
  const auto behind = views.points[at].behind();
  if (here.late || (behind && *behind != side)) return;
  if (!behind || track.episode != nullptr) {
    // Nothing came from there yet: it is not known which way they went. Or whether it was sent again.
    constexpr std::size_t most = 1024;
    if (views.perhaps_late.size() < most) {
      views.perhaps_late.push_back({side, at, here.frame, there, there_ns});
    }
    return;
  }
  here.late = true;
  if (shared.verdicts != nullptr && !here.repeats) {
    if (Verdict* verdict = shared.verdicts->at(there)) verdict->set(Verdict::out_of_order);
  }
  if (here.selected && !here.repeats) {
    track.result.sent[side].add(Event::out_of_order, there, there_ns);
    ++flows.at(track.places[side]).sequence_to_change().out_of_order;
  }
}

/// Now it may be known.
void Tracker::Impl::settle_late(Track& track) {
  CaptureViews& views = *track.views;
  const std::vector<CaptureViews::PerhapsLate> perhaps = std::move(views.perhaps_late);
  views.perhaps_late.clear();
  for (const CaptureViews::PerhapsLate& one : perhaps) {
    Sighting* const here = views.passed[one.side].find_frame(one.frame);
    if (here != nullptr) came_late(track, one.side, one.at, *here, one.there, one.there_ns);
  }
}

/// Notes a packet that one point showed and the next one on the way did not, though it showed those before
/// and after.
void Tracker::Impl::lose_between(Track& track, unsigned side, const Sighting& lost) {
  if (!lost.selected || track.places[side] == no_place) return;
  Connection& c = track.result;
  c.sent[side].add(Event::lost_between_points, lost.frame, lost.time_ns);
  if (lost.time_ns != capture::no_time) ++shared.series.at(lost.time_ns).lost;
  note_loss(track, side,
            {{}, lost.psn_place & dissect::serial_mask, track.result.id, lost.frame, lost.time_ns},
            lost_packets);
  if (shared.verdicts != nullptr) {
    if (Verdict* verdict = shared.verdicts->at(lost.frame)) {
      verdict->lose_itself();
      verdict->clear(Verdict::duplicate_capture);
    }
  }
}

/// Whether a packet may have been lost between two points: an episode may tell of it as well.
bool Tracker::Impl::may_be_lost_between(Track& track) const {
  CaptureViews& views = *track.views;
  bool lost = false;
  for (unsigned side = 0; side < 2; ++side) {
    views.passed[side].for_each([&](const Sighting& here) {
      for (unsigned at = 0; !lost && at < views.points.size(); ++at) {
        const bool unseen = !views.is_followed(side, at) && (here.seen_at >> at & 1U) == 0;
        lost = unseen && views.points[at].crossed[side].within(here.frame);
      }
    });
  }
  return lost;
}

/// A followed packet will not be seen elsewhere any more.
void Tracker::Impl::judge_passed(Track& track, unsigned side, const Sighting& here) {
  if (here.copy || still_waits(track, here.frame)) return;  // what it is a copy of is judged
  CaptureViews& views = *track.views;
  const auto named = [&](const CaptureViews::Claim& one) {
    return one.loss.where == Lost::after_capture && one.loss.side == side && one.frame == here.frame;
  };
  if (here.late) {  // and so was not lost
    std::erase_if(views.claims, named);
    return;
  }
  const bool uc = track.result.service == dissect::Service::uc;
  for (unsigned at = 0; at < views.points.size(); ++at) {
    const PointOfView& point = views.points[at];
    if (views.is_followed(side, at) || (here.seen_at >> at & 1U) != 0) continue;
    if (!point.crossed[side].within(here.frame)) continue;
    const auto behind = views.behind(side, at, uc);
    if (behind != side) {
      if (behind && is_alone(views, side, here)) ++views.points[at].missed;  // it had passed there
      continue;
    }
    ++views.points[at].lacked[side];
    if (arrived(track, side, here)) {
      ++views.points[at].missed;
    } else if (uc || std::any_of(views.claims.begin(), views.claims.end(), named) ||
               sent_again_for_itself(views, side, here)) {
      lose_behind(track, side, here);
    } else {
      doubt_it(track, {side, at, here});
    }
    return;
  }
}

/// The point behind shows that a packet, which is followed, was lost on the way to it.
void Tracker::Impl::lose_behind(Track& track, unsigned side, const Sighting& here) {
  lose_between(track, side, here);
  if (!here.selected) return;
  std::erase_if(track.views->claims, [&](const CaptureViews::Claim& one) {  // the packet itself shows it
    return one.loss.where == Lost::after_capture && one.loss.side == side && one.frame == here.frame;
  });
  SequenceCounts& sequence = flows.at(track.places[side]).sequence_to_change();
  ++sequence.lost[static_cast<std::size_t>(Lost::after_capture)];
}

/// A packet of another point will not be followed any more.
void Tracker::Impl::judge_waiting(Track& track, unsigned side, const Sighting& there) {
  CaptureViews& views = *track.views;
  PointOfView& point = views.points[there.view];
  if (there.seen_at != 0 || !point.crossed[side].within_there(there.frame)) return;
  const auto behind = views.behind(side, there.view, track.result.service == dissect::Service::uc);
  if (!behind) return;
  if (*behind == side) {
    if (is_alone(views, side, there)) ++point.missed;  // it had passed where the connection is followed
    return;
  }
  ++point.was_alone[side];
  const bool uc = track.result.service == dissect::Service::uc;
  if (arrived(track, side, there)) {
    ++point.missed;
  } else if (uc || shows_it_too(views, side, there) != views.claims.end() ||
             sent_again_for_itself(views, side, there)) {
    lose_before(track, side, there);
  } else {
    doubt_it(track, {side, there.view, there});
  }
}

/// What only a point before shows was lost on the way to where the connection is followed.
void Tracker::Impl::lose_before(Track& track, unsigned side, const Sighting& there) {
  CaptureViews& views = *track.views;
  lose_between(track, side, there);
  if (track.result.service == dissect::Service::uc && track.spaces[side] != nullptr)
    track.spaces[side]->explain_gap(there.psn_place & dissect::serial_mask);
  const auto same = shows_it_too(views, side, there);
  if (same != views.claims.end() && --same->loss.count == 0) views.claims.erase(same);
  if (!there.selected || track.places[side] == no_place) return;
  ++flows.at(track.places[side]).sequence_to_change().lost[static_cast<std::size_t>(Lost::before_capture)];
}

/// Only that a point does not show it says that it was lost.
void Tracker::Impl::doubt_it(Track& track, const CaptureViews::Unshown& unshown) {
  std::vector<CaptureViews::Unshown>& all = track.views->unshown;
  all.push_back(unshown);
  if (all.size() >= CaptureViews::unshown_at_most) settle_unshown(track);
}

/// What a point does not show was lost, unless its capture is known to miss packets that arrived. Those are a
/// part of what it misses, the others of what is in doubt here.
void Tracker::Impl::settle_unshown(Track& track) {
  CaptureViews& views = *track.views;
  const std::vector<CaptureViews::Unshown> kept = std::exchange(views.unshown, {});
  std::array<std::uint64_t, CaptureViews::points_at_most> in_doubt{};
  for (const CaptureViews::Unshown& one : kept) ++in_doubt[one.at];
  constexpr std::uint64_t of_one_known = 10;
  for (const CaptureViews::Unshown& one : kept) {
    if (views.points[one.at].missed * of_one_known >= in_doubt[one.at]) continue;
    if (views.is_followed(one.side, one.sighting.view))
      lose_behind(track, one.side, one.sighting);
    else
      lose_before(track, one.side, one.sighting);
  }
}

/// What can be said of the packets that are remembered; they are forgotten.
void Tracker::Impl::judge_all(Track& track) {
  CaptureViews& views = *track.views;
  settle_late(track);
  for (unsigned side = 0; side < 2; ++side) {
    views.passed[side].for_each([&](const Sighting& here) { judge_passed(track, side, here); });
    views.waiting[side].for_each([&](const Sighting& there) { judge_waiting(track, side, there); });
  }
  settle_unshown(track);
  for (unsigned side = 0; side < 2; ++side) {
    views.passed[side].release(copy_budget);
    views.waiting[side].release(copy_budget);
  }
  for (const CaptureViews::Claim& one : std::exchange(views.claims, {})) book_claim(track, one);
  for (unsigned at = 0; at < views.points.size(); ++at) {
    for (unsigned side = 0; side < 2; ++side)
      if (!views.is_followed(side, at)) conclude_damage(track, side, at);
  }
  // Both directions at one point, and at another one: their clocks differ by what is in both.
  if (std::popcount(views.followed[0]) != 1 || views.followed[0] != views.followed[1]) return;
  const auto followed = static_cast<unsigned>(std::countr_zero(views.followed[0]));
  for (unsigned at = 0; at < views.points.size(); ++at) {
    const PointOfView& point = views.points[at];
    const auto behind = point.behind();
    if (at == followed || !behind) continue;
    const Crossing& there = point.crossed[*behind];
    const Crossing& back = point.crossed[*behind ^ 1U];
    clocks.add(views.points[followed].number, point.number, back.most_ns, there.least_ns,
               there.matched + back.matched);
  }
}

}  // namespace roce::analyze
