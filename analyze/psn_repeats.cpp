// SPDX-License-Identifier: Apache-2.0
// Requests sent again: of which run, with which cause, and what that says of losses (IBTA 9.7.5).
#include <algorithm>
#include <array>

#include "analyze/psn_short.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

void PsnSpace::repeat(Step& s, std::int64_t psn, std::int64_t count) {
  const PacketRecord& r = s.r;
  // The same again, as the first of a run: that was not the reaction yet.
  const bool copies_are_rare = std::uint64_t{request_facts_.doubled} * 8 < request_facts_.single;
  if (in_run_ && psn == run_start_ && copies_are_rare) take_back_lone_repeat(s);
  if (interrupted_ && goes_on_with_interrupted(psn)) {
    // On as before: no run began or ended in between, but a packet of another came, late or doubled.
    if (in_run_) take_back_lone_repeat(s);
    resume_interrupted();
  }
  Seen* seen = sent_.find(psn);
  Hole* hole = holes_.find(psn);
  if (hole != nullptr && !hole->of_repeat) seen = nullptr;  // a leftover of another lap
  const Same same = seen != nullptr ? same_transmission(request_facts_, *seen, r) : Same::other;
  if (same == Same::same || (same == Same::unknown && too_soon(*seen, r, psn))) {
    duplicate(s, request_facts_, seen);
    // A request that comes twice is answered twice, unless the first was refused: as if a NAK asked for it.
    if (s.verdict.has(Verdict::duplicate_network)) issue(s, psn, count, Cause::nak);
    if (same == Same::unknown && s.verdict.has(Verdict::duplicate_network)) {
      last_copy_ = psn;
      last_copy_frame_ = s.number;
      last_copy_next_ = next_;
    }
    return;
  }
  // Its ID tells that it was sent since the sender went back: the head of the run, overtaken.
  const bool of_this_run = run_start_ > psn && (in_run_ || !new_since_run_) &&
                           sent_earlier(request_facts_, r) && !behind(r.ip_id, id_before_run_);
  if (seen == nullptr && hole == nullptr && !of_this_run && request_facts_.doubled == 0 &&
      r.path == request_facts_.path && sent_earlier(request_facts_, r) &&
      (psn < first_ || inside_read(psn))) {
    late(s, psn, count, nullptr);  // before the first one captured, or its gap was taken for a READ's PSNs
    return;
  }
  const bool asked_for_now = copies_are_rare && r.path == request_facts_.path && naks_.find(psn) != nullptr;
  if (seen == nullptr && hole == nullptr && !of_this_run && !asked_for_now && request_facts_.single > 0 &&
      (r.path != request_facts_.path || request_facts_.is_behind(r))) {
    // Long ago, and seen at another place or with an ID from then: the capture's other view of it.
    duplicate(s, request_facts_, nullptr);
    return;
  }

  // A NAK made the sender repeat that one alone. What is still missing after silence the timer sends.
  const bool timer_after_lone = in_run_ && (lone_ || keeps_all()) && run_cause_ == Cause::nak &&
                                psn == acked_ && silent_before(r.time_ns) && !reacts_by(last_nak_, r.time_ns);
  const bool continuing = in_run_ && psn == run_next_ && !timer_after_lone;
  const bool ids_rise = request_facts_.ids_rise(r);
  const bool earlier = sent_earlier(request_facts_, r);
  if (hole != nullptr && !hole->of_repeat) {
    const OpenNak* asked = naks_.find(psn);
    const bool asked_for = asked != nullptr && !sooner_than_reactions(*asked, r.time_ns);
    const bool expected_again = (rnr_open_ && psn <= rnr_psn_) || asked_for || continuing;
    // What was not sent before the packet that showed the hole is sent again, and was overtaken as well.
    const bool original = earlier && (!hole->shown || behind(r.ip_id, hole->ip_id));
    const bool is_late = ids_rise ? original : !expected_again && !silent_before(r.time_ns);
    if (is_late || s.info.service == dissect::Service::uc) {
      late(s, psn, count, hole);
      return;
    }
  }
  // The first packets captured may have overtaken others, long before it is sure that IDs rise.
  if (psn < first_ && request_facts_.id_other == 0 && r.has(PacketRecord::has_ip_id) &&
      behind(r.ip_id, request_facts_.last_id)) {
    late(s, psn, count, nullptr);
    return;
  }
  if (s.info.service == dissect::Service::uc) return;  // never sends again: a stray

  if (earlier && seen != nullptr && seen->filled != 0 && behind(r.ip_id, seen->ip_id)) {
    // The original comes after its repeat: nothing was lost.
    unlose_filled(s, *seen, side_);
    mark_late(s);
    ++request_facts_.single;
    return;
  }
  const std::uint16_t id_before = request_facts_.last_id;
  const std::uint16_t step_before = request_facts_.last_step;
  if (!ids_rise) request_facts_.learn(r);
  if (ids_rise && !earlier) request_facts_.passed(r);

  // A repeat that was overtaken by others of its run keeps the run's cause.
  const bool late_repeat = earlier && run_start_ >= 0;
  if (!continuing && !late_repeat) {
    // Asked for itself, or what was asked for is in the gap before it.
    const OpenNak* asked = naks_.up_to(psn);
    const bool asked_for =
        asked != nullptr &&
        (asked->psn == psn ? !stale(*asked, r.time_ns) : asked->psn >= run_next_ && !asked->passed);
    // After silence the timer sends what is the oldest unconfirmed; where all is confirmed the answer did not
    // reach the sender.
    const bool timer = psn <= acked_ && silent_before(r.time_ns);
    const bool run_goes_on = in_run_ && psn > run_next_ && !timer && !asked_for &&
                             !(rnr_open_ && psn <= rnr_psn_) &&
                             !(keeps_all() && run_cause_ == Cause::nak);  // it asked for that one only
    if (run_goes_on) {
      // Where the IDs leave room for just these, they were sent: a sender that is told of progress may also
      // skip what it need not repeat.
      const std::int64_t missing = psn - run_next_;
      const bool in_order =
          std::uint64_t{request_facts_.late} * 64U < request_facts_.single;  // it will not come yet
      const bool were_sent = ids_rise && in_order && step_before == 1 &&
                             static_cast<std::uint16_t>(r.ip_id - id_before) == missing + 1;
      if (were_sent) lose(s, side_, Lost::before_capture, static_cast<std::uint64_t>(missing));
      if (!ids_rise) interrupt_run(s);
      holes_.add({run_next_, psn, r.time_ns, s.number, true, false, false, 0, were_sent});
      hole = holes_.find(psn);
      s.verdict.gap = static_cast<std::uint32_t>(psn - run_next_);
    } else {
      start_run(s, psn, seen);
      id_before_run_ = id_before;
      hole = holes_.find(psn);
    }
  }
  const bool may_tell = lone_ || (!goes_back_ && !keeps_all());
  if (continuing && may_tell && run_cause_ == Cause::nak && naks_.find(psn) == nullptr) went_on_repeating();
  if (run_frame_ != s.number) lone_ = false;
  if (!late_repeat) run_next_ = psn + count;
  repeated_to_ = std::max(repeated_to_, psn + count);
  last_repeat_ = s.number;
  if (OpenNak* nak = naks_.up_to(psn);
      nak != nullptr && joins_run(*nak, psn, r.time_ns) &&
      (nak->frame < run_frame_ || seen == nullptr || seen->frame < nak->frame)) {
    // It began earlier for an answer that is missing; from here on the NAK asked for it. Or the NAK is
    // still on its way, and the sender will go back once more.
    run_cause_ = Cause::nak;
    run_nak_ = psn;
    nak->passed = true;
  } else if (continuing && rnr_open_ && psn == rnr_psn_ && !rnr_waits(r.time_ns)) {
    run_cause_ = Cause::rnr;
    rnr_open_ = false;
  }

  // What was overtaken by the beginning of the present run belongs to the one before, or is its head.
  const bool head_of_run = psn < run_start_ && !behind(r.ip_id, id_before_run_);
  const bool of_last_run =
      late_repeat && !head_of_run && last_run_cause_ != Cause::none && behind(r.ip_id, run_id_);
  Cause cause = of_last_run ? last_run_cause_ : run_cause_;
  const bool read = s.info.operation == Operation::read_request;
  if (read && (cause == Cause::timeout || cause == Cause::unknown)) cause = Cause::read_retry;
  if (!read && cause == Cause::read_retry) cause = Cause::timeout;
  s.verdict.set(Verdict::retransmission);
  s.verdict.cause = cause;
  if (seen != nullptr) {
    s.verdict.original = static_cast<std::uint32_t>(seen->frame);
  } else if (const Pending* op = read ? pending(psn) : nullptr) {
    s.verdict.original = static_cast<std::uint32_t>(op->frame);  // issued again from its middle
  }
  const bool has_answer = answered_on_its_own(s.info.operation);
  const bool answer_missing = has_answer && answer_asked_again(s, psn, count);
  if (run_start_ == psn) run_for_answer_ = answer_missing;
  // What goes with a request whose answer is missing is repeated for good reason.
  const bool spurious = acked_known_ && psn + count <= acked_ && !(has_answer && run_for_answer_) &&
                        (hole == nullptr || hole->of_repeat);
  if (spurious) s.verdict.set(Verdict::spurious);

  if (hole != nullptr && (!late_repeat || !hole->of_repeat)) {
    const bool first_copy = !hole->of_repeat;
    if (hole->called_missed) unlose(s, side_, Lost::by_capture, 1, hole->frame);
    // Overtaken, it fills its own place in the run.
    const std::uint64_t missing = late_repeat ? holes_.missing(psn, run_frame_) : holes_.missing(psn);
    if (missing > 0) lose(s, side_, Lost::before_capture, missing);
    if (first_copy) count_goodput(s);
  }
  if (late_repeat) {
    const std::uint64_t shown_by = holes_.counted_by(psn);
    if (shown_by >= run_frame_) unlose(s, side_, Lost::before_capture, 1, shown_by);
  }
  Seen again = seen_of(s, psn);
  again.cause = static_cast<std::uint8_t>(cause) & 7U;
  again.filled = hole != nullptr && !hole->of_repeat ? 1 : 0;
  again.late = late_repeat ? 1 : 0;
  holes_.fill(psn, count);
  issue(s, psn, count, cause);

  sent_.put(again, needed_from(psn), s.shared.budget);
  if (Pending* op = pending(psn)) op->retried = true;

  count_repeat(s, side_, cause);
  if (s.counts) {
    if (spurious) happened(s, side_, Event::spurious);
    const bool thrown_away = cause == Cause::nak && seen != nullptr && psn != run_nak_ && !spurious;
    if (thrown_away) happened(s, side_, Event::wasted);
    if (Flow* flow = s.flow(side_)) {
      SequenceCounts& sequence = flow->sequence_to_change();
      if (spurious) ++sequence.spurious;
      if (thrown_away) {
        ++sequence.wasted_packets;
        sequence.wasted_bytes += r.wire;
      }
    }
  }
  if (run_next_ >= next_) {
    in_run_ = false;
    naks_.pass_before(run_frame_);
    next_ = std::max(next_, psn + count);
    message_known_ = true;
    inside_message_ = !s.info.ends_message();
    message_operation_ = s.info.operation;
  }
}

/// Whether a run that began for another reason is the reaction to a NAK as well, from its PSN on.
bool PsnSpace::joins_run(const OpenNak& nak, std::int64_t psn, std::int64_t time_ns) const noexcept {
  if (nak.passed || nak.psn <= run_start_ || run_cause_ == Cause::nak || run_cause_ == Cause::rnr)
    return false;
  const bool exact = nak.psn == psn && !nak.for_rnr;
  const bool before = nak.frame < run_frame_;
  const bool asked = exact || (before && nak.psn >= acked_);
  return asked && !(before && run_after_silence_) && !stale(nak, time_ns);
}

/// Without IDs a packet that comes after its NAK looks repeated. But a sender that goes back goes on from
/// there; where it goes on as before, the packet was only late.
void PsnSpace::take_back_lone_repeat(Step& s) {
  Seen* seen = sent_.find(run_start_);
  const bool lone = run_cause_ == Cause::nak && lone_ && seen != nullptr && seen->filled != 0 &&
                    seen->frame == run_frame_ && last_nak_.psn == run_start_;
  // Selective repeat sends it alone.
  const bool selective = !goes_back_ && reactions_ > 1;
  if (!lone || selective || request_facts_.ids_rise(s.r)) return;
  in_run_ = false;
  if (reactions_ < 2) {
    reactions_ = 0;
    reaction_ns_ = 0;
  }
  unlose_filled(s, *seen, side_);
  seen->late = 1;
  seen->cause = 0;
  if (naks_.find(last_nak_.psn) == nullptr) naks_.push(last_nak_);
  if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(run_frame_)) {
      verdict->clear(Verdict::retransmission);
      verdict->cause = Cause::none;
      verdict->set(Verdict::out_of_order);
    }
  }
  if (!s.counts) return;
  Events& sent = s.connection.sent[side_];
  sent.take_back(Event::retransmitted_nak, run_frame_);
  sent.take_back(Event::go_back_n, run_frame_);
  sent.add(Event::out_of_order, run_frame_, seen->time_ns);
  if (s.flow(side_) == nullptr) return;
  SequenceCounts& sequence = s.flow(side_)->sequence_to_change();
  std::uint64_t& sum = sequence.retransmitted[static_cast<std::size_t>(Cause::nak)];
  if (sum > 0) --sum;
  sequence.retransmitted_bytes -= std::min<std::uint64_t>(sequence.retransmitted_bytes, s.r.wire);
  ++sequence.out_of_order;
}

/// Whether this continues the run that was interrupted last rather than what interrupted it.
bool PsnSpace::goes_on_with_interrupted(std::int64_t psn) const noexcept {
  const std::int64_t next = interrupted_->next;
  if (!in_run_) return psn == next && last_packet_ == interrupted_->by;
  if (psn == run_next_ || (!lone_ && last_repeat_ != interrupted_->by)) return false;
  // Fewer are missing if it does.
  return psn == next || (psn > next && psn > run_next_ && 2 * (psn - next) < psn - run_next_);
}

void PsnSpace::interrupt_run(const Step& s) {
  if (in_run_ && !request_facts_.ids_rise(s.r)) {
    interrupted_ = std::make_unique<Interrupted>(
        Interrupted{run_start_, run_next_, run_nak_, run_frame_, s.number, run_cause_});
  } else {
    interrupted_.reset();
  }
}

void PsnSpace::resume_interrupted() {
  in_run_ = true;
  lone_ = false;
  run_cause_ = interrupted_->cause;
  run_start_ = interrupted_->start;
  run_next_ = interrupted_->next;
  run_nak_ = interrupted_->nak;
  run_frame_ = interrupted_->frame;
  if (!holes_.empty()) {
    std::erase_if(holes_.list(),
                  [&](const Hole& hole) { return hole.of_repeat && hole.frame == interrupted_->by; });
  }
  interrupted_.reset();
}

}  // namespace roce::analyze
