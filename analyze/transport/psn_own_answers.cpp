// SPDX-License-Identifier: Apache-2.0
// The short way of READs and atomics, whose answers have PSNs of their own (IBTA 9.7.5.1.3).
#include <algorithm>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;

bool PsnSpace::next_own_request(const PacketBrief& r, std::uint64_t number, const Connection& connection,
                                TrackerShared& shared, Verdict& verdict) {
  if (!req_.seen || req_.cursor != req_.next || !messages_.known() || messages_.inside()) return false;
  if (r.time_ns < last_packet_ns_ || request_facts_.is_behind(r) || messages_.open_end()) return false;
  if ((static_cast<std::uint32_t>(req_.next) & serial_mask) != r.psn) return false;
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  const std::int64_t count =
      info.operation == Operation::read_request ? read_packets(r, connection) : std::int64_t{1};
  if (count == 0) return false;

  ++req_.packets;
  if (carries_psn(info)) ++req_.firsts;
  note_idle(r);
  req_.new_since_pass = true;
  request_facts_.learn(r);
  const std::int64_t psn = req_.next;
  see(sent_.slot_for(psn, needed_from(psn, shared.budget), shared.budget), r, number, psn);
  req_.next = req_.cursor = psn + count;
  messages_.add_own(r, info, psn, count, number);
  await(psn, count);
  note_request_time(r, number, verdict);
  return true;
}

bool PsnSpace::next_own_answer(const PacketBrief& r, std::uint64_t number, const Connection& connection,
                               TrackerShared& shared, Verdict& verdict) {
  if (!resp_.seen || !req_.seen || !resp_.acked_known || !resp_.msn_known || resp_.answered < 0) return false;
  if (r.time_ns < last_packet_ns_ || sent_earlier(answer_facts_, r)) return false;
  if (chains_.open() || rnr_in_a_row_ != 0 || !gaps_.empty() || !response_gaps_.empty()) return false;
  const std::int64_t psn = place(r.psn);
  if (!awaits() || first_awaited().next != psn || first_awaited().open_end || psn >= req_.next) return false;
  Pending* const op = messages_.find(psn);
  if (op == nullptr || op->done || op->retried || op->open_end || op->broken) return false;
  const dissect::OpcodeInfo& info = dissect::opcode_info(r.opcode);
  const bool response = info.operation == Operation::read_response;
  if (op->kind != (response ? OperationKind::read : OperationKind::atomic)) return false;
  // Nothing to learn from it, nor to say.
  const bool cut_off = info.ends_message() && !r.has(PacketRecord::has_aeth);
  if (cut_off || r.payload > pmtu_at_least_ ||
      r.payload > std::max(connection.pmtu, std::uint32_t{every_pmtu}))
    return false;
  if (info.ends_message() != (psn == op->last) || info.starts_message() != (psn == op->first)) return false;
  const std::uint32_t msn = r.aeth & serial_mask;
  const bool counts = r.has(PacketRecord::has_aeth);
  if (counts && psn >= resp_.acked && !rose(msn, resp_.msn)) return false;
  const Seen* const request = sent_.find(psn);
  if ((request == nullptr) != (psn != op->first) || (request != nullptr && request->cause != 0)) return false;

  if (counts && request != nullptr && psn == resp_.acked) resp_.learn_counting(msn);
  last_packet_ns_ = resp_.last_ns = r.time_ns;
  last_packet_ = number;
  answer_facts_.learn(r);
  answer_facts_.data = true;
  verdict.request = static_cast<std::uint32_t>(request != nullptr ? request->frame : op->frame);
  note_answer_time(r, request != nullptr ? request->time_ns : op->start_ns,
                   request == nullptr || request->only_one(), verdict);
  if (shared.verdicts != nullptr) link_request(shared, verdict.request, number);
  Awaited& awaited = first_awaited();
  awaited.next = psn + 1;
  if (awaited.next >= awaited.end) ++awaited_head_;
  resp_.answered = std::max(resp_.answered, psn + 1);
  const std::int64_t kept =
      response ? responses_needed_from(psn, shared.budget) : answers_needed_from(psn, shared.budget);
  see(answers_.slot_for(psn, kept, shared.budget), r, number, psn);
  if (psn >= resp_.acked) ++resp_.fitting;
  ++(response ? resp_.firsts : resp_.acks);
  req_.new_bytes += response ? r.payload : 0;
  if (counts && rose(msn, resp_.msn)) resp_.msn = msn;
  if (psn == op->last) messages_.complete(r, true, *op, true);
  if (psn < resp_.acked) return true;
  resp_.acked = psn + 1;
  messages_.complete_acknowledged(r, true, resp_.acked, response_gaps_);
  return true;
}

}  // namespace roce::analyze
