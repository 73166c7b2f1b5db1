// SPDX-License-Identifier: Apache-2.0
// Both queue pair numbers of a connection in use again, without the CM: after a silence the packets wait as
// an episode until they tell whether they go on with what was before.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "analyze/episode/another_use.hpp"
#include "analyze/episode/thresholds.hpp"
#include "analyze/tracker/tracker_impl.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// A request that tells something: a CNP is none, nor is what is damaged.
bool Tracker::Impl::is_request_of(const Track& track, const Held& packet, unsigned side) const {
  return packet.side == side && dissect::opcode_info(packet.record.opcode).request &&
         tells_of(track, packet, side);
}

/// The first request of that side, from that packet of the episode on; null: there is none.
const PacketRecord* Tracker::Impl::first_request(const Track& track, unsigned of, std::size_t from) const {
  const std::vector<Held>& all = track.episode->held;
  for (std::size_t i = from; i < all.size(); ++i) {
    if (is_request_of(track, all[i], of)) return &all[i].record;
  }
  return nullptr;
}

/// When either side sent the last packet of those that do not wait; none: capture::no_time.
std::int64_t Tracker::Impl::last_packet_of(const Track& track) {
  std::int64_t last_ns = capture::no_time;  // before any other
  for (const DeepPtr<PsnSpace>& space : track.spaces) {
    if (space != nullptr) last_ns = std::max(last_ns, space->last_ns());
  }
  return last_ns;
}

/// Whether it can be an answer of a responder that counts anew, where `first` is the first request to it:
/// each message takes a PSN at least.
bool Tracker::Impl::may_answer(const PacketRecord& answer, const PacketRecord& first) {
  const std::uint32_t behind = dissect::serial_steps(first.psn, answer.psn);
  return behind <= episode::soon_psns &&
         (!answer.has(PacketRecord::has_aeth) || (answer.aeth & dissect::serial_mask) <= behind + 1);
}

/// Whether that answer of the episode is to no request of `side` that waited for one: to none that had come,
/// or to one that was confirmed before.
bool Tracker::Impl::answers_none(const Track& track, unsigned side, std::size_t at) {
  const std::vector<Held>& all = track.episode->held;
  const Episode::Side& own = track.episode->side[side];
  const PsnSpace& space = *track.spaces[side];
  const std::int64_t psn = space.extended(all[at].record.psn);
  if (psn < own.acked || psn >= own.top) return true;
  return std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(at), [&](const Held& before) {
    const PacketRecord& r = before.record;
    return before.side != side &&
           dissect::opcode_info(r.opcode).operation == dissect::Operation::acknowledge &&
           (r.aeth >> 29U & 3U) == 0 && space.extended(r.psn) >= psn && space.extended(r.psn) < own.top;
  });
}

/// Where in the episode the answers begin that end a silence and are to no request that had come: a host
/// hands over what it received before what it sent, or stamps it earlier. That request of `side` comes behind
/// them.
std::size_t Tracker::Impl::answers_before(const Track& track, unsigned side, const PacketRecord& record) {
  if (track.episode == nullptr) return 0;
  const std::vector<Held>& all = track.episode->held;
  if (track.spaces[side] == nullptr || record.time_ns == capture::no_time) return all.size();
  const auto near = [&](const PacketRecord& r) {
    return r.time_ns != capture::no_time && std::abs(r.time_ns - record.time_ns) <= episode::latest_stamp_ns;
  };
  bool answered = false;
  for (std::size_t i = all.size(); i-- > 0 && near(all[i].record) && all[i].side != side;) {
    const dissect::OpcodeInfo& info = dissect::opcode_info(all[i].record.opcode);
    if (info.operation != dissect::Operation::cnp) {
      if (!info.response || !may_answer(all[i].record, record) || !answers_none(track, side, i)) break;
      answered = true;
    }
    const std::int64_t last_ns = i == 0 ? last_packet_of(track) : all[i - 1].record.time_ns;
    if (answered && last_ns != capture::no_time &&
        all[i].record.time_ns - last_ns >= episode::soonest_reuse_ns)
      return i;
  }
  return all.size();
}

/// How long neither side had sent anything when that request came, but for what answers it already.
std::int64_t Tracker::Impl::silence_before(const Track& track, unsigned side, const PacketRecord& record) {
  std::int64_t last_ns = track.episode != nullptr ? track.episode->last_ns : last_packet_of(track);
  if (const std::size_t begins = answers_before(track, side, record);
      track.episode != nullptr && begins < track.episode->held.size())
    last_ns = begins == 0 ? last_packet_of(track) : track.episode->held[begins - 1].record.time_ns;
  return last_ns == capture::no_time || record.time_ns == capture::no_time ? 0 : record.time_ns - last_ns;
}

/// Whether that side has sent requests, of which all may wait in the episode.
bool Tracker::Impl::asked_before(const Track& track, unsigned side) {
  const PsnSpace* const space = track.spaces[side].get();
  if (space == nullptr) return false;
  return space->requests_seen() || (track.episode != nullptr && track.episode->side[side].known);
}

/// Whether the packet may be the first one of another use of the queue pairs' numbers.
bool Tracker::Impl::may_be_another_use(const Track& track, unsigned side, const PacketRecord& record) {
  if (!dissect::opcode_info(record.opcode).request) return false;
  if (track.episode != nullptr && track.episode->shown_again) return false;
  const PsnSpace* const space = track.spaces[side].get();
  const bool first = !asked_before(track, side);
  if (!first && space->far_off(record)) return true;
  const std::int64_t silent_ns = silence_before(track, side, record);
  if (silent_ns < episode::soonest_reuse_ns) return false;
  if (first) {
    const PsnSpace* const other = track.spaces[side ^ 1U].get();
    return other != nullptr && other->requests_seen();
  }
  const std::int64_t psn = space->extended(record.psn);
  if (track.episode == nullptr) return psn != space->sent_to();
  const Episode::Side& own = track.episode->side[side];
  return psn != own.top || (own.acked < own.top && silent_ns >= episode::setting_up_ns);
}

/// Of one that may be: where the other use would begin. It is about to join the episode.
void Tracker::Impl::note_beginning(Track& track, unsigned side, const PacketRecord& record) {
  Episode& open = *track.episode;
  const PsnSpace* const space = track.spaces[side].get();
  const std::int64_t silent_ns = silence_before(track, side, record);
  const bool after_all = std::all_of(open.side.begin(), open.side.end(),
                                     [](const Episode::Side& one) { return one.acked >= one.top; });
  const bool some = open.use != Episode::none;
  bool here = !some;
  if (asked_before(track, side)) {
    const PacketRecord* const before = some ? first_request(track, side, open.use) : nullptr;
    const bool far = space->far_off(record);
    if (before != nullptr && (far || space->far_off(*before))) {
      // Only what follows it shows that one far off is none that strayed here.
      here = dissect::serial_steps(before->psn, record.psn) > episode::soon_psns;
    } else if (before != nullptr) {
      here = space->extended(record.psn) < space->extended(before->psn);
    }
    // What was not confirmed may have been sent again before: in vain, for setting up takes longer than
    // timers, or until all was confirmed.
    here = here || (some && !far && !open.use_after_all && (after_all || silent_ns > open.use_silence_ns));
  }
  if (!here) return;
  drop_strays(track);
  open.use = answers_before(track, side, record);
  open.answers_since = 0;
  open.watch = {};
  open.use_silence_ns = silent_ns;
  open.use_after_all = after_all;
}

/// What the packets since then say of the requests of that side. Those that were asked before are not asked
/// again, unless one since then changes what the earlier ones mean.
episode::Use Tracker::Impl::use_of(const Track& track, Episode& open, unsigned requester) const {
  // What seemed damaged when it was held may be believed by now, and is of no sequence yet.
  if (track.spaces[requester] == nullptr) return episode::Use::unknown;
  DeepPtr<Episode::Watch>& watch = open.watch[requester];
  const PsnSpace& space = *track.spaces[requester];
  bool goes_on =
      watch != nullptr && watch->pmtu == pmtu_of(track, open) && watch->twice == shared.budget.twice;
  for (std::size_t i = goes_on ? watch->seen : 0; goes_on && i < open.held.size(); ++i) {
    const PacketRecord& record = open.held[i].record;
    goes_on = !record.damaged() && (!tells_of(track, open.held[i], requester) ||
                                    space.remembered_from(space.extended(record.psn)) >= watch->from);
  }
  episode::Use use = episode::Use::unknown;
  if (goes_on) {
    for (std::size_t& i = watch->seen; i < open.held.size() && use == episode::Use::unknown; ++i) {
      const Held& packet = open.held[i];
      const dissect::OpcodeInfo& info = dissect::opcode_info(packet.record.opcode);
      if (tells_of(track, packet, requester))
        use = watch->told.take(space.note_of(packet.record, packet.number, info, watch->pmtu));
    }
    return use;
  }
  const episode::Scratch scratch;
  const EpisodeNotes all = notes_of(track, open, requester);
  const auto begins = std::lower_bound(all.of.begin(), all.of.end(), open.use) - all.of.begin();
  const std::size_t before = all.before + static_cast<std::size_t>(begins);
  const std::span<const episode::Note> notes(all.notes);
  episode::AnotherUse told(notes.first(before), space.facts_now());
  for (std::size_t i = before; i < notes.size() && use == episode::Use::unknown; ++i)
    use = told.take(notes[i]);
  const bool damaged =
      std::any_of(open.held.begin(), open.held.end(), [](const Held& each) { return each.record.damaged(); });
  if (damaged) {  // which may turn out to be by the capture
    watch = nullptr;
  } else {
    watch = std::make_unique<Episode::Watch>(
        Episode::Watch{std::move(told), open.held.size(), all.pmtu, all.from, shared.budget.twice});
  }
  return use;
}

/// True if the packets of the episode show that another use of the numbers began: then it was dealt with, and
/// they belong to a connection of their own.
bool Tracker::Impl::used_again(std::uint32_t connection) {
  Track& track = tracks[connection];
  Episode& open = *track.episode;
  if (open.use == Episode::none) return false;
  // Nearly always the first answer tells. What is sent again otherwise than before tells as well.
  constexpr std::uint32_t many = 64;
  const bool counts = open.held.back().record.has(PacketRecord::has_aeth);
  if (counts ? ++open.answers_since > many && open.answers_since % many != 0
             : open.held.size() - open.use > many)
    return false;
  bool same = false;
  bool another = false;
  for (unsigned requester = 0; requester < 2 && !another; ++requester) {
    if (open.watch[requester] == nullptr && first_request(track, requester, open.use) == nullptr) continue;
    const episode::Use use = use_of(track, open, requester);
    another = use == episode::Use::another;
    open.shown_again = open.shown_again || use == episode::Use::shown_again;
    same = same || use == episode::Use::same || open.shown_again;
  }
  if (!another) {
    if (same) drop_strays(track);
    return false;
  }
  std::vector<Held> packets(
      std::make_move_iterator(open.held.begin() + static_cast<std::ptrdiff_t>(open.use)),
      std::make_move_iterator(open.held.end()));
  open.held.resize(open.use);
  open.use = Episode::none;
  explain_episode(connection);
  leave_to_another(tracks[connection]);
  replay(packets);
  return true;
}

/// The use of the numbers goes on: what is far off nobody answered or followed, so it strayed here.
void Tracker::Impl::drop_strays(Track& track) {
  Episode& open = *track.episode;
  const std::size_t from = std::exchange(open.use, Episode::none);
  for (std::size_t i = from; i < open.held.size();) {
    const PacketRecord& record = open.held[i].record;
    const unsigned side = open.held[i].side;
    const PsnSpace* const space = track.spaces[side].get();
    if (!is_request_of(track, open.held[i], side) || space == nullptr || !space->far_off(record)) {
      ++i;
      continue;
    }
    count_stray(track, track.places[side], open.held[i]);
    open.held.erase(open.held.begin() + static_cast<std::ptrdiff_t>(i));
    --held;
  }
}

void Tracker::Impl::release_held_back(std::uint32_t connection) {
  explain_episode(connection);
  release_far_answer(connection);
  explain_episode(connection);  // which they may have begun
}

}  // namespace roce::analyze
