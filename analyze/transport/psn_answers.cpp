// SPDX-License-Identifier: Apache-2.0
// The responder's packets: what they confirm, ask for again and refuse (IBTA 9.7.5.1, 9.7.5.2, 9.9.2, 9.9.3).
#include <algorithm>
#include <array>

#include "analyze/transport/psn_fast_path.hpp"
#include "dissect/aeth.hpp"

namespace roce::analyze {

using dissect::Operation;
using episode::Ruling;

namespace {

/// Codes of NAKs in the AETH (IBTA table 58).
enum NakCode : unsigned { sequence_error = 0, last_nak_code = 4 };

}  // namespace

void PsnSpace::answer(Step& s) {
  const PacketRecord& r = s.r;
  if (!req_.seen && !resp_.seen) req_.next = req_.cursor = place(r.psn);
  resp_.seen = true;
  note_order(s);
  if (s.ruling.what == Ruling::What::copy) {
    answer_facts_.count_doubled();
    note_copy(r, answers_.find(place(r.psn)));
    return;
  }
  const std::int64_t psn = place(r.psn);
  before_ = {last_packet_, last_packet_ns_};
  last_packet_ns_ = r.time_ns;
  last_packet_ = s.number;
  if (s.ruling.what != Ruling::What::late) answer_facts_.learn(r);
  if (s.info.operation == Operation::read_response) {
    response(s, psn);
  } else {
    acknowledgement(s, psn);
  }
}

/// Links answer and request with each other.
void PsnSpace::point_at_request(Step& s, std::int64_t psn) {
  const Seen* request = sent_.find(psn);
  std::uint64_t frame = request != nullptr ? request->frame : 0;
  std::int64_t since = request != nullptr ? request->time_ns : capture::no_time;
  if (request == nullptr) {
    const Pending* op = messages_.find(psn);
    if (op == nullptr || op->kind != OperationKind::read) return;
    frame = op->frame;
    since = op->start_ns;
    // Behind the first response: since the READ was issued last.
    const bool again = op->retried && psn >= pass_.read_from && psn < pass_.read_to;
    request = op->retried ? sent_.find(again ? pass_.read_from : op->first) : nullptr;
    if (request != nullptr) {
      frame = request->frame;
      since = request->time_ns;
    }
  }
  s.verdict.request = static_cast<std::uint32_t>(frame);
  // A copy that came late or again may not be the one that is answered.
  note_answer_time(s.r, since, request == nullptr || request->only_one(), s.verdict);
  if (s.shared.verdicts != nullptr) link_request(s.shared, frame, s.number);
}

void PsnSpace::link_request(TrackerShared& shared, std::uint64_t request, std::uint64_t answer) {
  if (Verdict* verdict = shared.verdicts->at(request); verdict != nullptr && verdict->response == 0) {
    verdict->response = static_cast<std::uint32_t>(answer);
  }
}

/// A responder answers in order: what it had to answer before `psn` with responses of its own it has
/// answered, and what did not come is missing.
void PsnSpace::pass_over(Step& s, std::int64_t psn) {
  std::int64_t missing = 0;
  for (; awaits() && first_awaited().end <= psn && !first_awaited().open_end; ++awaited_head_) {
    const Awaited& one = first_awaited();
    missing += one.end - one.next;
    response_gaps_.add(gap_before(s, one.next, one.end, answers_));
    resp_.answered = std::max(resp_.answered, one.end);
  }
  note_gap(s, missing);
}

void PsnSpace::miss_answers(Step& s, std::int64_t from, std::int64_t to) {
  note_gap(s, to - from);
  response_gaps_.add(gap_before(s, from, to, answers_));
}

/// An answer with a PSN of its own takes its place among those that are awaited.
void PsnSpace::take_answer(Step& s, std::int64_t psn) {
  response_gaps_.fill(psn, 1);
  if (s.ruling.what == Ruling::What::late && psn < resp_.answered) return;
  pass_over(s, psn);
  if (awaits() && first_awaited().next <= psn && (psn < first_awaited().end || first_awaited().open_end)) {
    Awaited& one = first_awaited();
    miss_answers(s, one.next, psn);
    one.next = psn + 1;
    if (one.open_end ? s.info.ends_message() : one.next >= one.end) ++awaited_head_;
  } else if (!req_.seen && resp_.answered >= 0 && psn > resp_.answered && !s.info.starts_message()) {
    // Asked for before the capture. Inside a READ no PSN can be anything but a response.
    constexpr std::int64_t missing_at_most = 1024;
    const Seen* last = answers_.find(resp_.answered - 1);
    const bool inside = last != nullptr && !dissect::opcode_info(last->opcode).ends_message() &&
                        dissect::opcode_info(last->opcode).operation == Operation::read_response;
    if (inside && psn - resp_.answered <= missing_at_most) miss_answers(s, resp_.answered, psn);
  }
  resp_.answered = std::max(resp_.answered, psn + 1);
}

/// Which responses should not be forgotten for that one.
std::int64_t PsnSpace::responses_needed_from(std::int64_t psn, const RingBudget& budget) noexcept {
  const std::int64_t reach = psn - (budget.scarce() ? 64 : asked_again_within);
  const std::int64_t outstanding =
      !messages_.queue().empty() ? std::min(messages_.queue()[0].first, reach) : reach;
  const bool doubled = answer_facts_.doubled > 0 || budget.twice;
  const std::int64_t kept = doubled ? shown_again_within(budget) : facts_.responses.late > 0 ? 512 : 0;
  return kept > 0 ? std::min(outstanding, psn - kept) : outstanding;
}

void PsnSpace::response(Step& s, std::int64_t psn) {
  const PacketRecord& r = s.r;
  const bool again = s.ruling.what == Ruling::What::repeat;
  learn_from_response(s, psn);
  if (!gaps_.empty()) fill_inside_read(s, psn);
  point_at_request(s, psn);
  resp_.last_ns = r.time_ns;
  answer_facts_.data = true;
  note_response_coverage(s, psn);
  if (resp_.answered < 0) resp_.answered = psn;
  const Seen* const before = answers_.find(psn);
  const bool cut_before = before != nullptr && before->trimmed != 0;
  const bool is_new = !again || psn >= resp_.answered || response_gaps_.find(psn) != nullptr || cut_before;
  if (is_new && s.counts) {
    take_new(s);
    const Seen* request = sent_.find(psn);
    const auto cause = static_cast<Cause>(request != nullptr ? request->cause : 0);
    if (!again && (cause == Cause::read_retry || cause == Cause::timeout || cause == Cause::unknown))
      ++s.connection.requester[side_].trouble->responses_anew;
  }
  take_answer(s, psn);
  Seen& now = answers_.slot_for(psn, responses_needed_from(psn, s.shared.budget), s.shared.budget);
  see(now, r, s.number, psn);
  now.cause = static_cast<std::uint8_t>(s.ruling.cause) & 7U;
  now.late = s.ruling.what == Ruling::What::late ? 1 : 0;
  now.trimmed = r.trimmed() ? 1 : 0;

  if (req_.seen && psn >= req_.next) {
    beyond_sent(s, psn);
  } else if (req_.seen && psn >= resp_.acked && s.counts) {
    ++resp_.fitting;
  }
  if (r.has(PacketRecord::has_aeth) && !again) {
    const std::uint32_t msn = r.aeth & serial_mask;
    if (!resp_.msn_known || rose(msn, resp_.msn)) resp_.msn = msn;
    resp_.msn_known = true;
  } else if (!s.r.has(PacketRecord::has_aeth) && s.info.ends_message()) {
    resp_.msn_known = false;  // it counted one more, and that was cut off
  }
  Pending* op = messages_.find(psn);
  if (op != nullptr && !op->done) {
    // A requester that keeps what it got asks for what is missing alone.
    const bool ends_repair = op->retried && psn + 1 == pass_.read_to && resp_.answered > op->last;
    if ((psn == op->last || ends_repair) && !response_gaps_.any_in(op->first, op->last + 1))
      messages_.complete(r, s.counts, *op, true);
  }
  progress(s, psn + 1);
}

/// An ACK, a NAK, or the answer to an atomic.
void PsnSpace::acknowledgement(Step& s, std::int64_t psn) {
  const PacketRecord& r = s.r;
  const bool pure = s.info.operation == Operation::acknowledge;
  Seen& seen = answers_.slot_for(psn, answers_needed_from(psn, s.shared.budget), s.shared.budget);
  see(seen, r, s.number, psn);
  seen.cause = static_cast<std::uint8_t>(s.ruling.cause) & 7U;
  point_at_request(s, psn);
  resp_.last_ns = r.time_ns;
  if (!pure) {
    answer_facts_.data = true;
    if (resp_.answered < 0) resp_.answered = psn;
    take_answer(s, psn);
  }
  if (!r.has(PacketRecord::has_aeth)) {
    resp_.cut = resp_.cut || pure;
    return;  // cut by the capture: it may be anything
  }
  const unsigned kind = r.aeth >> 29U & 3U;
  const unsigned code = r.aeth >> 24U & 31U;
  switch (kind) {
    case 0:
      acknowledge(s, psn);
      break;
    case 1:
      rnr_nak(s, psn, code);
      break;
    case 3:
      nak(s, psn, code);
      break;
    default:
      break;  // reserved
  }
}

/// What an answer says of where the requester stands.
void PsnSpace::confirm(Step& s, std::int64_t psn) {
  if (!req_.seen) return;
  if (psn >= req_.next) {
    beyond_sent(s, psn);
  } else if (psn >= resp_.acked && s.counts) {
    ++resp_.fitting;
  }
}

void PsnSpace::acknowledge(Step& s, std::int64_t psn) {
  if (s.counts) ++resp_.acks;
  if (s.r.has(PacketRecord::left_out)) ++acks_left_out_;
  const unsigned credits = s.r.aeth >> 24U & 31U;
  if (credits != 31 && s.counts) {
    s.connection.requester[side_].credits_used = true;
    if (credits == 0) happened(s, s.side, Event::zero_credits);
  }
  const std::uint32_t msn = s.r.aeth & serial_mask;
  if (resp_.msn_known && psn >= resp_.acked && !rose(msn, resp_.msn)) {
    s.verdict.set(Verdict::msn_backwards);
    happened(s, s.side, Event::msn_backwards);
  }
  if (!resp_.msn_known || rose(msn, resp_.msn)) resp_.msn = msn;
  resp_.msn_known = true;
  confirm(s, psn);
  const bool pure = s.info.operation == Operation::acknowledge;
  pass_over(s, pure ? psn + 1 : psn);
  if (!pure) {
    Pending* op = messages_.find(psn);
    if (op != nullptr && op->kind == OperationKind::atomic && !op->done)
      messages_.complete(s.r, s.counts, *op, true);
  }
  progress(s, psn + 1);
}

/// An answer to what was not captured.
void PsnSpace::beyond_sent(Step& s, std::int64_t psn) {
  constexpr std::int64_t believable = 1 << 16U;
  if (psn - req_.next >= believable) {
    if (s.counts) ++unfitting_;
    return;
  }
  if (!messages_.open_end()) {
    if (s.ruling.unseen) {
      s.verdict.set(Verdict::ack_unseen);
      happened(s, s.side, Event::ack_unseen);
    }
    note_break(s, psn + 1 - req_.next, nullptr);
    gaps_.add(gap_before(s, req_.next, psn + 1, sent_));
    messages_.break_off();
  }
  // Else it lies inside a READ whose length is not known.
  messages_.lose_track();
  req_.next = req_.cursor = psn + 1;
}

/// Everything before `acked` was received.
void PsnSpace::progress(Step& s, std::int64_t acked) {
  if (resp_.acked_known && acked <= resp_.acked) return;
  if (!req_.seen) {
    req_.next = req_.cursor = std::max(req_.next, acked);
    resp_.acked = acked;
    resp_.acked_known = true;
    return;
  }
  if (acked > req_.next || acked <= req_.first - 65536) return;
  // That all before the capture had been confirmed was taken for granted.
  resp_.acked = resp_.acked_known ? std::max(resp_.acked, acked) : acked;
  resp_.acked_known = true;
  if (!gaps_.empty()) {
    gaps_.for_each([&](const PsnGap& gap) { note_unseen(gap, resp_.acked, UnseenIs::delivered, s.shared); });
    gaps_.fill(INT64_MIN / 2, resp_.acked - INT64_MIN / 2);
  }
  chains_.answered(resp_.acked, s.r.time_ns, s.counts, s.connection.requester[side_].trouble);
  if (rnr_in_a_row_ != 0 && resp_.acked > rnr_.psn) {
    rnr_open_ = false;
    rnr_in_a_row_ = 0;
  }
  messages_.complete_acknowledged(s.r, s.counts, resp_.acked, response_gaps_);
}

void PsnSpace::nak(Step& s, std::int64_t psn, unsigned code) {
  RequesterTrouble& trouble = *s.connection.requester[side_].trouble;
  if (code > last_nak_code) return;
  if (s.counts) {
    ++trouble.naks[code];
    if (Series::Bucket* bucket = s.bucket()) ++bucket->naks;
  }
  constexpr std::array<Event, 5> events{Event::nak_sequence_error, Event::nak_invalid_request,
                                        Event::nak_remote_access_error, Event::nak_remote_operational_error,
                                        Event::nak_invalid_rd_request};
  happened(s, s.side, events[code]);
  if (req_.seen && psn > req_.next) {
    beyond_sent(s, psn - 1);
  } else if (req_.seen && psn >= resp_.acked && s.counts) {
    ++resp_.fitting;
    Pairing& pairing = s.connection.pairing;
    pairing.evidence =
        static_cast<std::uint8_t>(pairing.evidence | 1U << static_cast<unsigned>(Evidence::nak));
  }
  pass_over(s, psn);
  // That all before the capture had been confirmed was taken for granted; this says what was not.
  if (!resp_.acked_known && req_.seen && psn >= req_.first - 65536) resp_.acked = std::min(resp_.acked, psn);
  const bool old = resp_.acked_known && psn < resp_.acked && psn >= req_.first;
  progress(s, psn);
  if (code != sequence_error) {
    refuse(s, psn);
    return;
  }
  if (old) return;  // confirmed since: it was overtaken, or comes a second time
  nak_ = {psn, s.r.time_ns, s.number, s.r.aeth >> 24U};
  if (rnr_.psn == psn || !req_.seen || !s.counts) return;
  // When did the capture see the packet that made the responder ask?
  const PsnGap* missing = gaps_.find(psn);
  const Seen* next = sent_.find(psn + 1);
  const std::int64_t since = missing != nullptr ? missing->time_ns
                             : next != nullptr  ? next->time_ns
                                                : capture::no_time;
  if (since != capture::no_time && s.r.time_ns != capture::no_time && s.r.time_ns >= since)
    trouble.nak_generation_ns.add(static_cast<std::uint64_t>(s.r.time_ns - since));
}

void PsnSpace::rnr_nak(Step& s, std::int64_t psn, unsigned code) {
  Requester& requester = s.connection.requester[side_];
  happened(s, s.side, Event::rnr_nak);
  if (req_.seen && psn > req_.next) beyond_sent(s, psn - 1);
  if (req_.seen && psn >= resp_.acked && psn < req_.next && s.counts) ++resp_.fitting;
  pass_over(s, psn);
  progress(s, psn);
  const bool same = rnr_in_a_row_ != 0 && rnr_.psn == psn;
  rnr_in_a_row_ = static_cast<std::uint16_t>(same ? std::min(rnr_in_a_row_ + 1, 0xffff) : 1);
  rnr_ = {psn, s.r.time_ns, s.number, s.r.aeth >> 24U};
  rnr_open_ = true;
  if (!s.counts) return;
  ++requester.trouble->naks[static_cast<std::size_t>(NakKind::rnr)];
  if (Series::Bucket* bucket = s.bucket()) ++bucket->rnr_naks;
  if (!requester.trouble->rnr) requester.trouble->rnr = std::make_unique<RnrStats>();
  RnrStats& stats = *requester.trouble->rnr;
  ++stats.naks;
  stats.longest_chain = std::max<std::uint64_t>(stats.longest_chain, rnr_in_a_row_);
  stats.timer_code = static_cast<std::uint8_t>(code);
  stats.coded_wait_ns = dissect::rnr_timer_ns(static_cast<std::uint8_t>(code));
}

/// A NAK that ends the connection, tied to the request it answers.
void PsnSpace::refuse(Step& s, std::int64_t psn) {
  if (!s.counts) return;
  Requester& requester = s.connection.requester[side_];
  requester.refused_fatally = true;
  constexpr std::size_t kept = 4;
  if (requester.trouble->refused.size() >= kept) return;
  RefusedRequest refused;
  refused.syndrome = static_cast<std::uint8_t>(s.r.aeth >> 24U);
  refused.psn = s.r.psn;
  refused.nak_frame = s.number;
  const Pending* op = messages_.find(psn);
  if (op != nullptr) {
    refused.has_reth = op->has_reth;
    refused.virtual_address = op->virtual_address;
    refused.r_key = op->r_key;
    refused.length = op->length;
  }
  // Opcode and packet are of the PSN that the NAK names, the rest of the message that it is part of. A READ
  // takes more PSNs than it has packets.
  if (op != nullptr && (op->first == psn || op->kind == OperationKind::read)) {
    refused.opcode = op->opcode;
    refused.request_frame = op->frame;
  } else if (const Seen* seen = sent_.find(psn)) {
    refused.opcode = seen->opcode;
    refused.request_frame = seen->frame;
  }
  requester.trouble->refused.push_back(refused);
}

}  // namespace roce::analyze
