// SPDX-License-Identifier: Apache-2.0
// Both queue pair numbers of a connection in use again, without the CM and with PSNs that were used before:
// the responder's count of messages (MSN, IBTA 9.7.7.1) begins anew then, and never falls otherwise.
#include <algorithm>
#include <utility>
#include <vector>

#include "analyze/tracker/tracker_impl.hpp"

namespace roce::analyze {

std::uint32_t Restart::messages_of(unsigned side, std::uint32_t last_psn,
                                   const PsnSpace* beyond) const noexcept {
  const PacketRecord* const first = first_of(side);
  std::uint32_t messages = 0;
  for (std::size_t i = 0; first != nullptr && i < held.size(); ++i) {
    const PacketRecord& record = held[i].record;
    const dissect::OpcodeInfo& info = dissect::opcode_info(record.opcode);
    if (sides[i] != side || !info.request || !info.ends_message()) continue;
    if (dissect::serial_steps(first->psn, record.psn) > dissect::serial_steps(first->psn, last_psn)) continue;
    if (beyond == nullptr || !beyond->confirmed(record.psn)) ++messages;
  }
  return messages;
}

/// A request that may be the first of another use of the numbers waits for an answer, and those behind it
/// wait with it, of either side. True if this one does.
bool Tracker::Impl::awaits_answer(std::uint32_t connection, unsigned side, const PacketRecord& record,
                                  std::uint64_t number, Verdict& verdict) {
  Track& track = tracks[connection];
  if (track.views != nullptr || track.restart_known) return false;
  if (track.jump != nullptr && track.jump_side == side) return false;
  if (track.restart == nullptr) {
    track.restart = std::make_unique<Restart>();
    if (const std::unique_ptr<Held> far = std::move(track.jump)) {
      track.restart->add(*far, track.jump_side);
      ++held;
    }
    link(track);
  }
  if (track.restart->held.size() >= Restart::limit) {
    release_restart(connection);
    return false;
  }
  track.restart->add({record, number}, side);
  ++held;
  verdict.connection = track.result.id;
  verdict.set(Verdict::undecided);
  publish(number, verdict);
  return true;
}

/// Another connection begins with what waited.
void Tracker::Impl::begin_anew(std::uint32_t connection) {
  Track& track = tracks[connection];
  std::vector<Held> packets = std::move(track.restart->held);
  track.restart.reset();
  leave_to_another(track);
  replay(packets);
}

/// Whether this answer to what waits of that side is the first to another use of the numbers: the count of
/// messages goes on where they were sent again, and begins with them where they are the first.
bool Tracker::Impl::answers_anew(const Track& track, unsigned side, std::uint32_t first_psn,
                                 const PacketRecord& answer) {
  const Restart& restart = *track.restart;
  PsnSpace& space = *track.spaces[side];
  const std::uint32_t msn = answer.aeth & dissect::serial_mask;
  // A copy of an old answer counts less, too; but not from 1.
  if (space.counts_anew(answer)) return !space.begins_at(first_psn) || msn <= restart.held.size();
  if (msn != restart.messages_of(side, answer.psn, nullptr)) return false;
  const std::uint32_t gone_on = space.messages_counted() + restart.messages_of(side, answer.psn, &space);
  if (msn != (gone_on & dissect::serial_mask)) return true;
  // Both fit where the use before was as short: what is sent again has the opcodes that it had.
  for (std::size_t i = 0; i < restart.held.size(); ++i) {
    if (restart.sides[i] == side && space.differs(restart.held[i].record)) return true;
  }
  return false;
}

/// The answer tells. True if it was dealt with: it belongs to a connection that begins with what waited.
bool Tracker::Impl::restarted(std::uint32_t connection, unsigned side, const PacketRecord& record,
                              std::uint64_t number, Verdict& verdict) {
  Track& track = tracks[connection];
  const PacketRecord* const first = track.restart->first_of(side ^ 1U);
  if (first == nullptr) return false;
  const bool to_these = dissect::serial_steps(first->psn, record.psn) < 2 * Restart::limit;
  if (to_these && !record.has(PacketRecord::has_aeth))  // inside a READ: the count comes with its end
    return awaits_answer(connection, side, record, number, verdict);
  if (!to_these || !answers_anew(track, side ^ 1U, first->psn, record)) {
    release_restart(connection);
    return false;
  }
  begin_anew(connection);
  track_long(record, number, verdict);
  return true;
}

/// A request far off, while others of its side wait. If the first of these was far off too and it follows
/// that, they need no answer.
void Tracker::Impl::jumped_again(std::uint32_t connection, unsigned side, const PacketRecord& record,
                                 std::uint64_t number, Verdict& verdict) {
  const Track& track = tracks[connection];
  const PacketRecord& first = *track.restart->first_of(side);
  const bool follows =
      track.spaces[side]->far_off(first) && dissect::serial_steps(first.psn, record.psn) <= 4096;
  if (follows) {
    begin_anew(connection);
  } else {
    release_restart(connection);
  }
  track_long(record, number, verdict);
}

/// They were sent again. What is far off nobody answered or followed: a stray.
void Tracker::Impl::release_restart(std::uint32_t connection) {
  const std::unique_ptr<Restart> restart = std::move(tracks[connection].restart);
  if (restart == nullptr) return;
  link(tracks[connection]);
  held -= std::min(held, restart->held.size());
  tracks[connection].restart_known = true;
  for (std::size_t i = 0; i < restart->held.size(); ++i) {
    const Held& packet = restart->held[i];
    const unsigned side = restart->sides[i];
    const std::uint32_t place = tracks[connection].places[side];
    const bool request = dissect::opcode_info(packet.record.opcode).request;
    if (request && tracks[connection].spaces[side]->far_off(packet.record)) {
      count_stray(tracks[connection], place, packet);
    } else {
      step(connection, side, packet.record, packet.number, place);
    }
  }
  tracks[connection].restart_known = false;
}

void Tracker::Impl::release_held_back(std::uint32_t connection) {
  explain_episode(connection);
  release_restart(connection);
  release_far_answer(connection);
  explain_episode(connection);  // which they may have begun
}

}  // namespace roce::analyze
