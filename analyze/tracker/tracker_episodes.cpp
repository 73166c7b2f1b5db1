// SPDX-License-Identifier: Apache-2.0
// Episodes: the packets of a connection wait from the first one that is not as it should be until requester
// and responder agree again; then all of them are explained together, and booked.
#include <algorithm>
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
  const auto asked = std::find_if(awaited.begin(), awaited.end(), [psn](const auto& range) {
    return range.first <= psn && psn < range.second;
  });
  if (asked == awaited.end()) return false;
  for (auto before = awaited.begin(); before != asked; ++before)
    misses(before->first, std::min(before->second, psn));
  misses(asked->first, psn);
  asked->first = psn + 1;
  awaited.erase(awaited.begin(), asked->first == asked->second ? std::next(asked) : asked);
  return true;
}

/// Whether the packet, of a connection in an episode, may be the first of another use of the queue pairs.
bool Tracker::Impl::may_be_another_use(const Track& track, unsigned side, const PacketRecord& record) const {
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  const DeepPtr<PsnSpace>& space = track.spaces[side];
  if (!info.request || !info.starts_message() || space == nullptr) return false;
  const Episode& open = *track.episode;
  if (space->far_off(record)) return true;
  if (record.time_ns == capture::no_time || open.last_ns == capture::no_time) return false;
  constexpr std::int64_t soon_ns = 100'000;
  constexpr std::int64_t setting_up_ns = 10'000'000;
  const std::int64_t quiet = record.time_ns - open.last_ns;
  if (quiet < soon_ns || open.asked()) return false;
  const std::int64_t psn = space->extended(record.psn);
  const Episode::Side& own = open.side[side];
  // What asks for a response that is missing goes on with what there was.
  if (std::any_of(own.missing.begin(), own.missing.end(),
                  [psn](const auto& range) { return range.first <= psn && psn < range.second; }))
    return false;
  constexpr std::int64_t no_loss = 256;  // so many are not lost in a row
  // Long after the timer would have sent it once more.
  const bool gave_up = open.longest_quiet_ns >= setting_up_ns && quiet / 4 > open.longest_quiet_ns;
  if (psn >= own.acked) return gave_up || (psn > own.top + no_loss && quiet >= setting_up_ns);
  return space->begins_at(record.psn) || quiet >= setting_up_ns;
}

void Tracker::Impl::open_episode(Track& track) {
  track.episode = std::make_unique<Episode>();
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
                               track.spaces[of]->awaited()};
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
  track.episode->held.push_back({record, number});
  track.episode->sides.push_back(static_cast<std::uint8_t>(side));
  Episode& open = *track.episode;
  if (record.time_ns != capture::no_time && open.last_ns != capture::no_time)
    open.longest_quiet_ns = std::max(open.longest_quiet_ns, record.time_ns - open.last_ns);
  open.last_ns = record.time_ns;
  ++held;
}

/// True if the packet waits with others, or is the first to wait.
bool Tracker::Impl::waits_for_explanation(std::uint32_t connection, unsigned side, const PacketRecord& record,
                                          std::uint64_t number, Verdict& verdict) {
  Track& track = tracks[connection];
  const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
  if (!info.defined || !(info.request || info.response)) return false;
  if (info.service != Service::rc && info.service != Service::xrc && info.service != Service::uc)
    return false;
  const unsigned requester = info.response ? side ^ 1U : side;
  if (track.episode == nullptr) {
    // A capture that begins with a NAK: what it asks for had been sent.
    const auto& space = track.spaces[requester];
    const unsigned kind = record.aeth >> 29U & 3U;
    const bool asks =
        info.operation == Operation::acknowledge && record.has(PacketRecord::has_aeth) && kind != 0;
    const bool first =
        asks && (space == nullptr || !space->requests_seen()) && track.places[requester] != no_place;
    if (!first && (space == nullptr || space->is_steady(record, info))) return false;
    open_episode(track);
  }
  if (track.spaces[requester] == nullptr) track.spaces[requester] = std::make_unique<PsnSpace>(requester);
  note_in_episode(track, side, record, number);
  hold_in_episode(track, side, record, number, verdict);
  const Episode& open = *track.episode;
  const bool settled = std::all_of(open.side.begin(), open.side.end(),
                                   [](const Episode::Side& one) { return one.acked >= one.marker; });
  const bool complete = std::all_of(open.side.begin(), open.side.end(), [](const Episode::Side& one) {
    return one.missing.empty() && !one.asked;
  });
  const bool calm = settled && open.calm >= (complete ? calm_packets : patient_packets);
  if (open.held.size() == 1) open_episodes.emplace(number, connection);
  if (calm || open.held.size() >= Episode::limit) explain_episode(connection);
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
  if (!own.known) own = {note.psn, note.psn, note.psn, note.psn, true, {}, false, note.psn, false, {}};
  bool calm = true;
  if (info.request) {
    calm = note.psn == own.top;
    // What goes on in a pass that was under way is no reaction to a NAK.
    if (note.psn < own.next) own.asked = false;
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
    own.answered = std::max(own.answered, note.psn + 1);
    own.acked = std::max(own.acked, note.psn + (info.ends_message() ? 1 : 0));
  } else {
    calm = note.has_aeth && (note.aeth >> 29U & 3U) == 0 && note.psn < own.top;
    if (!calm && note.has_aeth) own.asked = true;
    if (note.psn < own.top) own.acked = std::max(own.acked, note.psn + (calm ? 1 : 0));
  }
  open.calm = calm ? open.calm + 1 : 0;
  if (!calm) own.marker = own.top;
}

/// The episode is over, or as long as may be: what is said of it is said now.
/// True if something was wrong.
bool Tracker::Impl::explain_episode(std::uint32_t connection) {
  const std::unique_ptr<Episode> over = std::move(tracks[connection].episode);
  if (over == nullptr) return false;
  open_episodes.erase(over->held.front().number);
  Track& track = tracks[connection];
  held -= std::min(held, over->held.size());
  const auto requester_of = [&](std::size_t i) {
    const bool response = dissect::opcode_info(over->held[i].record.opcode).response;
    return static_cast<unsigned>(over->sides[i]) ^ (response ? 1U : 0U);
  };
  std::uint32_t pmtu = track.result.pmtu;
  for (std::size_t i = 0; pmtu == 0 && i < over->held.size(); ++i) {
    const PacketRecord& record = over->held[i].record;
    const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
    const bool full = info.position == dissect::Position::first || info.position == dissect::Position::middle;
    if (full && record.payload >= 256 && (record.payload & (record.payload - 1)) == 0) pmtu = record.payload;
  }
  std::vector<episode::Ruling> rulings(over->held.size());
  for (unsigned requester = 0; requester < 2; ++requester) {
    PsnSpace* const space = track.spaces[requester].get();
    if (space == nullptr) continue;
    std::vector<episode::Note> notes;
    space->recall(notes, pmtu);
    const std::size_t before = notes.size();
    std::vector<std::size_t> of;
    std::vector<const Held*> packets;
    for (std::size_t i = 0; i < over->held.size(); ++i) {
      const Held& packet = over->held[i];
      if (requester_of(i) != requester || !believed(track.places[over->sides[i]], packet.record)) continue;
      notes.push_back(
          space->note_of(packet.record, packet.number, dissect::opcode_info(packet.record.opcode), pmtu));
      of.push_back(i);
      packets.push_back(&packet);
    }
    if (of.empty()) continue;
    episode::Facts known = space->facts_now();
    // A NAK would be in the capture, although no answer came so far.
    known.answers_captured =
        known.answers_captured || (!space->answers_seen() && track.places[requester ^ 1U] != no_place);
    if (const PsnSpace* const other = track.spaces[requester ^ 1U].get(); other != nullptr)
      known.clocks.meet_opposite(other->facts_now().clocks);
    known.repeats = track.result.service != Service::uc;
    episode::Facts facts = known;
    const episode::Explanation said = episode::explain(notes, facts);
    space->learn(facts);
    for (std::size_t i = 0; i < of.size(); ++i) rulings[of[i]] = said.rulings[before + i];
    note_incidents(track, requester, notes, said, known, packets);
  }
  for (std::size_t i = 0; i < over->held.size(); ++i) {
    const Held& packet = over->held[i];
    const unsigned side = over->sides[i];
    step_now(connection, side, packet.record, packet.number, track.places[side], rulings[i]);
  }
  if (track.views != nullptr) settle_late(track);
  link(tracks[connection]);
  return std::any_of(rulings.begin(), rulings.end(), [](const episode::Ruling& each) {
    return each.what == episode::Ruling::What::repeat ||
           (each.lost_before | each.lost_after | each.missed_own | each.missed_other) != 0;
  });
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

}  // namespace roce::analyze
