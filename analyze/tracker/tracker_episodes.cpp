// SPDX-License-Identifier: Apache-2.0
// Episodes: the packets of a connection wait from the first one that is not as it should be until requester
// and responder agree again; then all of them are explained together, and booked.
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Service;

namespace {

/// So many packets in a row must be as they should be: what comes late or twice comes sooner.
constexpr std::uint32_t calm_packets = 32;
/// So many where responses are missing, or a NAK has had no effect: if nobody asks for them by then, they
/// were delivered, and it was not.
constexpr std::uint32_t patient_packets = 1024;

}  // namespace

bool Episode::Side::answers(std::int64_t psn) {
  const auto at = std::find_if(awaited.begin(), awaited.end(),
                               [psn](const auto& range) { return range.first <= psn && psn < range.second; });
  if (at == awaited.end()) return false;
  for (auto before = awaited.begin(); before != at; ++before)
    misses(before->first, std::min(before->second, psn));
  misses(at->first, psn);
  at->first = psn + 1;
  awaited.erase(awaited.begin(), at->first == at->second ? std::next(at) : at);
  return true;
}

/// What PsnSpace::is_steady() asks, where packets before it wait as well.
bool Episode::Side::is_next(const episode::Note& note) const noexcept {
  if (note.has_ip_id && static_cast<std::uint16_t>(note.ip_id - last_id[note.request ? 1 : 0]) >= 0x8000U)
    return false;
  if (note.request) return note.psn == top && note.count > 0;
  if (dissect::opcode_info(note.opcode).operation != Operation::acknowledge)
    return !awaited.empty() && awaited.front().first == note.psn;
  return note.has_aeth && (note.aeth >> 29U & 3U) == 0 && note.psn >= acked && note.psn < top;
}

/// Whether packets of that kind tell themselves of another use of the queue pairs, in an episode.
bool Tracker::Impl::may_wait(const Track& track, const dissect::OpcodeInfo& info) {
  return track.views == nullptr && track.jump == nullptr && info.defined &&
         (info.service == Service::rc || info.service == Service::xrc);
}

void Tracker::Impl::open_episode(Track& track) {
  track.episode = std::make_unique<Episode>();
  if (!spare_room.empty()) {
    track.episode->held = std::move(spare_room.back());
    spare -= track.episode->held.capacity();
    spare_room.pop_back();
  }
  track.episode->last_ns = last_packet_of(track);
  for (unsigned of = 0; of < 2; ++of) {
    if (track.spaces[of] == nullptr || !track.spaces[of]->requests_seen()) continue;
    track.episode->side[of] = {track.spaces[of]->sent_to(),
                               track.spaces[of]->confirmed_to(),
                               track.spaces[of]->sent_to(),
                               track.spaces[of]->answered_to(),
                               true,
                               {},
                               false,
                               track.spaces[of]->sent_to(),
                               false,
                               track.spaces[of]->awaited(),
                               track.spaces[of]->in_turn(),
                               track.spaces[of]->last_ids()};
  }
  link(track);
}

/// It waits for what comes, and keeps its place.
void Tracker::Impl::hold_in_episode(Track& track, unsigned side, const PacketRecord& record,
                                    std::uint64_t number, Verdict& verdict) {
  verdict.connection = track.result.id;
  if (side == 1) verdict.set(Verdict::b_to_a);
  verdict.set(Verdict::undecided);
  publish(number, verdict);
  track.episode->held.push_back({record, number, static_cast<std::uint8_t>(side)});
  track.episode->last_ns = record.time_ns;
  ++held;
}

/// True if the packet waits with others, or is the first to wait.
bool Tracker::Impl::waits_for_explanation(std::uint32_t connection, unsigned side, const PacketRecord& record,
                                          std::uint64_t number, Verdict& verdict) {
  Track& track = tracks[connection];
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  if (info.operation == Operation::cnp && track.episode != nullptr) {
    // It tells nothing of the episode, but answers packets that may wait in it.
    hold_in_episode(track, side, record, number, verdict);
    if (track.episode->held.size() >= Episode::limit) explain_episode(connection);
    return true;
  }
  if (!info.defined || !(info.request || info.response)) return false;
  if (info.service != Service::rc && info.service != Service::xrc && info.service != Service::uc)
    return false;
  const unsigned requester = info.response ? side ^ 1U : side;
  const bool anew = may_wait(track, info) && may_be_another_use(track, side, record);
  if (track.episode == nullptr) {
    // A capture that begins with a NAK: what it asks for had been sent.
    const auto& space = track.spaces[requester];
    const unsigned kind = record.aeth >> 29U & 3U;
    const bool asks =
        info.operation == Operation::acknowledge && record.has(PacketRecord::has_aeth) && kind != 0;
    const bool first =
        asks && (space == nullptr || !space->requests_seen()) && track.places[requester] != no_place;
    if (!first && !anew && !record.trimmed() && (space == nullptr || space->is_steady(record, info)))
      return false;
    open_episode(track);
  }
  if (track.spaces[requester] == nullptr) track.spaces[requester] = std::make_unique<PsnSpace>(requester);
  if (anew) note_beginning(track, side, record);
  note_in_episode(track, side, record, number);
  hold_in_episode(track, side, record, number, verdict);
  if (track.episode->first_frame == 0) {
    track.episode->first_frame = number;
    open_episodes.emplace(number, connection);
  }
  if (used_again(connection)) return true;
  const Episode& open = *track.episode;
  const bool settled = std::all_of(open.side.begin(), open.side.end(),
                                   [](const Episode::Side& one) { return one.acked >= one.marker; });
  const bool complete =
      std::all_of(open.side.begin(), open.side.end(),
                  [](const Episode::Side& one) { return one.missing.empty() && !one.asked; }) &&
      open.use == Episode::none;
  const bool calm = settled && open.calm >= (complete ? calm_packets : patient_packets);
  if ((calm && !mirror_lags(open, record.time_ns)) || open.held.size() >= Episode::limit)
    explain_episode(connection);
  while (held >= held_of_all && !open_episodes.empty()) explain_oldest();
  return true;
}

void Tracker::Impl::note_in_episode(Track& track, unsigned side, const PacketRecord& record,
                                    std::uint64_t number) {
  Episode& open = *track.episode;
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const unsigned requester = info.response ? side ^ 1U : side;
  const PsnSpace& space = *track.spaces[requester];
  Episode::Side& own = open.side[requester];
  const episode::Note note = space.note_of(record, number, info, track.result.pmtu);
  if (!own.known)
    own = {note.psn, note.psn, note.psn, note.psn, true, {}, false, note.psn, false, {}, false, {}};
  own.in_turn = own.in_turn && own.is_next(note) && !note.trimmed && !space.far_off(record);
  own.last_id[note.request ? 1 : 0] = note.ip_id;
  bool calm = true;
  if (info.request && own.known && space.far_off(record)) {
    calm = false;  // another sequence, or it strayed here
  } else if (info.request) {
    calm = note.psn == own.top;
    // What goes on in a pass that was under way is no reaction to a NAK.
    if (note.psn < own.next) {
      if (own.asked) own.forgets(note.psn);
      own.asked = false;
    }
    own.next = note.psn + std::max(note.count, 1);
    own.top = std::max(own.top, own.next);
    const bool awaits = episode::answered_on_its_own(info.operation) && note.count > 0;
    if (awaits) own.awaited.emplace_back(note.psn, own.next);
    if (info.service == Service::uc) own.acked = own.top;  // nobody confirms it
  } else if (info.operation != Operation::acknowledge) {
    calm = note.psn == own.answered || (note.psn > own.answered && info.starts_message());
    const bool gap = note.psn > own.answered && (own.inside || !info.starts_message());
    if (!own.answers(note.psn) && gap) own.misses(own.answered, note.psn);
    own.inside = !info.ends_message();
    std::erase_if(own.missing, [&](auto& range) {
      if (note.psn == range.first) ++range.first;
      return range.first >= range.second;
    });
    if (note.trimmed) own.misses(note.psn, note.psn + 1);
    own.answered = std::max(own.answered, note.psn + 1);
    own.acked = std::max(own.acked, note.psn + (info.ends_message() ? 1 : 0));
  } else {
    calm = note.has_aeth && (note.aeth >> 29U & 3U) == 0 && note.psn < own.top;
    if (!calm && note.has_aeth) {
      own.asked = true;
      own.forgets(note.psn);
    }
    if (note.psn < own.top) own.acked = std::max(own.acked, note.psn + (calm ? 1 : 0));
  }
  calm = calm && !note.trimmed;
  open.calm = calm ? open.calm + 1 : 0;
  if (!calm) {
    own.marker = own.top;
    open.trouble_ns = record.time_ns;
  }
}

/// Whether a mirror may still show again what was in trouble. Of a PSN only the last transmission is
/// remembered, so the copy of one before that would be taken for a repeat once the episode is over.
bool Tracker::Impl::mirror_lags(const Episode& open, std::int64_t now_ns) const noexcept {
  const episode::MirrorFact& fact = mirror.fact();
  if (fact.witnesses == 0 || now_ns == capture::no_time || open.trouble_ns == capture::no_time) return false;
  return now_ns >= open.trouble_ns && now_ns - open.trouble_ns <= fact.most_lag_ns;
}

/// The path MTU, also as the packets of the episode show it; 0: not known.
std::uint32_t Tracker::Impl::pmtu_of(const Track& track, const Episode& episode) {
  if (track.result.pmtu != 0) return track.result.pmtu;
  for (const Held& packet : episode.held) {
    const std::uint32_t payload = packet.record.payload;
    if (payload < 256 || (payload & (payload - 1)) != 0) continue;
    const dissect::Position position = dissect::opcode_info(packet.record.opcode).position;
    if (position == dissect::Position::first || position == dissect::Position::middle) return payload;
  }
  return 0;
}

/// Whether a packet of an episode says something of the requests of that side.
bool Tracker::Impl::tells_of(const Track& track, const Held& packet, unsigned requester) const {
  const dissect::OpcodeInfo& info = dissect::opcode_info(packet.record.opcode);
  return info.operation != Operation::cnp && (packet.side ^ (info.response ? 1U : 0U)) == requester &&
         believed(track.places[packet.side], packet.record);
}

/// What the packets of the episode say of the requests of that side; nothing, if there are none of it.
EpisodeNotes Tracker::Impl::notes_of(const Track& track, const Episode& episode, unsigned requester) const {
  EpisodeNotes all;
  PsnSpace* const space = track.spaces[requester].get();
  if (space == nullptr) return all;
  all.pmtu = pmtu_of(track, episode);
  all.of.reserve(episode.held.size());
  for (std::size_t i = 0; i < episode.held.size(); ++i) {
    if (tells_of(track, episode.held[i], requester)) all.of.push_back(i);
  }
  if (all.of.empty()) return all;
  // Where the capture shows packets again, these may be of long before.
  constexpr std::int64_t all_remembered = INT64_MIN / 2;
  std::int64_t lowest = shared.budget.twice ? all_remembered : INT64_MAX;
  for (const std::size_t i : all.of) lowest = std::min(lowest, space->extended(episode.held[i].record.psn));
  all.from = space->remembered_from(lowest);
  space->recall(all.notes, all.pmtu, all.from, all.of.size());
  all.before = all.notes.size();
  for (const std::size_t i : all.of) {
    const Held& packet = episode.held[i];
    all.notes.push_back(
        space->note_of(packet.record, packet.number, dissect::opcode_info(packet.record.opcode), all.pmtu));
    all.notes.back().remarked = is_remarked(packet.record);
  }
  if (!shared.mirror_gaps.empty()) {
    for (episode::Note& note : all.notes) note.mirror_gaps = shared.mirror_gaps_to(note.frame);
  }
  episode::settle_times(all.notes);
  return all;
}

/// Whether the capture has answers of the peer, though nobody knows yet whose requests they answer: those to
/// this one would come the same way.
bool Tracker::Impl::hears_answers(const Track& track, unsigned requester) {
  const std::uint32_t place = track.places[requester];
  if (place == no_place || states[place].unpaired == nullptr) return false;
  const std::span<const std::uint32_t> others = unpaired.between(states[place].unpaired->first);
  return std::any_of(others.begin(), others.end(), [&](std::uint32_t other) {
    return opposite(place, other) && states[other].unpaired != nullptr &&
           states[other].unpaired->answers != 0;
  });
}

/// What is known of the path now.
episode::Facts Tracker::Impl::facts_of(const Track& track, unsigned requester) {
  const PsnSpace& space = *track.spaces[requester];
  episode::Facts known = space.facts_now();
  // A NAK would be in the capture, although no answer came so far.
  known.answers_captured = known.answers_captured ||
                           (!space.answers_seen() &&
                            (track.places[requester ^ 1U] != no_place || hears_answers(track, requester)));
  const episode::WayFact& there = way_from(track, requester);
  const episode::WayFact& back = way_from(track, requester ^ 1U);
  known.there = there.path;
  known.back = back.path;
  known.clocks = there.clocks;
  known.clocks.meet_opposite(back.clocks);
  // One NIC counts in one way.
  known.counts_early = known.counts_early || known.there.counts_early;
  if (shared.any_time) known.until_ns = shared.last_time_ns;
  known.repeats = track.result.service != Service::uc;
  known.mirror = mirror.fact();
  return known;
}

/// What is known of the way of what that side sends.
episode::WayFact& Tracker::Impl::way_from(const Track& track, unsigned side) {
  const std::pair key{track.result.ends[side].address, track.result.ends[side ^ 1U].address};
  if (paths.size() >= paths_at_most && !paths.contains(key)) paths.clear();
  return paths[key];
}

void Tracker::Impl::leave_open(Track& track, const Step& s) {
  // Where there are other capture points, they may know better: note_ruled().
  if (s.ruling.doubt == episode::Doubt::none || track.views != nullptr) return;
  if (track.doubtful.size() >= DoubtfulLoss::at_most || open_losses >= DoubtfulLoss::of_all) return;
  ++open_losses;
  const Lost where = s.ruling.doubt_behind_one ? Lost::undecided : Lost::after_capture;
  track.doubtful.push_back({{where, s.side ^ 1U, s.number, s.side, s.r.time_ns, 1, s.counts},
                            s.ruling.doubt,
                            s.info.response ? s.side ^ 1U : s.side});
}

/// What other packets from there to there have shown, of any connection.
void Tracker::Impl::settle_doubtful(Track& track) {
  for (const DoubtfulLoss& each : track.doubtful) {
    const unsigned side = each.loss.side;
    if (!way_from(track, side).path.was_lost(each.doubt, network)) continue;
    Incident like;
    like.connection = track.result.id;
    like.side = static_cast<std::uint8_t>(each.requester);
    const std::uint32_t number = incident_with(like, each.loss.by);
    if (number != 0 && each.loss.where == Lost::after_capture) incidents.at(number).turn_out_lost();
    const std::uint32_t place = track.places[side];
    Verdict* const verdict = shared.verdicts != nullptr ? shared.verdicts->at(each.loss.by) : nullptr;
    book_loss(each.loss, track.result, place == no_place ? nullptr : &flows.at(place), shared.series,
              verdict);
  }
  open_losses -= track.doubtful.size();
  track.doubtful = {};
}

/// The episode is over, or as long as may be: what is said of it is said now.
/// True if something was wrong.
bool Tracker::Impl::explain_episode(std::uint32_t connection) {
  if (tracks[connection].episode != nullptr) drop_strays(tracks[connection]);
  const std::unique_ptr<Episode> over = std::move(tracks[connection].episode);
  if (over == nullptr) return false;
  open_episodes.erase(over->first_frame);
  Track& track = tracks[connection];
  held -= std::min(held, over->held.size());
  put_delayed_in_place(over->held);
  put_trimmed_in_place(track, over->held);
  const episode::Scratch scratch;
  std::vector<episode::Ruling> rulings(over->held.size());
  std::array<EpisodeNotes, 2> notes;
  std::array<episode::Explanation, 2> said_of;
  for (unsigned requester = 0; requester < 2; ++requester) {
    if (over->side[requester].in_turn) continue;
    notes[requester] = notes_of(track, *over, requester);
    if (!notes[requester].of.empty()) mirror.learn(notes[requester].notes, facts_of(track, requester));
  }
  shared.budget.twice = mirror.fact().witnesses != 0;
  for (unsigned requester = 0; requester < 2; ++requester) {
    const EpisodeNotes& all = notes[requester];
    if (all.of.empty()) continue;
    PsnSpace* const space = track.spaces[requester].get();
    std::vector<const Held*> packets;
    for (const std::size_t i : all.of) packets.push_back(&over->held[i]);
    episode::Facts known = facts_of(track, requester);
    if (known.keeps == 0) known.keeps = known.there.keeps;
    episode::Facts facts = known;
    episode::Explanation& said = said_of[requester] = episode::explain(all.notes, facts);
    space->learn(facts);
    facts.there.counts_early = facts.there.counts_early || facts.counts_early;
    if (std::abs(facts.keeps) > 1) facts.there.keeps = facts.keeps > 0 ? 1 : -1;
    way_from(track, requester) = {facts.there, facts.clocks};
    way_from(track, requester ^ 1U).path = facts.back;
    network.late += facts.there.late - known.there.late;
    network.open += facts.there.open - known.there.open;
    for (std::size_t i = 0; i < all.of.size(); ++i) rulings[all.of[i]] = said.rulings[all.before + i];
    note_incidents(track, requester, all.notes, said, known, packets, over->held);
    note_losses(track, requester, all.notes, said);
  }
  for (std::size_t i = 0; i < over->held.size(); ++i) {
    const Held& packet = over->held[i];
    step_now(connection, packet.side, packet.record, packet.number, track.places[packet.side], rulings[i]);
  }
  for (unsigned requester = 0; requester < 2; ++requester) {
    if (PsnSpace* const space = tracks[connection].spaces[requester].get(); space != nullptr)
      note_missed(*space, notes[requester].notes, said_of[requester]);
  }
  leave_room(std::move(over->held));
  if (track.views != nullptr) settle_late(track);
  link(tracks[connection]);
  return std::any_of(rulings.begin(), rulings.end(), [](const episode::Ruling& each) {
    return each.what == episode::Ruling::What::repeat ||
           (each.lost_before | each.lost_or_missed | each.lost_after | each.lost_behind_one |
            each.missed_own | each.missed_other) != 0;
  });
}

/// For the packets of another episode, while there are any.
void Tracker::Impl::leave_room(std::vector<Held>&& room) {
  if (open_episodes.empty()) {
    spare_room = {};
    spare = 0;
  } else if (spare + room.capacity() <= spare_of_all) {
    spare += room.capacity();
    room.clear();
    spare_room.push_back(std::move(room));
  }
}

void Tracker::Impl::explain_oldest() {
  const std::uint32_t connection = open_episodes.begin()->second;
  open_episodes.erase(open_episodes.begin());
  explain_episode(connection);
}

void Tracker::decide_until(std::uint64_t frame) {
  while (!impl_->open_episodes.empty() && impl_->open_episodes.begin()->first <= frame)
    impl_->explain_oldest();
}

void Tracker::mirror_lost(std::uint64_t frame) {
  std::vector<std::uint64_t>& gaps = impl_->shared.mirror_gaps;
  if (gaps.size() < TrackerShared::mirror_gaps_at_most && (gaps.empty() || gaps.back() < frame))
    gaps.push_back(frame);
}

void Tracker::mirror_found(std::uint64_t frame) {
  std::vector<std::uint64_t>& gaps = impl_->shared.mirror_gaps;
  const auto gap = std::lower_bound(gaps.begin(), gaps.end(), frame);
  if (gap != gaps.end() && *gap == frame) gaps.erase(gap);
}

void Tracker::mirror_delayed(std::uint64_t frame, std::uint64_t before, std::uint32_t sequence) {
  std::vector<TrackerShared::Delayed>& delayed = impl_->shared.mirror_delayed;
  if (delayed.size() < TrackerShared::mirror_gaps_at_most &&
      (delayed.empty() || delayed.back().frame < frame))
    delayed.push_back({frame, before, sequence});
}

/// What came late by the numbers of the mirror, back to where the switch had it.
void Tracker::Impl::put_delayed_in_place(std::vector<Held>& packets) const {
  const std::vector<TrackerShared::Delayed>& delayed = shared.mirror_delayed;
  if (delayed.empty() || packets.size() < 2 || delayed.back().frame < packets.front().number) return;
  struct Place {
    std::uint64_t frame = 0;
    bool itself = true;
    std::uint32_t sequence = 0;
    std::size_t at = 0;
  };
  std::vector<Place> places(packets.size());
  bool any = false;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    const std::uint64_t number = packets[i].number;
    const auto found = std::lower_bound(
        delayed.begin(), delayed.end(), number,
        [](const TrackerShared::Delayed& each, std::uint64_t it) { return each.frame < it; });
    const bool late = found != delayed.end() && found->frame == number;
    places[i] = late ? Place{found->before, false, found->sequence, i} : Place{number, true, 0, i};
    any = any || late;
  }
  if (!any) return;
  std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    if (a.frame != b.frame) return a.frame < b.frame;
    if (a.itself != b.itself) return b.itself;
    return !a.itself && static_cast<std::int32_t>(a.sequence - b.sequence) < 0;
  });
  std::vector<Held> in_place;
  in_place.reserve(packets.size());
  for (const Place& each : places) in_place.push_back(packets[each.at]);
  for (std::size_t i = in_place.size() - 1; i-- > 0;)
    in_place[i].record.time_ns = std::min(in_place[i].record.time_ns, in_place[i + 1].record.time_ns);
  packets = std::move(in_place);
}

}  // namespace roce::analyze
