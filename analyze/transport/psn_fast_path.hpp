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

inline std::int64_t PsnSpace::needed_from(std::int64_t psn, const RingBudget& budget) const noexcept {
  constexpr std::int64_t other_view = 4096;
  std::int64_t unconfirmed = acked_known_ ? acked_ : psn - 64;
  if (answer_facts_.data != 0 && !budget.scarce())
    unconfirmed = std::min(unconfirmed, psn - asked_again_within);
  return request_facts_.doubled > 0 ? std::min(unconfirmed, psn - other_view) : unconfirmed;
}

inline std::int64_t PsnSpace::answers_needed_from(std::int64_t psn, const RingBudget& budget) const noexcept {
  const int kept = answer_facts_.data != 0 ? asked_again_within : 31;
  const bool doubled = (answer_facts_.doubled | request_facts_.doubled) != 0;
  return psn - (doubled ? 4096 : budget.scarce() ? 7 : kept);
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
  if (!acked_known_ || next_ < acked_) return;
  verdict.in_flight = static_cast<std::uint32_t>(std::min<std::int64_t>(next_ - acked_, 0xffffff));
  verdict.set(Verdict::in_flight_known);
}

inline Pending& PsnSpace::start_message(const PacketBrief& r, OperationKind kind, std::int64_t psn,
                                        std::uint64_t number) {
  return pending_.add({.first = psn,
                       .last = -1,
                       .start_ns = r.time_ns,
                       .frame = number,
                       .virtual_address = r.virtual_address,
                       .r_key = r.r_key,
                       .length = r.dma_length,
                       .bytes = 0,
                       .packets = 0,
                       .opcode = r.opcode,
                       .kind = kind,
                       .has_reth = r.has(PacketBrief::has_reth),
                       .retried = false,
                       .broken = false,
                       .open_end = false,
                       .done = false,
                       .ended = false});
}

/// The whole request was sent.
inline void PsnSpace::finish_message(const Pending& op) {
  OperationStats& kind = stats_of(op.kind);
  ++kind.count;
  kind.bytes += op.bytes;
  kind.packets += op.packets;
  kind.size_bytes.add(op.bytes);
}

inline void PsnSpace::complete(const PacketBrief& r, bool counts, Pending& op, bool measured) {
  op.done = true;
  if (op.kind > OperationKind::write) {
    keep_answered(r, counts, op, measured);
    return;
  }
  if (!counts || (!op.retried && (!measured || op.broken))) return;
  OperationStats& kind = stats_of(op.kind);
  if (op.retried) ++kind.retried;
  const bool timed = r.time_ns != capture::no_time && op.start_ns != capture::no_time;
  if (measured && !op.broken && timed && r.time_ns >= op.start_ns) {
    kind.latency_ns.add(static_cast<std::uint64_t>(r.time_ns - op.start_ns));
  }
}

/// The messages before acked_.
inline void PsnSpace::complete_acknowledged(const PacketBrief& r, bool counts) {
  while (!pending_.empty()) {
    const Pending& op = pending_.front();
    if (op.last < 0 || op.last >= acked_) {
      if (op.done) pop_done();
      return;
    }
    if (!op.plain() || !counts || op.start_ns < 0 || r.time_ns < op.start_ns) {
      complete_rest(r, counts);
      return;
    }
    stats_of(op.kind).latency_ns.add(static_cast<std::uint64_t>(r.time_ns - op.start_ns));
    pending_.pop_front();
  }
}

inline void PsnSpace::note_answer_time(const PacketBrief& r, std::int64_t since, bool sure,
                                       Verdict& verdict) noexcept {
  if (r.time_ns == capture::no_time || since == capture::no_time || r.time_ns < since) return;
  const std::int64_t took = r.time_ns - since;
  verdict.response_time_ns = took;
  verdict.set(Verdict::response_time_known);
  if (sure && took > 0 && (fast_answer_ns_ == 0 || took < fast_answer_ns_)) fast_answer_ns_ = took;
  constexpr std::int64_t longest_ns = 1'000'000'000;
  slow_answer_ns_ = std::min(std::max(took, slow_answer_ns_ - (slow_answer_ns_ >> 6U)), longest_ns);
}

/// Whether the lengths of a message of one packet leave nothing to learn and nothing to say.
inline bool PsnSpace::plain_message(const PacketBrief& r, OperationKind kind,
                                    const Connection& connection) noexcept {
  if (r.payload > every_pmtu && connection.pmtu_by_cm && r.payload > connection.pmtu) return false;
  return kind != OperationKind::write || !r.has(PacketBrief::has_reth) || r.dma_length == r.payload;
}

/// The same of a packet of a longer one.
inline bool PsnSpace::plain_part(const PacketBrief& r, const dissect::OpcodeInfo& info,
                                 const Connection& connection) noexcept {
  const bool ends = info.ends_message();
  if (connection.pmtu == 0) return false;
  if (ends ? r.payload == 0 || r.payload > connection.pmtu : r.payload != connection.pmtu) return false;
  if (info.starts_message()) return true;
  if (message_operation_ != info.operation || pending_.empty()) return false;
  const Pending& op = pending_.back();
  if (op.last >= 0 || op.broken) return false;
  return !ends || info.operation != dissect::Operation::write || !op.has_reth ||
         std::uint64_t{op.bytes} + r.payload == op.length;
}

/// Counts a message of one packet.
inline void PsnSpace::add_message(const PacketBrief& r, OperationKind kind, std::int64_t psn,
                                  std::uint64_t number) {
  Pending& op = start_message(r, kind, psn, number);
  op.last = psn;
  op.bytes = r.payload;
  op.packets = 1;
  if (r.payload != alike_bytes_ || kind != alike_kind_ || alike_ == 0xffffffff) {
    settle_alike();
    alike_bytes_ = r.payload;
    alike_kind_ = kind;
  }
  ++alike_;
}

/// Counts a packet of a longer one.
inline void PsnSpace::add_part(const PacketBrief& r, const dissect::OpcodeInfo& info, OperationKind kind,
                               std::int64_t psn, std::uint64_t number) {
  Pending& op = info.starts_message() ? start_message(r, kind, psn, number) : pending_.back();
  op.add_packet(r.payload);
  if (!info.ends_message()) return;
  op.last = psn;
  finish_message(op);
}

inline bool PsnSpace::next_request(const PacketBrief& r, std::uint64_t number, const Connection& connection,
                                   TrackerShared& shared, Verdict& verdict) {
  using dissect::Operation;
  if (!requests_seen_ || in_run_ || chain_open_ || !message_known_ || r.time_ns < last_packet_ns_)
    return false;
  if ((static_cast<std::uint32_t>(next_) & serial_mask) != r.psn) return false;
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  const bool only = info.position == dissect::Position::only;
  const Operation operation = info.operation;
  const OperationKind kind = operation == Operation::write ? OperationKind::write : OperationKind::send;
  if (info.starts_message() == inside_message_ || request_facts_.is_behind(r)) return false;
  if (!(only ? plain_message(r, kind, connection) : plain_part(r, info, connection))) return false;

  ++requests_;
  note_idle(r);
  new_since_run_ = true;
  request_facts_.learn(r);
  const std::int64_t psn = next_++;
  if (taken_ == psn) taken_ = next_;
  see(sent_.slot_for(psn, needed_from(psn, shared.budget), shared.budget), r, number, psn);
  if (only) {
    add_message(r, kind, psn, number);
    inside_message_ = false;
  } else {
    add_part(r, info, kind, psn, number);
    inside_message_ = !info.ends_message();
  }
  pop_done();
  message_operation_ = operation;
  new_bytes_ += r.payload;
  last_request_ns_ = last_packet_ns_ = r.time_ns;
  last_packet_ = number;
  note_in_flight(verdict);
  in_flight_max_ = std::max(in_flight_max_, verdict.in_flight);
  return true;
}

inline bool PsnSpace::next_ack(const PacketBrief& r, std::uint64_t number, TrackerShared& shared,
                               Verdict& verdict) {
  if (!answers_seen_ || !requests_seen_ || !acked_known_ || !msn_known_) return false;
  if (r.time_ns < last_packet_ns_) return false;
  if (loss_pending_ || chain_open_ || rnr_in_a_row_ != 0 || issued_head_ != issued_.size()) return false;
  const std::int64_t psn = place(r.psn);
  if (psn < acked_ || psn >= next_ || !holes_.empty()) return false;
  const std::uint32_t msn = r.aeth & serial_mask;
  if (!rose(msn, last_msn_)) return false;
  const Seen* request = sent_.find(psn);
  if (request == nullptr || answers_.find(psn) != nullptr || sent_earlier(answer_facts_, r)) return false;

  answer_facts_.learn(r);
  see(answers_.slot_for(psn, answers_needed_from(psn, shared.budget), shared.budget), r, number, psn);
  verdict.request = static_cast<std::uint32_t>(request->frame);
  note_answer_time(r, request->time_ns, request->late == 0 && request->cause == 0, verdict);
  if (shared.verdicts != nullptr) link_request(shared, request->frame, number);
  last_packet_ns_ = last_answer_ns_ = r.time_ns;
  last_packet_ = number;
  ++acks_;
  ++answered_;
  last_msn_ = msn;
  acked_ = psn + 1;
  if (taken_ < acked_) take_confirmed();
  complete_acknowledged(r, true);
  return true;
}

}  // namespace roce::analyze
