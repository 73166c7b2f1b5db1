// SPDX-License-Identifier: Apache-2.0
// The requester's packets: what is new, what is missing, what comes late (IBTA 9.7.2, 9.7.3).
#include <algorithm>
#include <array>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

namespace {

bool is_pmtu(std::uint32_t bytes) noexcept {
  return bytes >= 256 && bytes <= 4096 && (bytes & (bytes - 1)) == 0;
}

void learn_pmtu(Step& s) noexcept {
  // First and Middle packets are full (IBTA 9.7.4.1.3): their size is the path MTU.
  if (s.connection.pmtu_by_cm || !is_pmtu(s.r.payload) || s.r.payload <= s.connection.pmtu) return;
  if (s.info.position == Position::first || s.info.position == Position::middle) {
    s.connection.pmtu = s.r.payload;
  }
}

}  // namespace

void PsnSpace::begin(const PacketBrief& r) {
  constexpr std::int64_t room = std::int64_t{1} << 32U;  // so that nothing before the first is negative
  if (answers_seen_ && acked_known_) {
    // Answers to earlier requests told the place.
    next_ = place(r.psn);
    acked_ = std::min(acked_, next_);
  } else {
    next_ = room + r.psn;
    acked_ = next_;
  }
  first_ = next_;
  // A missing response is asked for: the READ was sent before, and so was what is answered since.
  if (response_holes_.find(first_) != nullptr) next_ = std::max(next_, response_next_);
  // So was a READ that has been answered, unless the capture holds each direction for a while.
  constexpr std::int64_t held_ns = 10'000;
  const bool read = dissect::opcode_info(r.opcode).operation == Operation::read_request;
  const bool timed = r.time_ns != capture::no_time && last_answer_ns_ != capture::no_time;
  if (read && answers_.find(first_) != nullptr && r.point == first_answer_point_ && timed &&
      r.time_ns - last_answer_ns_ >= held_ns) {
    next_ = std::max(next_, response_next_);
  }
  // So was what a NAK asks for, and one behind it, which made the responder ask (IBTA 9.7.5.1.1).
  if (const OpenNak* asked = naks_.find(first_)) next_ = std::max(next_, first_ + (asked->for_rnr ? 1 : 2));
  if (rnr_open_ && rnr_psn_ == first_) next_ = std::max(next_, first_ + 1);
  copies_.begin(first_);
  taken_ = first_;
  if (response_next_ < 0) response_next_ = first_;
  requests_seen_ = true;
}

void PsnSpace::damaged_request(Step& s) {
  // Only what fits exactly where it should come is believed.
  if (!requests_seen_ || !in_run_) return;
  const std::int64_t psn = place(s.r.psn);
  if (psn != run_next_) return;
  const Seen* seen = sent_.find(psn);
  if (seen != nullptr && seen->opcode != s.r.opcode) return;
  s.verdict.set(Verdict::retransmission);
  s.verdict.cause = run_cause_;
  if (seen != nullptr) s.verdict.original = static_cast<std::uint32_t>(seen->frame);
  count_repeat(s, side_, run_cause_);
}

void PsnSpace::request(Step& s) {
  const PacketRecord& r = s.r;
  if (s.counts) ++requests_;
  if (r.has(PacketRecord::left_out)) ++requests_left_out_;
  note_order(s);
  learn_pmtu(s);
  if (!requests_seen_) begin(r);
  const std::int64_t psn = place(r.psn);
  const bool right_behind = psn == next_;
  // Where a READ ends with this request, nobody knows whether all between them is the READ's.
  if (psn >= next_ && close_open_read(s, psn)) message_known_ = right_behind;
  std::int64_t count = 1;
  if (s.info.operation == Operation::read_request) {
    count = read_packets(s);
    reads_cut_ = reads_cut_ || !r.has(PacketRecord::has_reth);
  }
  if (psn == taken_) taken_ = psn + count;

  // A new packet that the packets of a repeat have overtaken does not end the repeat.
  const bool overtaken = psn >= next_ && in_run_ && sent_earlier(request_facts_, r);
  if (overtaken) mark_late(s);
  if (sent_earlier(request_facts_, r)) request_facts_.count_late();
  if (psn >= next_ && in_run_ && !overtaken) take_back_lone_repeat(s);
  // A sender that goes back goes on from there: one alone, and then new ones right away, was all it sent
  // again, or late.
  const bool right_away =
      !request_facts_.ids_rise(r) || static_cast<std::uint16_t>(r.ip_id - request_facts_.last_id) == 1;
  const bool asked_for_one = run_cause_ == Cause::nak && (keeps_all() || (lone_ && right_away));
  if (psn >= next_ && in_run_ && !overtaken && run_next_ < next_ && !asked_for_one) {
    holes_.add({run_next_, next_, r.time_ns, s.number, true, false, false, r.ip_id,
                false});  // the end of what was sent again
  }
  if (psn == next_) [[likely]] {
    accept(s, psn, count, true);
  } else if (psn > next_) {
    const std::int64_t missing = psn - next_;
    note_gap(s, missing);
    holes_.add({next_, psn, r.time_ns, s.number, false, false, true, r.ip_id, false});
    if (s.info.service == dissect::Service::uc) break_message(s);
    accept(s, psn, count, false);
  } else if (holes_.empty() || !comes_behind_its_answer(s, psn, count)) {
    repeat(s, psn, count == 0 ? 1 : count);
  }

  if (s.verdict.has(Verdict::duplicate_capture)) return;  // nobody sent it again
  if (s.counts && r.time_ns != capture::no_time) note_idle(r);
  last_request_ns_ = r.time_ns;
  last_packet_ns_ = r.time_ns;
  last_packet_ = s.number;
  note_in_flight(s.verdict);
  if (s.counts && s.verdict.has(Verdict::in_flight_known)) {
    in_flight_max_ = std::max(in_flight_max_, s.verdict.in_flight);
    Series::Bucket* const bucket = s.bucket();
    if (bucket != nullptr) bucket->in_flight_max = std::max(bucket->in_flight_max, s.verdict.in_flight);
  }
}

/// A gap of UC destroys at least the message that it begins in, the one that it ends in, or one between.
void PsnSpace::break_message(Step& s) {
  const bool known = message_known_ && inside_message_ && broken_;
  if (!known) happened(s, side_, Event::uc_message_lost);
  broken_ = !s.info.starts_message();
}

void PsnSpace::accept(Step& s, std::int64_t psn, std::int64_t count, bool in_order) {
  new_since_run_ = true;
  if (s.verdict.has(Verdict::out_of_order)) {
    request_facts_.count_single();
  } else {
    if (in_run_) {
      naks_.pass_before(run_frame_);
      interrupt_run(s);
    }
    in_run_ = false;
    request_facts_.learn(s.r);
  }
  if (in_order) {
    check_order(s);
  } else {
    message_known_ = false;
  }
  sent_.put(seen_of(s, psn), needed_from(psn, s.shared.budget), s.shared.budget);
  next_ = psn + std::max<std::int64_t>(count, 1);
  track_message(s, psn, count, in_order);
  issue(s, psn, count, Cause::none);
  count_goodput(s);
  message_operation_ = s.info.operation;
  inside_message_ = !s.info.ends_message();
  message_known_ = count != 0;  // else the next request tells where this READ ends
}

void PsnSpace::count_goodput(Step& s) noexcept {
  if (!s.counts) return;
  new_bytes_ += s.r.payload;
  if (Series::Bucket* bucket = s.bucket()) bucket->goodput_bytes += s.r.payload;
}

/// A packet that is older than the one before it: what came first is not sure here.
void PsnSpace::note_order(Step& s) {
  if (s.r.time_ns != capture::no_time && s.r.time_ns < last_packet_ns_) {
    s.verdict.set(Verdict::time_backwards);
    happened(s, s.side, Event::time_backwards);
  }
}

bool PsnSpace::silent_before(std::int64_t time_ns) const noexcept {
  return time_ns != capture::no_time && last_request_ns_ != capture::no_time &&
         time_ns - last_request_ns_ >= silence_ns;
}

/// Whether the PSN is taken by a READ, behind its first. Then no other request can have it.
bool PsnSpace::inside_read(std::int64_t psn) noexcept {
  const Pending* op = pending(psn);
  return op != nullptr && op->kind == OperationKind::read && psn > op->first;
}

void PsnSpace::mark_late(Step& s) {
  const bool ruled = s.ruling != nullptr && (s.info.request || s.info.operation != Operation::acknowledge);
  if (ruled) return;
  s.verdict.set(Verdict::out_of_order);
  happened(s, s.side, Event::out_of_order);
  if (s.counts && s.flow(s.side) != nullptr) ++s.flow(s.side)->sequence_to_change().out_of_order;
}

/// What `seen` repeated was not lost after all.
void PsnSpace::unlose_filled(Step& s, Seen& seen, unsigned side) {
  unlose(s, side, Lost::before_capture, 1, seen.frame);
  seen.filled = 0;
}

void PsnSpace::late(Step& s, std::int64_t psn, std::int64_t count, const Hole* hole) {
  if (hole != nullptr && hole->called_missed) unlose(s, side_, Lost::by_capture, 1, hole->frame);
  if (psn < first_) {
    // No answer to anything before is known either.
    if (response_next_ >= 0 && !answers_seen_) response_next_ = std::min(response_next_, psn);
    if (!acked_known_) acked_ = std::min(acked_, psn);
    first_late_ = std::min(first_late_, psn);
  }
  holes_.fill(psn, count);
  Seen seen = seen_of(s, psn);
  seen.late = 1;
  sent_.put(seen, needed_from(psn, s.shared.budget), s.shared.budget);
  request_facts_.count_single();
  if (!request_facts_.ids_rise(s.r)) request_facts_.count_late();
  count_goodput(s);
  mend_message(s, psn, count, false);
  issue(s, psn, count, Cause::none);
  copies_.out_of_turn(psn, count, next_, false);
  mark_late(s);
}

/// Notes a request whose answer has PSNs of its own.
void PsnSpace::issue(Step& s, std::int64_t psn, std::int64_t count, Cause cause) {
  if (!answered_on_its_own(s.info.operation)) return;
  if (issued_.size() - issued_head_ >= issued_at_most) ++issued_head_;
  if (issued_head_ >= 64 && issued_head_ * 2 >= issued_.size()) {
    issued_.erase(issued_.begin(), issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_));
    issued_head_ = 0;
  }
  Issued issued;
  issued.first = psn;
  issued.next = psn;
  issued.end = psn + std::max<std::int64_t>(count, 1);
  issued.frame = s.number;
  issued.open_end = count == 0;
  issued.cause = cause;
  // What was asked for with a NAK had never been executed.
  issued.instead = cause != Cause::none && answers_given_up_;
  issued.repeated = cause != Cause::none && cause != Cause::nak && cause != Cause::rnr;
  // A request that was overtaken still stands where its PSN puts it.
  auto place = issued_.end();
  const auto front = issued_.begin() + static_cast<std::ptrdiff_t>(issued_head_);
  // So does a repeat of what the responder has kept, but could not answer yet.
  const bool in_place = !keeps_all() && (cause == Cause::none || (keeps_early_ && issued.repeated));
  while (in_place && place != front && (keeps_early_ || !std::prev(place)->repeated) &&
         std::prev(place)->next > psn) {
    --place;
  }
  issued_.insert(place, issued);
}

}  // namespace roce::analyze
