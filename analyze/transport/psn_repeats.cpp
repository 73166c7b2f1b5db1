// SPDX-License-Identifier: Apache-2.0
// Requests sent again: of which run, with which cause, and what that says of losses (IBTA 9.7.5).
#include <algorithm>
#include <array>
#include <utility>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

/// A request at or before what was sent last: a copy, a late one, or sent again.
void PsnSpace::repeat(Step& s, std::int64_t psn, std::int64_t count) {
  if (next_copy(s, psn, count)) return;
  return_to_interrupted(s, psn);
  Again again = look_back(s, psn, count);
  if (is_copy(s, again) || is_late(s, again)) return;
  copies_.out_of_turn(psn, count, next_, again.hole == nullptr || again.hole->of_repeat);
  const std::uint16_t id_before = request_facts_.last_id;
  const std::uint16_t step_before = request_facts_.last_step;
  if (!again.ids_rise) request_facts_.learn(s.r);
  if (again.ids_rise && !again.earlier) request_facts_.passed(s.r);

  if (!again.continuing && !again.overtaken) {
    if (run_goes_on(s, again)) {
      skip_in_run(s, again, id_before, step_before);
    } else {
      start_run(s, psn, again.seen);
      id_before_run_ = id_before;
    }
    again.hole = holes_.find(psn);
  }
  advance_run(s, again);
  join_nak(s, again);
  const Cause cause = cause_of(s, again);
  const bool spurious = say_repeated(s, again, cause);
  settle_holes(s, again);
  remember_repeat(s, again, cause);
  count_waste(s, again, cause, spurious);
  if (run_next_ >= next_ && !again.overtaken) end_run(s, again);
}

/// What takes part in a repeat is known of the packet before anything is decided.
PsnSpace::Again PsnSpace::look_back(Step& s, std::int64_t psn, std::int64_t count) {
  const PacketRecord& r = s.r;
  Again again;
  again.psn = psn;
  again.count = count;
  again.seen = sent_.find(psn);
  again.hole = holes_.find(psn);
  if (again.hole != nullptr && !again.hole->of_repeat) again.seen = nullptr;  // a leftover of another lap
  again.ids_rise = request_facts_.ids_rise(r);
  // What is confirmed and comes a timer's time later, the timer sent; the IDs have gone once around.
  const bool by_timer = again.hole == nullptr && acked_known_ && psn + count <= acked_ && copies_are_rare() &&
                        silent_before(r.time_ns);
  again.earlier = sent_earlier(request_facts_, r) && !by_timer;
  // A NAK made the sender repeat that one alone. What is still missing after silence the timer sends.
  const bool timer_after_lone = in_run_ && (lone_ || keeps_all()) && run_cause_ == Cause::nak &&
                                psn == acked_ && silent_before(r.time_ns) && !reacts_by(last_nak_, r.time_ns);
  again.continuing = in_run_ && psn == run_next_ && !timer_after_lone;
  // A repeat that was overtaken by others of its run keeps the run's cause.
  again.overtaken = run_start_ >= 0 && (again.ids_rise ? again.earlier : late_in_run(s, again));
  return again;
}

bool PsnSpace::copies_are_rare() const noexcept {
  return std::uint64_t{request_facts_.doubled} * 8 < request_facts_.single;
}

void PsnSpace::return_to_interrupted(Step& s, std::int64_t psn) {
  // The same again, as the first of a run: that was not the reaction yet.
  if (in_run_ && psn == run_start_ && copies_are_rare()) take_back_lone_repeat(s);
  if (interrupted_ && goes_on_with_interrupted(psn)) {
    // On as before: no run began or ended in between, but a packet of another came, late or doubled.
    if (in_run_) take_back_lone_repeat(s);
    resume_interrupted();
  }
}

/// Whether it comes in its turn among the copies of everything. Says so if it does.
bool PsnSpace::next_copy(Step& s, std::int64_t psn, std::int64_t count) {
  const PacketRecord& r = s.r;
  const Seen* seen = sent_.find(psn);
  if (seen != nullptr && seen->opcode != r.opcode) return false;
  const bool ids_tell = request_facts_.ids_tell(r);
  if (ids_tell && (seen != nullptr ? seen->ip_id != r.ip_id : !request_facts_.is_behind(r))) return false;
  const std::int64_t lag = lag_of(seen, r);
  if (!copies_.fits(psn, lag)) return false;
  if (!copies_.sure() && !ids_tell) {
    // Not yet known for one: then only if nothing can have made the sender repeat it.
    const bool soon = lag == CopyQueue::unknown_ns ? !silent_before(r.time_ns) : lag < silence_ns / 2;
    const Seen unknown;
    const bool asked_for = expected_again(seen != nullptr ? *seen : unknown, psn);
    if (!answers_seen_ || r.time_ns == capture::no_time || !soon || asked_for) return false;
  }
  if (!ids_tell && s.ruling == nullptr) doubt(s, psn, lag);
  copies_.take(psn, count, lag);
  duplicate(s, request_facts_, seen, true);
  return true;
}

/// A copy of another packet, or the first view of one from long ago. Says so if it is.
bool PsnSpace::is_copy(Step& s, const Again& again) {
  const PacketRecord& r = s.r;
  const std::int64_t psn = again.psn;
  const Same same = again.seen != nullptr ? same_transmission(request_facts_, *again.seen, r) : Same::other;
  // Asked for again, and on another way, in a capture that shows nothing twice: the path changed.
  const bool moved = same == Same::same && !request_facts_.ids_tell(r) && request_facts_.doubled == 0 &&
                     expected_again(*again.seen, psn);
  const std::int64_t lag = lag_of(again.seen, r);
  const bool in_turn = copies_.fits(psn, lag);
  // Where the other direction was not captured nobody knows how soon an answer made the sender go back: then
  // a copy comes right behind its packet, or in its turn.
  const bool alone = !answers_seen_ && s.flow(side_ ^ 1U) == nullptr;
  const bool may_go_back = alone && psn + again.count < next_ && !in_turn;
  constexpr std::int64_t held_back_ns = 100'000'000;  // no network does it that long
  const bool uc =
      s.info.service == dissect::Service::uc && lag != CopyQueue::unknown_ns && lag < held_back_ns;
  // A second one in a row, with no other request between: a sender that goes back. UC sends nothing again.
  const bool in_a_row = copy_was_head(psn) && last_repeat_ < last_copy_frame_;
  const bool soon =
      same == Same::unknown && (uc || (!may_go_back && !in_a_row && too_soon(*again.seen, r, psn)));
  if ((same == Same::same && !moved) || soon) {
    if (in_turn) copies_.take(psn, again.count, lag);
    duplicate(s, request_facts_, again.seen, in_turn);
    // A request that comes twice is answered twice, unless the first was refused: as if a NAK asked for it.
    if (s.verdict.has(Verdict::duplicate_network)) issue(s, psn, again.count, Cause::nak);
    if (same == Same::unknown && s.verdict.has(Verdict::duplicate_network)) {
      last_copy_ = psn;
      last_copy_frame_ = s.number;
      last_copy_next_ = next_;
    }
    return true;
  }
  // Sent before the repeat of it, where copies come late: the one before that was captured, too.
  const bool of_first = again.seen != nullptr && again.seen->cause != 0 && again.seen->filled == 0 &&
                        again.ids_rise && behind(r.ip_id, again.seen->ip_id) && !copies_are_rare();
  if (of_first) {
    duplicate(s, request_facts_, nullptr);
    return true;
  }
  if (again.seen != nullptr || again.hole != nullptr) return false;
  // Its ID tells that it was sent since the sender went back: the head of the run, overtaken.
  const bool of_this_run =
      run_start_ > psn && (in_run_ || !new_since_run_) && again.earlier && !behind(r.ip_id, id_before_run_);
  if (of_this_run) return false;
  const bool same_path = r.path == request_facts_.path;
  if (request_facts_.doubled == 0 && same_path && again.earlier && (psn < first_ || inside_read(psn))) {
    late(s, psn, again.count, nullptr);  // before the first captured, or its gap was taken for a READ's PSNs
    return true;
  }
  const bool asked_for_now = copies_are_rare() && same_path && naks_.find(psn) != nullptr;
  // After silence the IDs may have gone once around; where things come twice, it is the other view of it.
  const bool earlier = copies_are_rare() ? again.earlier : request_facts_.is_behind(r);
  if (asked_for_now || request_facts_.single == 0 || (same_path && !earlier)) return false;
  // Long ago, and seen at another place or with an ID from then: the capture's other view of it.
  duplicate(s, request_facts_, nullptr);
  return true;
}

/// Sent once, and overtaken on its way here. Says so if it is; of UC, that never sends again, all are.
bool PsnSpace::is_late(Step& s, const Again& again) {
  const PacketRecord& r = s.r;
  const std::int64_t psn = again.psn;
  const bool uc = s.info.service == dissect::Service::uc;
  if (again.hole != nullptr && !again.hole->of_repeat) {
    const OpenNak* asked = naks_.find(psn);
    const bool asked_for = asked != nullptr && !sooner_than_reactions(*asked, r.time_ns);
    const bool expected_again = (rnr_open_ && psn <= rnr_psn_) || asked_for || again.continuing;
    // What was not sent before the packet that showed the hole is sent again, and was overtaken as well.
    const bool original = again.earlier && (!again.hole->shown || behind(r.ip_id, again.hole->ip_id));
    const bool fills_it = again.ids_rise ? original : !expected_again && !timer_sends(psn, r.time_ns);
    if (fills_it || uc) {
      late(s, psn, again.count, again.hole);
      return true;
    }
  }
  // The first packets captured may have overtaken others, long before it is sure that IDs rise.
  if (psn < first_ && request_facts_.id_other == 0 && r.has(PacketRecord::has_ip_id) &&
      behind(r.ip_id, request_facts_.last_id)) {
    late(s, psn, again.count, nullptr);
    return true;
  }
  // So where no ID tells; but what is sent again something asks for, or the timer sends it.
  const bool no_id = !r.has(PacketRecord::has_ip_id) || r.ip_id == request_facts_.last_id;
  const bool asked_for = naks_.up_to(psn) != nullptr || (rnr_open_ && psn <= rnr_psn_);
  if (psn < first_ && no_id && !again.ids_rise && !asked_for && !in_run_ && !silent_before(r.time_ns)) {
    late(s, psn, again.count, nullptr);
    return true;
  }
  if (uc) return true;  // a stray
  if (!again.earlier || again.seen == nullptr || again.seen->filled == 0 ||
      !behind(r.ip_id, again.seen->ip_id)) {
    return false;
  }
  // The original comes after its repeat: nothing was lost.
  unlose_filled(s, *again.seen, side_);
  mark_late(s);
  request_facts_.count_single();
  return true;
}

/// Whether this belongs to the present run although it is not the next of it.
bool PsnSpace::run_goes_on(const Step& s, const Again& again) noexcept {
  const std::int64_t psn = again.psn;
  // Asked for itself, or what was asked for is in the gap before it.
  const OpenNak* asked = naks_.up_to(psn);
  const bool asked_for = asked != nullptr && (asked->psn == psn ? !stale(*asked, psn, s.r)
                                                                : asked->psn >= run_next_ && !asked->passed);
  // After silence the timer sends what is the oldest unconfirmed; where all is confirmed the answer did not
  // reach the sender.
  const bool timer = psn <= acked_ && silent_before(s.r.time_ns);
  const bool after_rnr = rnr_open_ && psn <= rnr_psn_;
  const bool asked_for_one = keeps_all() && run_cause_ == Cause::nak;
  return in_run_ && psn > run_next_ && !timer && !asked_for && !after_rnr && !asked_for_one;
}

/// The run goes on behind a gap.
void PsnSpace::skip_in_run(Step& s, const Again& again, std::uint16_t id_before, std::uint16_t step_before) {
  // Where the IDs leave room for just these, they were sent: a sender that is told of progress may also
  // skip what it need not repeat.
  const std::int64_t missing = again.psn - run_next_;
  const bool in_order =
      std::uint64_t{request_facts_.late} * 64U < request_facts_.single;  // it will not come yet
  const bool were_sent = again.ids_rise && in_order && step_before == 1 && !unmeasured(s) &&
                         static_cast<std::uint16_t>(s.r.ip_id - id_before) == missing + 1;
  if (were_sent) lose(s, side_, Lost::before_capture, static_cast<std::uint64_t>(missing));
  if (!again.ids_rise) interrupt_run(s);
  holes_.add({run_next_, again.psn, s.r.time_ns, s.number, true, false, false, s.r.ip_id, were_sent});
  note_gap(s, missing);
}

void PsnSpace::advance_run(const Step& s, const Again& again) {
  const bool may_tell = lone_ || (!goes_back_ && !keeps_all());
  if (again.continuing && may_tell && run_cause_ == Cause::nak && naks_.find(again.psn) == nullptr) {
    went_on_repeating();
  }
  if (run_frame_ != s.number) {
    // Where no ID tells, that the sender goes on from there is what makes sure that it went back.
    const bool sure =
        lone_ && again.continuing && !again.ids_rise && run_cause_ == Cause::nak && !keeps_all();
    OpenNak* nak = sure ? naks_.find(run_nak_) : nullptr;
    if (nak != nullptr && nak->frame < run_frame_) naks_.consume(nak);
    lone_ = false;
  }
  if (!again.overtaken) run_next_ = again.psn + again.count;
  if (!again.ids_rise) skip_overtakers();
  repeated_to_ = std::max(repeated_to_, again.psn + again.count);
  last_repeat_ = s.number;
}

/// From here on the run may be the reaction to something that came while it was under way.
void PsnSpace::join_nak(const Step& s, const Again& again) {
  OpenNak* nak = naks_.up_to(again.psn);
  if (nak != nullptr && joins_run(*nak, again.psn, s.r) &&
      (nak->frame < run_frame_ || again.seen == nullptr || again.seen->frame < nak->frame)) {
    // It began earlier for an answer that is missing; from here on the NAK asked for it. Or the NAK is
    // still on its way, and the sender will go back once more.
    run_cause_ = Cause::nak;
    run_nak_ = again.psn;
    nak->passed = true;
    // What went by between the NAK and this was thrown away.
    forget_refused(again.psn);
  } else if (again.continuing && rnr_open_ && again.psn == rnr_psn_ && !rnr_waits(s.r.time_ns)) {
    run_cause_ = Cause::rnr;
    rnr_open_ = false;
  }
}

/// The run's cause, in the words that are used for this kind of request.
Cause PsnSpace::cause_of(const Step& s, const Again& again) const noexcept {
  // What was overtaken by the beginning of the present run belongs to the one before, or is its head.
  const bool head_of_run = again.psn < run_start_ && !behind(s.r.ip_id, id_before_run_);
  const bool of_last_run =
      again.overtaken && !head_of_run && last_run_cause_ != Cause::none && behind(s.r.ip_id, run_id_);
  struct Words {
    Cause run, of_read, of_other;
  };
  constexpr Words words[] = {
      {Cause::timeout, Cause::read_retry, Cause::timeout},
      {Cause::unknown, Cause::read_retry, Cause::unknown},
      {Cause::read_retry, Cause::read_retry, Cause::timeout},
  };
  const Cause run = of_last_run ? last_run_cause_ : run_cause_;
  // What goes with a READ that a later response made the sender issue again: no timer ran out.
  if (run == Cause::read_retry && run_implied_) return run;
  for (const Words& row : words) {
    if (row.run == run) return s.info.operation == Operation::read_request ? row.of_read : row.of_other;
  }
  return run;
}

/// The verdict. True if nothing was missing that it could bring.
bool PsnSpace::say_repeated(Step& s, const Again& again, Cause cause) {
  const std::int64_t psn = again.psn;
  s.verdict.set(Verdict::retransmission);
  s.verdict.cause = cause;
  if (again.seen != nullptr) {
    // What was doubted for a while may come here behind others.
    if (again.seen->frame < s.number) s.verdict.original = static_cast<std::uint32_t>(again.seen->frame);
  } else if (const Pending* op = s.info.operation == Operation::read_request ? pending(psn) : nullptr) {
    s.verdict.original = static_cast<std::uint32_t>(op->frame);  // issued again from its middle
  } else if (const AnsweredOperation* answered = find_answered(*std::as_const(answered_operations_), psn)) {
    s.verdict.original = static_cast<std::uint32_t>(answered->frame);  // long ago
  }
  const bool has_answer = answered_on_its_own(s.info.operation);
  const bool answer_missing = has_answer && answer_asked_again(s, psn, again.count);
  if (run_start_ == psn) run_for_answer_ = answer_missing;
  // What goes with a request whose answer is missing is repeated for good reason.
  const bool spurious = acked_known_ && psn + again.count <= acked_ && !(has_answer && run_for_answer_) &&
                        (again.hole == nullptr || again.hole->of_repeat);
  if (spurious) s.verdict.set(Verdict::spurious);
  return spurious;
}

/// What was missing at its place was lost before the capture, once for each pass that lacked it.
void PsnSpace::settle_holes(Step& s, const Again& again) {
  const Hole* hole = again.hole;
  if (hole != nullptr && (!again.overtaken || !hole->of_repeat)) {
    if (hole->called_missed) unlose(s, side_, Lost::by_capture, 1, hole->frame);
    if (!again.overtaken) settle_repeated(s, again);
    if (!hole->of_repeat) count_goodput(s);
  }
  if (again.overtaken) settle_overtaken(s, again);
}

void PsnSpace::remember_repeat(Step& s, const Again& again, Cause cause) {
  Seen now = seen_of(s, again.psn);
  now.cause = static_cast<std::uint8_t>(cause) & 7U;
  now.filled = again.hole != nullptr && !again.hole->of_repeat ? 1 : 0;
  now.late = again.overtaken ? 1 : 0;
  if (now.filled != 0) mend_message(s, again.psn, again.count, true);
  holes_.fill(again.psn, again.count);
  issue(s, again.psn, again.count, cause);
  sent_.put(now, needed_from(again.psn, s.shared.budget), s.shared.budget);
  Pending* op = answered_on_its_own(s.info.operation) ? asked_again(again.psn) : nullptr;
  if (op == nullptr) op = pending(again.psn);
  if (op != nullptr) op->retried = true;
  if (s.info.operation == Operation::read_request)
    reissued_->keep({again.psn, again.psn + again.count, s.number, s.r.time_ns});
}

SpuriousReason PsnSpace::needless_by(Cause cause) const noexcept {
  if (cause == Cause::nak) return SpuriousReason::nak;
  if (cause == Cause::rnr) return SpuriousReason::rnr;
  if (cause == Cause::read_retry) return SpuriousReason::read_answer;
  return run_implied_       ? SpuriousReason::atomic_answer
         : run_unheard_nak_ ? SpuriousReason::unheard_nak
                            : SpuriousReason::timer;
}

/// Go-back-N sends what had come as well: the receiver threw it away, or has it twice.
void PsnSpace::count_waste(Step& s, const Again& again, Cause cause, bool spurious) {
  count_repeat(s, side_, cause);
  if (!s.counts || (s.ruling != nullptr && s.ruling->what != episode::Ruling::What::repeat)) return;
  if (spurious) {
    happened(s, side_, Event::spurious);
    ++s.connection.requester[side_].trouble->needless[static_cast<std::size_t>(needless_by(cause))];
  }
  const bool thrown_away = cause == Cause::nak && again.seen != nullptr && again.psn != run_nak_ && !spurious;
  if (thrown_away) happened(s, side_, Event::wasted);
  Flow* flow = s.flow(side_);
  if (flow == nullptr) return;
  SequenceCounts& sequence = flow->sequence_to_change();
  if (spurious) ++sequence.spurious;
  if (thrown_away) {
    ++sequence.wasted_packets;
    sequence.wasted_bytes += s.r.wire;
  }
}

/// The repeat has come to where new packets begin.
void PsnSpace::end_run(const Step& s, const Again& again) {
  in_run_ = false;
  naks_.pass_before(run_frame_);
  next_ = std::max(next_, again.psn + again.count);
  message_known_ = true;
  inside_message_ = !s.info.ends_message();
  message_operation_ = s.info.operation;
}

/// Whether a run that began for another reason is the reaction to a NAK as well, from its PSN on.
bool PsnSpace::joins_run(const OpenNak& nak, std::int64_t psn, const PacketBrief& r) noexcept {
  if (nak.passed || nak.psn <= run_start_ || run_cause_ == Cause::nak || run_cause_ == Cause::rnr)
    return false;
  const bool exact = nak.psn == psn && !nak.for_rnr;
  const bool before = nak.frame < run_frame_;
  // A timer ran out, later than a sender reacts: the NAK did not come. Unless it goes back for an answer,
  // too.
  const Seen* start = sent_.find(run_start_);
  const bool by_timer = start != nullptr && run_cause_ == Cause::timeout && !reacts_by(nak, start->time_ns) &&
                        !answered_on_its_own(dissect::opcode_info(start->opcode).operation);
  if (before && by_timer) return false;
  const bool asked = exact || (before && nak.psn >= acked_);
  return asked && !(before && run_after_silence_) && !stale(nak, psn, r);
}

/// Without IDs a packet that comes after its NAK looks repeated. But a sender that goes back goes on from
/// there; where it goes on as before, the packet was only late.
void PsnSpace::take_back_lone_repeat(Step& s) {
  Seen* seen = sent_.find(run_start_);
  const bool lone = run_cause_ == Cause::nak && lone_ && seen != nullptr && seen->filled != 0 &&
                    seen->frame == run_frame_ && last_nak_.psn == run_start_;
  // Selective repeat sends it alone.
  const bool selective = keeps_all() || (!goes_back_ && reactions_ > 1);
  if (!lone || selective || request_facts_.ids_rise(s.r)) return;
  in_run_ = false;
  if (reactions_ < 2) {
    reactions_ = 0;
    reaction_ns_ = 0;
  }
  unlose_filled(s, *seen, side_);
  if (Pending* op = pending(run_start_); op != nullptr && op->first == run_start_) {
    op->start_ns = seen->time_ns;
    op->retried = false;
  }
  seen->late = 1;
  seen->cause = 0;
  if (naks_.find(last_nak_.psn) == nullptr) naks_.push(last_nak_);
  if (s.ruling != nullptr) return;
  if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(run_frame_)) {
      verdict->clear(Verdict::retransmission);
      verdict->cause = Cause::none;
      verdict->set(Verdict::out_of_order);
    }
  }
  if (!s.counts) return;
  s.shared.series.take_back(s.r.time_ns, &Series::Bucket::retransmitted, 1);
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
