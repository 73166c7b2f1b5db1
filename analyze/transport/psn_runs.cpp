// SPDX-License-Identifier: Apache-2.0
// Why a sender goes back: a run of repeats begins (IBTA 9.7.5.1, 9.7.5.2.8, 9.7.9.2).
#include <algorithm>
#include <array>
#include <utility>

#include "analyze/transport/psn_fast_path.hpp"

namespace roce::analyze {

using dissect::Operation;
using dissect::Position;

/// A stretch of requests is sent again, beginning here. Why?
void PsnSpace::start_run(Step& s, std::int64_t psn, const Seen* seen) {
  const PacketRecord& r = s.r;
  constexpr std::int64_t skipped_at_most = 1024;
  // The sender goes back to what was asked for, or to before it (its own oldest), or, when more was
  // confirmed since, to that; if none of these, the head of the run is missing.
  const auto reacts_to = [&](std::int64_t asked) {
    return psn <= asked || (acked_known_ && acked_ >= psn) || psn - asked <= skipped_at_most;
  };
  // What was taken for a copy was the first of the run.
  const bool copied_head = copy_was_head(psn);
  const std::int64_t head = copied_head ? last_copy_ : psn;
  OpenNak* asked = naks_.find(head);
  // Not just the one, but nothing before it either; unless a missing answer explains it better.
  const bool answer_missing =
      s.info.operation == Operation::read_request &&
      ((psn < acked_ && answers_.find(psn) == nullptr) || response_holes_.find(psn) != nullptr);
  if (asked == nullptr && !answer_missing && !keeps_all()) asked = naks_.up_to(psn);
  if (asked == nullptr && !answer_missing && begins_message_of_nak(psn, r.time_ns))
    asked = naks_.find(last_nak_.psn);
  // Answered here, and what the NAK asked for has come: in doubt only what comes as soon as reactions do.
  const bool answered = answered_on_its_own(s.info.operation) && psn < acked_;
  if (asked != nullptr && asked->psn < psn && answered && !reacts_by(*asked, r.time_ns)) asked = nullptr;
  if (asked != nullptr && !reacts_to(asked->psn)) asked = nullptr;
  if (asked != nullptr && asked->passed && asked->psn != psn && acked_ != psn) asked = nullptr;
  if (asked != nullptr && stale(*asked, head, r)) asked = nullptr;
  std::int64_t expected = -1;
  // Only what a NAK asked for was sent again: the responder keeps what comes early.
  const bool selective = in_run_ && lone_ && run_cause_ == Cause::nak && run_next_ < next_ && !goes_back_;
  if (run_frame_ > last_nak_.frame || acked_ >= nak_behind_) judge_keeping(s);
  keeps_early_ = !keeps_all() && selective && acked_known_ && psn == acked_;
  interrupt_run(s);
  last_run_cause_ = run_cause_;
  run_nak_before_ = run_cause_ == Cause::nak ? run_nak_ : -1;
  run_id_ = r.ip_id;
  // Sooner than coded, but for what was under way when the RNR NAK came: a sender that does not wait so long,
  // for no timer runs then.
  constexpr std::int64_t under_way_ns = 100'000;  // where reactions are not known
  const bool timed_rnr = r.time_ns != capture::no_time && rnr_time_ns_ != capture::no_time;
  const bool too_early = timed_rnr && psn == rnr_psn_ && asked == nullptr && !answer_missing &&
                         r.time_ns - rnr_time_ns_ >= (reactions_ == 0 ? under_way_ns : 2 * reaction_ns_);
  if (rnr_open_ && (too_early || !rnr_waits(r.time_ns)) && reacts_to(rnr_psn_)) {
    run_cause_ = Cause::rnr;
    rnr_open_ = false;
    run_nak_ = expected = rnr_psn_;
    // The twin of an RNR NAK makes the sender go back once more.
    if (!naks_.empty() && !naks_.newest().for_rnr) naks_.clear();
    Requester& requester = s.connection.requester[side_];
    const bool timed = r.time_ns != capture::no_time && rnr_time_ns_ != capture::no_time;
    if (s.counts && requester.trouble->rnr && timed && r.time_ns >= rnr_time_ns_) {
      requester.trouble->rnr->wait_ns.add(static_cast<std::uint64_t>(r.time_ns - rnr_time_ns_));
    }
  } else if (asked != nullptr) {
    run_cause_ = Cause::nak;
    run_nak_ = expected = asked->psn;
    const bool timed_nak =
        r.time_ns != capture::no_time && asked->time_ns != capture::no_time && r.time_ns >= asked->time_ns;
    const std::int64_t took = timed_nak ? r.time_ns - asked->time_ns : 0;
    if (asked->psn == psn && !asked->passed && took > 0) {
      constexpr std::int64_t longest_ns = 10'000'000'000;  // what is longer is no reaction
      if (reactions_ < 2) ++reactions_;
      const std::int64_t news = std::min(took, longest_ns);
      reaction_ns_ = reaction_ns_ == 0 ? news : reaction_ns_ + (news - reaction_ns_) / 8;
    }
    if (s.counts && !asked->for_rnr && timed_nak) {
      s.connection.requester[side_].trouble->nak_reaction_ns.add(static_cast<std::uint64_t>(took));
    }
    // Not back but on: this may still be the run before, and the reaction to come. Nor is it sure without
    // IDs that this is not the packet itself, late.
    if ((in_run_ && psn > run_next_) || !request_facts_.ids_rise(r)) {
      asked->passed = true;
    } else {
      naks_.consume(asked);
    }
  } else if (!answer_missing && nak_came_twice(head, r.time_ns)) {
    run_cause_ = Cause::nak;
    expected = run_nak_ = head;
  } else {
    run_nak_ = -1;
    run_cause_ = s.info.operation == Operation::read_request                               ? Cause::read_retry
                 : hears_answers(s) && !leaves_out_oldest(psn, r) && !began_before(psn, r) ? Cause::timeout
                                                                                           : Cause::unknown;
    if (acked_known_ && psn > acked_ && psn - acked_ <= skipped_at_most) expected = acked_;
  }
  const bool atomic = answered_on_its_own(s.info.operation) && s.info.operation != Operation::read_request;
  // An answer beyond it came since it was sent, and tells that its own is missing.
  const bool told =
      seen == nullptr || (last_answer_ns_ != capture::no_time && seen->time_ns < last_answer_ns_);
  const bool passed_over =
      atomic && told && run_nak_ < 0 && acked_known_ && acked_ > psn + 1 && !silent_before(r.time_ns);
  run_implied_ = passed_over || (run_cause_ == Cause::read_retry && implied_nak(r.time_ns, psn));
  if (acked_known_) expected = std::max(expected, std::min(acked_, psn));
  // Nobody answers any more: the requests, or the responses, are gone. What comes now answers the repeats.
  const bool no_answers =
      long_since(last_answer_ns_, r.time_ns, 4) && long_since(last_request_ns_, r.time_ns, 4);
  if (run_cause_ == Cause::nak || run_cause_ == Cause::rnr) forget_refused(psn);
  answers_given_up_ =
      no_answers && run_cause_ != Cause::nak && run_cause_ != Cause::rnr && !keeps_early_ && !keeps_all();
  if (answers_given_up_) give_up_answers();
  if (keeps_early_) expect_both(psn);
  if (run_cause_ != Cause::nak && run_cause_ != Cause::rnr && psn == acked_) waited_for_ = psn;
  happened(s, side_, Event::go_back_n);
  if (run_start_ == psn && run_acked_ == acked_) happened(s, side_, Event::go_back_n_no_progress);
  if (copied_head) {
    expected = -1;
    take_back_copy(s);
  }
  // A run that does not begin where it must: its head was lost on the way here.
  if (expected >= 0 && expected < psn) {
    holes_.add({expected, psn, r.time_ns, s.number, true, false, false, r.ip_id, false});
    note_gap(s, psn - expected);
  }
  run_start_ = head;
  run_frame_ = s.number;
  lone_ = true;
  run_after_silence_ = silent_before(r.time_ns);
  run_acked_ = acked_;
  in_run_ = true;
  new_since_run_ = false;
  run_unheard_nak_ = run_cause_ == Cause::timeout && nak_unheard();
  take_back_late_head(s, psn);
  follow_chain(s, psn, seen);
}

/// Where no ID tells, the first packet sent again looks like a copy if it comes soon; but a copy comes alone.
void PsnSpace::take_back_copy(Step& s) {
  const std::uint64_t frame = last_copy_frame_;
  last_copy_ = -1;
  if (request_facts_.doubled > 0) --request_facts_.doubled;
  if (s.ruling != nullptr) return;
  if (s.shared.verdicts != nullptr) {
    if (Verdict* verdict = s.shared.verdicts->at(frame)) {
      verdict->clear(Verdict::duplicate_network);
      verdict->set(Verdict::retransmission);
      verdict->cause = run_cause_;
    }
  }
  if (!s.counts) return;
  if (Flow* flow = s.flow(side_)) {
    std::uint64_t& sum = flow->sequence_to_change().duplicate_network;
    if (sum > 0) --sum;
  }
  s.connection.sent[side_].take_back(Event::duplicate_network, frame);
  count_repeat(s, side_, run_cause_);
}

/// Whether the sender must have heard of the NAK, though it is long past: who goes back to just where it
/// asked knows what it alone confirmed. Unless a first reaction was lost on the way here, and this is the
/// timer's.
bool PsnSpace::reacts_slowly(const OpenNak& nak, std::int64_t psn, const PacketBrief& r) const noexcept {
  constexpr std::int64_t sooner_than_timers_ns = 10'000'000;
  if (!nak.confirms || nak.passed || nak.psn != psn || acked_ != psn) return false;
  if (request_facts_.ids_rise(r)) return request_facts_.last_step == 1;
  return nak.time_ns != capture::no_time && r.time_ns != capture::no_time &&
         r.time_ns - nak.time_ns < sooner_than_timers_ns;
}

/// A NAK that is long past did not reach the sender, or had its reaction: it goes back, to `psn`, for its own
/// reasons.
bool PsnSpace::stale(const OpenNak& nak, std::int64_t psn, const PacketBrief& r) const noexcept {
  if (nak.passed) return !reacts_by(nak, r.time_ns);
  return long_since(nak.time_ns, r.time_ns, 16) && !reacts_slowly(nak, psn, r);
}

/// Nothing is sent again before the RNR timer ends; half of it, for clocks that differ.
bool PsnSpace::rnr_waits(std::int64_t time_ns) const noexcept {
  const bool timed = time_ns != capture::no_time && rnr_time_ns_ != capture::no_time;
  return timed && time_ns - rnr_time_ns_ < static_cast<std::int64_t>(rnr_wait_ns_ / 2);
}

bool PsnSpace::sooner_than_reactions(const OpenNak& nak, std::int64_t time_ns) const noexcept {
  return nak.time_ns != capture::no_time && time_ns != capture::no_time &&
         (time_ns - nak.time_ns) * 2 < reaction_ns_;
}

/// Whether a reaction to this NAK would come at about this time.
bool PsnSpace::reacts_by(const OpenNak& nak, std::int64_t time_ns) const noexcept {
  if (nak.time_ns == capture::no_time || time_ns == capture::no_time) return true;
  return reaction_ns_ == 0 ? !long_since(nak.time_ns, time_ns, 2) : time_ns - nak.time_ns < 4 * reaction_ns_;
}

/// Back to where the last NAK made the sender go, at once: no timer is that fast. The NAK came twice.
bool PsnSpace::nak_came_twice(std::int64_t psn, std::int64_t time_ns) const noexcept {
  const bool too_late = silent_before(time_ns) && !reacts_by(last_nak_, time_ns);
  if (in_run_ && run_cause_ == Cause::nak && psn == run_nak_) return !too_late;
  const bool there = psn == last_nak_.psn || (psn == acked_ && last_nak_.psn <= psn);
  return last_nak_.psn >= 0 && there && time_ns != capture::no_time && !last_nak_.for_rnr &&
         reacts_by(last_nak_, time_ns) && !silent_before(time_ns) && last_answer_ns_ != capture::no_time &&
         time_ns - last_answer_ns_ < silence_ns;
}

/// Whether a NAK would have been captured. Where nothing of the other direction was, long silence
/// still tells.
bool PsnSpace::hears_answers(const Step& s) const noexcept {
  constexpr std::int64_t long_silence_ns = 10'000'000;
  if (answers_cut_) return false;  // any of them may have been one
  if (answers_seen_ || s.flow(side_ ^ 1U) != nullptr) return true;
  return s.r.time_ns != capture::no_time && last_request_ns_ != capture::no_time &&
         s.r.time_ns - last_request_ns_ >= long_silence_ns;
}

/// Whether a READ issued again from there is the reaction to a response behind a missing one, which is an
/// implied NAK (IBTA 9.7.5.2.8): it comes soon after, where a timer starts anew with each response.
bool PsnSpace::implied_nak(std::int64_t time_ns, std::int64_t psn) const noexcept {
  constexpr std::int64_t slow_reaction_ns = 10'000'000;  // of a host; less than most timers
  return response_next_ > psn + 1 && time_ns != capture::no_time && last_answer_ns_ != capture::no_time &&
         time_ns - last_answer_ns_ < slow_reaction_ns;
}

/// Whether the sender goes back to the beginning of the message of which the last NAK asked for a later
/// packet, as some NICs do.
bool PsnSpace::begins_message_of_nak(std::int64_t psn, std::int64_t time_ns) noexcept {
  if (naks_.empty() || naks_.newest().psn != last_nak_.psn || silent_before(time_ns)) return false;
  const OpenNak& nak = naks_.newest();
  if (nak.psn <= psn || nak.for_rnr || nak.passed || !reacts_by(nak, time_ns)) return false;
  std::size_t i = pending_.size();
  while (i > 0 && pending_[i - 1].first > nak.psn) --i;
  return i > 0 && pending_[i - 1].first == psn;
}

/// Whether the sender goes back at once, though not to the oldest that is not confirmed, as a timer makes it
/// do: then a NAK, or an acknowledgement, was missed by the capture. Only where IDs leave no room for a head
/// that was lost.
bool PsnSpace::leaves_out_oldest(std::int64_t psn, const PacketBrief& r) const noexcept {
  return acked_known_ && psn > acked_ && !silent_before(r.time_ns) && request_facts_.ids_rise(r) &&
         request_facts_.last_step == 1;
}

/// Whether the sender goes back to before the capture, and not after silence: what made it do so is not in
/// it.
bool PsnSpace::began_before(std::int64_t psn, const PacketBrief& r) const noexcept {
  return psn < first_ && !silent_before(r.time_ns);
}

/// Whether a READ is issued again because the timer ran out.
bool PsnSpace::read_stood_still(const Step& s, std::int64_t psn) const noexcept {
  if (run_cause_ != Cause::read_retry || !run_after_silence_ || !hears_answers(s)) return false;
  if (last_answer_ns_ == capture::no_time) return true;
  const bool later_ones_came = response_next_ > psn + 1;
  return later_ones_came ? !implied_nak(s.r.time_ns, psn) : s.r.time_ns - last_answer_ns_ >= silence_ns;
}

/// Whether the last NAK, after which nothing was sent again, did not come: what it asked for is still
/// missing.
bool PsnSpace::nak_unheard() const noexcept {
  if (last_nak_.psn < 0 || last_nak_.for_rnr || !acked_known_ || last_nak_.psn != acked_) return false;
  return last_repeat_ < last_nak_.frame;
}

void PsnSpace::follow_chain(Step& s, std::int64_t psn, const Seen* seen) {
  if (run_cause_ == Cause::nak || run_cause_ == Cause::rnr) {
    chain_open_ = false;
    return;
  }
  const PacketRecord& r = s.r;
  Requester& requester = s.connection.requester[side_];
  if (s.counts && ((run_cause_ == Cause::timeout && !run_implied_) || read_stood_still(s, psn))) {
    ++requester.trouble->timeouts;
    if (run_cause_ == Cause::read_retry) ++requester.trouble->read_timeouts;
  }
  if (!chain_open_ || chain_psn_ != psn) {
    *chain_ = RetryChain{};
    chain_->psn = r.psn;
    chain_->opcode = r.opcode;
    chain_->first_frame = s.number;
    chain_->first_time_ns = r.time_ns;
    begin_chain(s, psn, seen);
    chain_->last_time_ns = chain_->first_time_ns;
    chain_psn_ = psn;
    chain_open_ = true;
    chain_->answered = acked_known_ && acked_ > psn;  // before it was repeated at all
    // Then the timer was not in vain.
    chain_->unheard_nak = run_unheard_nak_ ? last_nak_.frame : 0;
    chain_->needless = chain_->answered && chain_->unheard_nak == 0;
    if (s.counts) ++requester.trouble->chains;
  }
  // The responder waits for what does not come, and so for ever.
  const bool headless = acked_known_ && psn > acked_ && holes_.any_in(acked_, acked_ + 1);
  const auto missing = headless ? static_cast<std::uint32_t>(psn - acked_) : 0;
  chain_->missing_before = chain_->resends == 0 ? missing : std::min(chain_->missing_before, missing);
  const bool timed = r.time_ns != capture::no_time && chain_->last_time_ns != capture::no_time;
  if (timed && r.time_ns >= chain_->last_time_ns) {
    const auto spacing = static_cast<std::uint64_t>(r.time_ns - chain_->last_time_ns);
    // The first resend is timed from the last packet sent, not from the one that is repeated. Where each wait
    // is about twice the one before, it is the one to begin with all the same.
    const std::uint64_t first = std::exchange(chain_->first_spacing_ns, 0);
    if (chain_->resends == 0) {
      chain_->first_spacing_ns = spacing;
    } else {
      const bool doubles = spacing > chain_->max_spacing_ns * 3 / 2 && spacing > first * 3 / 2;
      if (doubles && chain_->resends == 1) chain_->first_spacing_ns = first;
      if (doubles && chain_->resends == 2 && first != 0) chain_->min_spacing_ns = first;
      chain_->min_spacing_ns =
          chain_->min_spacing_ns == 0 ? spacing : std::min(chain_->min_spacing_ns, spacing);
      chain_->max_spacing_ns = std::max(chain_->max_spacing_ns, spacing);
    }
  }
  ++chain_->resends;
  chain_->last_frame = s.number;
  chain_->last_time_ns = r.time_ns;
  if (s.counts) keep_if_worst(*requester.trouble);
}

/// The transmission that a new chain waited for: the last one that asks for `psn`. Of a READ, it may begin
/// before `psn`, and be reissued itself.
void PsnSpace::begin_chain(const Step& s, std::int64_t psn, const Seen* seen) {
  const auto from = [&](std::int64_t first, std::uint64_t frame, std::int64_t time_ns) {
    if (chain_->first_seen && frame <= chain_->first_frame) return;
    chain_->first_seen = true;
    chain_->first_frame = frame;
    chain_->first_time_ns = time_ns;
    chain_->reissued_after = static_cast<std::uint32_t>(psn - first);
  };
  if (seen != nullptr) from(psn, seen->frame, seen->time_ns);
  const bool read = s.info.operation == Operation::read_request;
  if (const Pending* op = read ? pending(psn) : nullptr; op != nullptr && op->first < psn) {
    from(op->first, op->frame, op->start_ns);
  } else if (const AnsweredOperation* answered = find_answered(*std::as_const(answered_operations_), psn);
             answered != nullptr && answered->first <= psn) {
    from(read ? answered->first : psn, answered->frame, answered->start_ns);
  }
  if (!read || !reissued_.there()) return;
  if (const ReissuedReads::Request* last = std::as_const(reissued_)->find(psn))
    from(last->first, last->frame, last->time_ns);
}

void PsnSpace::keep_if_worst(RequesterTrouble& trouble) const {
  RetryChain& worst = trouble.worst_chain;
  const bool same = worst.resends != 0 && worst.last_frame == chain_->last_frame;
  if (same || chain_->longer_than(worst)) worst = *chain_;
}

/// A READ or another request with answers of its own was issued again, for what is still missing of it
/// (IBTA 9.7.5.1.9). Whether an answer to it is known to be missing.
bool PsnSpace::answer_asked_again(Step& s, std::int64_t psn, std::int64_t count) {
  if (s.verdict.cause == Cause::nak || s.verdict.cause == Cause::rnr)
    return false;  // the responder never saw the first one
  const bool begins_run = run_start_ == psn;
  const Seen* before = sent_.find(psn);
  if (begins_run && before != nullptr && before->cause != 0 && before->time_ns != capture::no_time &&
      last_answer_ns_ != capture::no_time && last_answer_ns_ < before->time_ns) {
    return run_for_answer_;  // no answer since it was issued last: nothing that was not known then
  }
  if (begins_run) {
    // A second step back before any response to the first: what that one asked for came late.
    const Seen* came = answers_.find(again_from_);
    const bool responded = came != nullptr && came->frame > again_frame_;
    const bool again_too_soon = again_claimed_ && psn > again_from_ && psn <= again_to_ && !responded;
    if (again_too_soon) unlose(s, side_ ^ 1U, Lost::after_capture, 1, again_frame_, again_counted_);
    again_claimed_ = false;
    again_from_ = psn;
    again_to_ = psn + count;
    again_frame_ = s.number;
    if (again_too_soon) return true;
  }
  const Hole* missing = response_holes_.find(psn);
  if (missing != nullptr) {
    const bool timed = s.r.time_ns != capture::no_time && missing->time_ns != capture::no_time;
    if (timed && begins_run && s.r.time_ns > missing->time_ns)
      asked_again_after(s.r.time_ns - missing->time_ns);
    if (s.counts && timed && s.r.time_ns >= missing->time_ns && !missing->of_repeat) {
      s.connection.requester[side_].trouble->read_rerequest_ns.add(
          static_cast<std::uint64_t>(s.r.time_ns - missing->time_ns));
    }
    return true;
  }
  if (response_next_ <= psn) return true;  // no response yet
  const Seen* answer = answers_.find(psn);
  if (answer != nullptr && answer->late != 0) return true;
  if (answer == nullptr && psn < first_answer_)
    return true;                  // answered before the capture began, or lost then
  if (!begins_run) return false;  // only goes with the one that is missing
  // The response was captured, and the requester asks for it again. It has the ones before, or it
  // would ask for them too; or it saw a later one: this one was lost on the rest of the way.
  const Pending* op = pending(psn);
  const Seen* answer_before = answers_.find(psn - 1);
  // It went by with this one, when both were awaited, and much closer together than it took to ask again.
  const bool timed =
      answer != nullptr && s.r.time_ns != capture::no_time && answer->time_ns != capture::no_time;
  const bool both_awaited = timed && answer_before != nullptr && before != nullptr &&
                            answer_before->time_ns != capture::no_time &&
                            answer_before->time_ns >= before->time_ns;
  const bool went_together =
      both_awaited && s.r.time_ns - answer->time_ns > 2 * (answer->time_ns - answer_before->time_ns);
  const bool within_read = op != nullptr
                               ? psn > op->first
                               : answer != nullptr && !dissect::opcode_info(answer->opcode).starts_message();
  const bool has_those_before = within_read || went_together;
  constexpr std::int64_t at_once_ns = 10'000'000;  // a slow host's reaction; less than most timeouts
  const bool later_ones_went_by = response_next_ > psn + 1 && s.r.time_ns != capture::no_time &&
                                  last_answer_ns_ != capture::no_time &&
                                  s.r.time_ns - last_answer_ns_ < at_once_ns;
  if (!has_those_before && !later_ones_went_by) return false;
  // It came before one that comes before it: a requester that takes them in order had no use for it.
  bool too_early = false;
  constexpr std::int64_t looked_at = 512;
  if (answer != nullptr && answer_facts_.late != 0) {
    answers_.for_each_in(psn - looked_at, psn, [&](const Seen& seen) {
      too_early = too_early || (seen.late != 0 && seen.frame > answer->frame);
    });
  }
  if (too_early) return true;
  // What shows that it is missing is the next one.
  const Seen* next = answers_.find(psn + 1);
  const bool next_timed = next != nullptr && next->time_ns != capture::no_time;
  const std::int64_t since =
      timed ? s.r.time_ns - (next_timed ? std::max(next->time_ns, answer->time_ns) : answer->time_ns) : 0;
  if (answer != nullptr && answer->cause != 0) {
    // It was given again, but too late to be what is missed: the request crossed it.
    if (!timed || ask_again_ns_ == 0 || since < ask_again_ns_) return true;
  } else if (since > 0) {
    asked_again_after(since);
  }
  // Where a READ ends is not known: neither is whether the response before or behind it belongs to it.
  if (reads_cut_) return true;
  lose(s, side_ ^ 1U, Lost::after_capture, 1);
  s.shared.lost_answer = answer != nullptr ? answer->frame : 0;
  again_claimed_ = true;
  again_counted_ = s.counts;
  return true;
}

}  // namespace roce::analyze
