// SPDX-License-Identifier: Apache-2.0
// The pieces that both ways through a PsnSpace are made of, and the short way itself: what happens to
// nearly every packet, inlined where it is used. Internal to the tracker.
#pragma once

#include <algorithm>

#include "analyze/transport/psn_space.hpp"

namespace roce::analyze {

using dissect::serial_mask;

/// Whether an MSN is not before the last one.
[[nodiscard]] inline bool rose(std::uint32_t msn, std::uint32_t before) noexcept {
  return dissect::serial_distance(before, msn) >= 0;
}

/// A hash of what a request carries or asks for: its length, and the RETH. What is sent again has the same
/// (IBTA 9.7.5.1.1). Of an answer with data, its length and the AETH: a copy has the same, but what is
/// answered again need not. 0: not known.
[[nodiscard]] inline std::uint16_t content_of(const PacketBrief& r) noexcept {
  if (!r.has(PacketRecord::payload_whole) || r.icrc >= PacketRecord::trimmed_away) return 0;
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  const bool remote = info.remote_offset != dissect::OpcodeInfo::absent;
  if (remote && !r.has(PacketRecord::has_reth)) return 0;  // an ATOMIC, or cut off by the capture
  std::uint64_t h = r.payload;
  if (r.has(PacketRecord::has_aeth)) h = (h ^ r.aeth) * 0xff51afd7ed558ccdU;
  if (r.has(PacketRecord::has_reth))
    h = (h ^ r.virtual_address) * 0xff51afd7ed558ccdU + (std::uint64_t{r.r_key} << 32U | r.dma_length);
  return static_cast<std::uint16_t>(h * 0x9e3779b97f4a7c15U >> 48U | 1U);
}

/// Writes down a transmission.
inline void see(Seen& seen, const PacketBrief& r, std::uint64_t number, std::int64_t psn) noexcept {
  seen.psn = psn;
  seen.time_ns = r.time_ns;
  seen.frame = number & Seen::last_frame;
  seen.content = content_of(r);
  seen.path = r.path;
  seen.ip_id = r.ip_id;
  seen.opcode = r.opcode;
  seen.cause = seen.late = seen.trimmed = 0;
  seen.ask = r.has(PacketRecord::ack_requested) ? 1 : 0;
}

inline std::int64_t PsnSpace::needed_from(std::int64_t psn, const RingBudget& budget) const noexcept {
  std::int64_t unconfirmed =
      resp_.acked_known ? resp_.acked : psn - (budget.scarce() ? 64 : asked_again_within);
  if (answer_facts_.data && !budget.scarce()) unconfirmed = std::min(unconfirmed, psn - asked_again_within);
  const bool doubled = request_facts_.doubled > 0 || budget.twice;
  return doubled ? std::min(unconfirmed, psn - shown_again_within(budget)) : unconfirmed;
}

inline std::int64_t PsnSpace::answers_needed_from(std::int64_t psn, const RingBudget& budget) const noexcept {
  const int kept = answer_facts_.data ? asked_again_within : 31;
  const bool doubled = (answer_facts_.doubled | request_facts_.doubled) != 0 || budget.twice;
  return psn - (doubled ? shown_again_within(budget) : budget.scarce() ? 7 : kept);
}

inline void PsnSpace::note_idle(const PacketBrief& r) noexcept {
  // Unsigned: of packets without a time, and in the wrong order, it is more than any time between two others.
  const std::uint64_t idle =
      static_cast<std::uint64_t>(r.time_ns) - static_cast<std::uint64_t>(last_packet_ns_);
  if (idle <= idle_ns_) [[likely]]
    return;
  if (last_packet_ns_ == 0 || last_packet_ns_ == capture::no_time || r.time_ns <= last_packet_ns_) return;
  idle_ns_ = idle;
  idle_from_frame_ = last_packet_;
}

inline void PsnSpace::note_in_flight(Verdict& verdict) noexcept {
  if (!resp_.acked_known || req_.next < resp_.acked) return;
  verdict.in_flight = static_cast<std::uint32_t>(std::min<std::int64_t>(req_.next - resp_.acked, 0xffffff));
  verdict.set(Verdict::in_flight_known);
}

inline void PsnSpace::note_answer_time(const PacketBrief& r, std::int64_t since, bool sure,
                                       Verdict& verdict) noexcept {
  if (r.time_ns == capture::no_time || since == capture::no_time || r.time_ns < since) return;
  const std::int64_t took = r.time_ns - since;
  verdict.response_time_ns = took;
  verdict.set(Verdict::response_time_known);
  if (sure && took > 0 && (resp_.fast_ns == 0 || took < resp_.fast_ns)) resp_.fast_ns = took;
  constexpr std::int64_t longest_ns = 1'000'000'000;
  resp_.slow_ns = std::min(std::max(took, resp_.slow_ns - (resp_.slow_ns >> 6U)), longest_ns);
}

inline void PsnSpace::note_request_time(const PacketBrief& r, std::uint64_t number,
                                        Verdict& verdict) noexcept {
  req_.last_ns = last_packet_ns_ = r.time_ns;
  last_packet_ = number;
  note_in_flight(verdict);
  req_.in_flight_max = std::max(req_.in_flight_max, verdict.in_flight);
}

inline bool PsnSpace::next_request(const PacketBrief& r, std::uint64_t number, const Connection& connection,
                                   TrackerShared& shared, Verdict& verdict) {
  using dissect::Operation;
  if (!req_.seen || req_.cursor != req_.next || !messages_.known() || r.time_ns < last_packet_ns_)
    return false;
  if ((static_cast<std::uint32_t>(req_.next) & serial_mask) != r.psn) return false;
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  const OperationKind kind = info.operation == Operation::write ? OperationKind::write : OperationKind::send;
  if (info.starts_message() == messages_.inside() || request_facts_.is_behind(r)) return false;
  const bool only = info.position == dissect::Position::only;
  if (!(only ? Messages::plain_message(r, kind, connection) : messages_.plain_part(r, info, connection)))
    return false;

  ++req_.packets;
  ++req_.firsts;
  note_idle(r);
  req_.new_since_pass = true;
  request_facts_.learn(r);
  const std::int64_t psn = req_.next++;
  req_.cursor = req_.next;
  see(sent_.slot_for(psn, needed_from(psn, shared.budget), shared.budget), r, number, psn);
  messages_.add_plain(r, info, psn, number);
  req_.new_bytes += r.payload;
  note_request_time(r, number, verdict);
  return true;
}

inline bool PsnSpace::next_ack(const PacketBrief& r, std::uint64_t number, TrackerShared& shared,
                               Verdict& verdict) {
  if (!resp_.seen || !req_.seen || !resp_.acked_known || !resp_.msn_known) return false;
  if (r.time_ns < last_packet_ns_) return false;
  if (chains_.open() || rnr_in_a_row_ != 0 || !gaps_.empty()) return false;
  const std::int64_t psn = place(r.psn);
  if (psn < resp_.acked || psn >= req_.next || (awaits() && first_awaited().next <= psn)) return false;
  const std::uint32_t msn = r.aeth & serial_mask;
  if (!rose(msn, resp_.msn)) return false;
  const Seen* request = sent_.find(psn);
  if (request == nullptr || answers_.find(psn) != nullptr || sent_earlier(answer_facts_, r)) return false;

  answer_facts_.learn(r);
  see(answers_.slot_for(psn, answers_needed_from(psn, shared.budget), shared.budget), r, number, psn);
  verdict.request = static_cast<std::uint32_t>(request->frame);
  note_answer_time(r, request->time_ns, request->only_one(), verdict);
  if (shared.verdicts != nullptr) link_request(shared, request->frame, number);
  last_packet_ns_ = resp_.last_ns = r.time_ns;
  last_packet_ = number;
  ++resp_.acks;
  ++resp_.fitting;
  resp_.msn = msn;
  resp_.acked = psn + 1;
  messages_.complete_acknowledged(r, true, resp_.acked, response_gaps_);
  return true;
}

}  // namespace roce::analyze
