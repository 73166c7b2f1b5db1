// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/why_repeated.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace roce::analyze {
namespace {

using dissect::Operation;
using dissect::Psn;

constexpr std::int32_t in_flight = 1 << 16;           ///< PSNs, more than any sender may have
constexpr std::uint32_t most_looked_at = 4096;        ///< of them, for one repeat
constexpr std::int64_t soonest_timeout_ns = 100'000;  ///< no NIC's retry timer is shorter

RepeatRun::Evidence evidence_of(const Slot& slot, unsigned direction) noexcept {
  return {direction, slot.number, slot.opcode, slot.psn_space & (Psn::modulus - 1)};
}

/// As its sender's point shows it, or where only the other one does.
RepeatRun::Evidence evidence_of(const Answer& answer, unsigned request_direction) noexcept {
  const bool there = answer.outcome == Outcome::arrived;
  return {there ? request_direction : 1 - request_direction, there ? answer.arrival_number : answer.number,
          answer.opcode, answer.psn.value()};
}

/// Whether something is known to have happened between the points.
bool is_between(RepeatCause cause) noexcept {
  return cause == RepeatCause::lost_between || cause == RepeatCause::damaged_between ||
         cause == RepeatCause::trimmed_between || cause == RepeatCause::overtaken_between ||
         cause == RepeatCause::ack_lost_between || cause == RepeatCause::nak_lost_between ||
         cause == RepeatCause::response_lost_between;
}

}  // namespace

RepeatCause cause_if(Outcome outcome, RepeatCause if_lost) noexcept {
  if (outcome == Outcome::lost) return if_lost;
  if (outcome == Outcome::trimmed) return RepeatCause::trimmed_between;
  return outcome == Outcome::damaged ? RepeatCause::damaged_between : RepeatCause::unknown;
}

bool has_own_response(std::uint8_t opcode) noexcept {
  const dissect::OpcodeInfo& info = dissect::opcode_info(opcode);
  return info.operation == Operation::read_request || info.atomic;
}

/// A request that was sent again, and when.
struct WhyRepeated::Question {
  std::uint32_t flow = 0;
  Psn psn;
  std::uint8_t opcode = 0;
  std::int64_t time_ns = 0;
  unsigned direction = 0;
  const Slot* before = nullptr;
  std::uint32_t back = SentFlow::none;  ///< with the answers
  const SentFlow* answers = nullptr;    ///< that flow, if it is known
  std::optional<std::int64_t> waited_ns;
  std::int64_t sender_reaction_ns = 0;  ///< as NAKs show it; 0: not known
  std::int64_t reaction_ns = 0;         ///< an answer that came within it before the repeat was late
};

bool WhyRepeated::fits(const SentFlow& asking, const SentFlow& answering) const {
  const Range& sent = asking.sequence[requests];
  const Range& back = answering.confirmed;
  return sent.any && back.any && std::abs(sent.highest.distance_from(back.highest)) <= in_flight &&
         std::abs(sent.first.distance_from(back.first)) <= in_flight;
}

std::uint32_t WhyRepeated::partner_of(std::uint32_t place, Space own) {
  SentFlow& flow = sent_.flows[place];
  const auto suits = [&](const SentFlow& other) {
    return own == requests ? fits(flow, other) : fits(other, flow);
  };
  const std::uint32_t reverse = sent_.pairs[flow.pair].reverse;
  std::uint32_t any = SentFlow::none, on_port = SentFlow::none;
  bool several = false, several_on_port = false;
  if (reverse == SentFlow::none) return any;
  // There may be thousands: looked for again where there are twice as many, and more and more seldom in vain.
  const std::size_t count = sent_.pairs[reverse].flows.size();
  const bool more = count >= 2 * flow.partners_then[own];
  const std::uint32_t known = flow.partner[own];
  if (!more && known != SentFlow::none && suits(sent_.flows[known])) return known;
  constexpr std::size_t few = 16;
  if (!more && known == SentFlow::none && count > few && !std::has_single_bit(++flow.partner_asked[own]))
    return known;
  if (more) flow.partner_asked[own] = 0;
  flow.partners_then[own] = count;
  for (const std::uint32_t other : sent_.pairs[reverse].flows) {
    if (!suits(sent_.flows[other])) continue;
    several = any != SentFlow::none;
    any = other;
    if (sent_.flows[other].port != flow.port) continue;
    several_on_port = several_on_port || on_port != SentFlow::none;
    on_port = other;
  }
  if (several) any = several_on_port ? SentFlow::none : on_port;
  flow.partner[own] = any;
  return any;
}

/// Whether the first point did not show it, rather than that it is no longer remembered.
bool WhyRepeated::never_shown(std::uint32_t flow, unsigned space, Psn psn) const {
  const Range& sent = sent_.flows[flow].sequence[space];
  if (!sent.any || psn.distance_from(sent.first) < 0) return false;  // before the capture, perhaps
  const Slot& other = sent_.slots.at(flow, space, psn);
  if (other.flow == Slot::none) return true;
  // What is in its place now was there before one that was sent after it.
  constexpr std::uint32_t looked_at = 64;
  for (std::uint32_t i = 1; i <= looked_at; ++i) {
    const Slot* next = sent_.slots.find(flow, space, psn + i);
    if (next != nullptr && !next->repeat) return static_cast<std::int32_t>(next->turn - other.turn) > 0;
  }
  return false;
}

/// Whether what was sent behind it was shown so long before that a timer may have run out since.
bool WhyRepeated::sent_long_before(std::uint32_t flow, unsigned space, Psn psn, std::int64_t now_ns) const {
  constexpr std::uint32_t looked_at = 64;
  for (std::uint32_t i = 1; i <= looked_at; ++i) {
    const Slot* next = sent_.slots.find(flow, space, psn + i);
    if (next != nullptr && !next->repeat) return now_ns - next->time_ns >= soonest_timeout_ns;
  }
  return true;
}

RepeatReason WhyRepeated::of_nak(std::uint32_t flow, const Answer& nak, unsigned direction) const {
  const Slot* named = sent_.slots.find(flow, requests, nak.psn);
  RepeatReason reason;
  if (named == nullptr) {
    if (never_shown(flow, requests, nak.psn)) reason.cause = RepeatCause::lost_before;
    return reason;
  }
  const bool came_behind =
      named->outcome == Outcome::arrived && nak.number != 0 && named->arrival_ns > nak.time_ns;
  if (came_behind && named->repeat) {
    reason.cause = named->cause;  // it was under way again: the same NAK once more
    return reason;
  }
  reason.evidence = evidence_of(*named, direction);
  if (named->outcome != Outcome::arrived) {
    reason.cause = cause_if(named->outcome, RepeatCause::lost_between);
    return reason;
  }
  reason.cause = came_behind || named->overtaken ? RepeatCause::overtaken_between : RepeatCause::lost_behind;
  if (reason.cause == RepeatCause::overtaken_between) return reason;
  const LateArrival* late = late_beside(flow, requests, *named, nak.time_ns);
  if (late == nullptr) late = late_unconfirmed(flow, nak);
  if (late != nullptr) {
    reason.cause = RepeatCause::overtaken_between;
    reason.evidence = RepeatRun::Evidence{direction, late->first_number, late->opcode, late->psn.value()};
  }
  return reason;
}

/// A packet that others had overtaken before, which nothing had confirmed before the NAK: a slow responder
/// answers what came long ago. Or it was the one before what the NAK asks for: it was taken when it came, and
/// what had overtaken it had been thrown away by then.
const LateArrival* WhyRepeated::late_unconfirmed(std::uint32_t flow, const Answer& nak) const {
  const SentFlow& asking = sent_.flows[flow];
  if (asking.partner[requests] == SentFlow::none) return nullptr;
  std::optional<Psn> next;  // that the responder had told to expect
  for (const Answer& answer : sent_.flows[asking.partner[requests]].answers) {
    if (answer.number >= nak.number) break;
    next = answer.kind == AnswerKind::acknowledge || answer.data ? answer.psn + 1 : answer.psn;
  }
  const Slot* const before = request_of(flow, nak.psn + (Psn::modulus - 1));
  for (const LateArrival& late : asking.late[requests]) {
    const bool open = !next || late.psn.distance_from(*next) >= 0 ||
                      (before != nullptr && late.psn == Psn(before->psn_space));
    if (open && late.time_ns <= nak.time_ns && late.psn.distance_from(nak.psn) <= 0) return &late;
  }
  return nullptr;
}

/// A packet that others had overtaken and because of which the receiver took nothing from `slot`, which came
/// in order: it came when `slot` was the next one to come; or it was the next one itself, and came behind
/// `slot`.
const LateArrival* WhyRepeated::late_beside(std::uint32_t flow, Space space, const Slot& slot,
                                            std::int64_t until_ns) const {
  const Psn psn(slot.psn_space);
  const Slot* ahead = sent_.slots.find(flow, space, psn + (Psn::modulus - 1));
  for (const LateArrival& late : sent_.flows[flow].late[space]) {
    const bool before = late.time_ns < slot.arrival_ns;
    const bool from_ahead = late.psn.distance_from(psn) > 0;
    if (late.time_ns > until_ns || before != from_ahead) continue;
    // A repeat of the one ahead tells nothing of when it first came.
    if (!before || (ahead != nullptr && (ahead->repeat || late.time_ns >= ahead->arrival_ns))) return &late;
  }
  return nullptr;
}

/// Whether the answer has to do with this repeat: one that came before the transmission before does not, nor
/// one that was lost before that had arrived.
bool WhyRepeated::concerns(const Question& q, const Answer& answer) {
  if (q.before == nullptr || q.before->number == 0) return true;
  // What came within the reaction time was not heard of yet when that was sent.
  if (answer.outcome == Outcome::arrived) return answer.arrival_ns > q.before->time_ns - q.sender_reaction_ns;
  return q.before->outcome != Outcome::arrived || answer.number == 0 ||
         answer.time_ns >= q.before->arrival_ns;
}

std::optional<RepeatReason> WhyRepeated::by_naks(const Question& q) {
  const Answer *nak = nullptr, *lost = nullptr, *not_ready = nullptr;
  SentFlow& flow = sent_.flows[q.flow];
  const Range& sent = flow.sequence[requests];
  for (const Answer& answer : q.answers->answers) {
    if (answer.kind != AnswerKind::nak && answer.kind != AnswerKind::receiver_not_ready) continue;
    if (answer.psn.distance_from(q.psn) < 0 || answer.psn.distance_from(sent.highest) > 0) continue;
    if (!concerns(q, answer)) continue;
    if (answer.kind == AnswerKind::receiver_not_ready && answer.psn == q.psn) not_ready = &answer;
    // Where one NAK followed another, the sender went back to the first one's.
    const Answer*& one = answer.outcome == Outcome::arrived ? nak : lost;
    if (one == nullptr || answer.psn.distance_from(one->psn) <= 0) one = &answer;
  }
  if (nak == nullptr && lost == nullptr) return std::nullopt;
  RepeatReason reason;
  if (not_ready != nullptr && nak != nullptr) {
    reason.cause = RepeatCause::receiver_not_ready;
    reason.evidence = evidence_of(*not_ready, q.direction);
    return reason;
  }
  if (nak != nullptr && nak->psn == q.psn && nak->arrival_ns <= q.time_ns)
    flow.reaction_ns = std::min(flow.reaction_ns.value_or(INT64_MAX), q.time_ns - nak->arrival_ns);
  reason = of_nak(q.flow, nak != nullptr ? *nak : *lost, q.direction);
  if (nak != nullptr) return reason;
  reason.nak_lost = true;
  reason.waited_ns = q.waited_ns;
  if (reason.cause == RepeatCause::lost_behind || not_ready != nullptr) {
    reason.cause = cause_if(lost->outcome, RepeatCause::nak_lost_between);
    reason.evidence = evidence_of(*lost, q.direction);
  }
  return reason;
}

/// Of a READ or ATOMIC: the first of its responses that its requester cannot have had in time and in order.
std::optional<RepeatReason> WhyRepeated::by_responses(const Question& q) const {
  RepeatReason reason;
  const Slot* first = nullptr;
  for (std::uint32_t i = 0; i < most_looked_at; ++i) {
    const Psn psn = q.psn + i;
    if (i != 0 && sent_.slots.find(q.flow, requests, psn) != nullptr) break;  // the next request
    const Slot* slot = sent_.slots.find(q.back, answers, psn);
    if (slot == nullptr) break;
    if (q.before != nullptr && q.before->outcome == Outcome::arrived && slot->number != 0 &&
        slot->time_ns < q.before->arrival_ns)
      break;  // to another transmission of the request
    if (first == nullptr) first = slot;
    if (slot->outcome == Outcome::arrived && !slot->overtaken &&
        slot->arrival_ns <= q.time_ns - q.reaction_ns)
      continue;
    reason.evidence = evidence_of(*slot, 1 - q.direction);
    if (slot->outcome != Outcome::arrived) {
      reason.cause = cause_if(slot->outcome, RepeatCause::response_lost_between);
    } else if (slot->overtaken) {
      reason.cause = RepeatCause::overtaken_between;
    } else {
      reason.cause = RepeatCause::answer_late;
      reason.waited_ns = q.waited_ns;
      reason.passed = slot->arrival_ns <= q.time_ns;
      if (q.before != nullptr && q.before->number != 0)
        reason.answered_ns = slot->arrival_ns - q.before->time_ns;
    }
    return reason;
  }
  if (first == nullptr) return std::nullopt;
  reason.cause = RepeatCause::answer_passed;
  reason.passed = true;
  reason.evidence = evidence_of(*first, 1 - q.direction);
  if (const LateArrival* late = late_beside(q.back, answers, *first, q.time_ns)) {
    reason.cause = RepeatCause::overtaken_between;
    reason.evidence =
        RepeatRun::Evidence{1 - q.direction, late->first_number, late->opcode, late->psn.value()};
  }
  return reason;
}

std::optional<RepeatReason> WhyRepeated::by_acknowledges(const Question& q) const {
  const Answer *arrived = nullptr, *lost = nullptr;
  bool untold = false;
  for (const Answer& answer : q.answers->answers) {
    const bool confirms = answer.data || answer.kind == AnswerKind::acknowledge;
    if (answer.psn.distance_from(q.psn) < 0 || !concerns(q, answer)) continue;
    if (answer.outcome == Outcome::unknown || (!confirms && answer.kind == AnswerKind::other)) {
      untold = true;
    } else if (confirms && answer.outcome == Outcome::arrived) {
      if (arrived == nullptr || answer.arrival_ns < arrived->arrival_ns) arrived = &answer;
    } else if (confirms) {
      lost = &answer;
    }
  }
  RepeatReason reason;
  reason.waited_ns = q.waited_ns;
  if (arrived != nullptr) {
    const bool late = arrived->arrival_ns > q.time_ns - q.reaction_ns;
    reason.cause = late ? RepeatCause::answer_late : RepeatCause::answer_passed;
    reason.passed = arrived->arrival_ns <= q.time_ns;
    reason.evidence = evidence_of(*arrived, q.direction);
    if (late && q.before != nullptr && q.before->number != 0 && arrived->arrival_ns > q.before->time_ns)
      reason.answered_ns = arrived->arrival_ns - q.before->time_ns;
    return reason;
  }
  if (untold) return reason;
  if (lost == nullptr) return std::nullopt;
  reason.cause = cause_if(lost->outcome, RepeatCause::ack_lost_between);
  reason.evidence = evidence_of(*lost, q.direction);
  return reason;
}

/// A sender goes back to the oldest packet that it knows of no answer to, whichever was lost behind it.
std::optional<RepeatReason> WhyRepeated::by_later_requests(const Question& q) const {
  // The responses to the last READ go on behind it.
  std::int32_t count = sent_.flows[q.flow].sequence[requests].highest.distance_from(q.psn);
  if (q.answers != nullptr && q.answers->sequence[answers].any)
    count = std::max(count, q.answers->sequence[answers].highest.distance_from(q.psn));
  count = std::min<std::int32_t>(count, most_looked_at);
  for (std::int32_t i = 1; i <= count; ++i) {
    const Psn psn = q.psn + static_cast<std::uint32_t>(i);
    RepeatReason reason;
    const Slot* slot = sent_.slots.find(q.flow, requests, psn);
    const Slot* answer = q.back == SentFlow::none ? nullptr : sent_.slots.find(q.back, answers, psn);
    if (slot != nullptr && slot->stayed_between()) {
      reason.cause = cause_if(slot->outcome, RepeatCause::lost_between);
      reason.evidence = evidence_of(*slot, q.direction);
    } else if (answer != nullptr && q.before != nullptr && answer->time_ns > q.before->arrival_ns &&
               (answer->stayed_between() || answer->overtaken)) {
      reason.cause = answer->overtaken ? RepeatCause::overtaken_between
                                       : cause_if(answer->outcome, RepeatCause::response_lost_between);
      reason.evidence = evidence_of(*answer, 1 - q.direction);
    } else {
      continue;
    }
    reason.waited_ns = q.waited_ns;
    return reason;
  }
  return std::nullopt;
}

RepeatReason WhyRepeated::of_request(const Passage& passage, const Slot* before, unsigned direction) {
  SentFlow& flow = sent_.flows[passage.flow];
  Question q;
  q.flow = passage.flow;
  q.psn = Psn(passage.psn);
  q.opcode = passage.opcode;
  q.time_ns = passage.time_ns;
  q.direction = direction;
  q.before = before;
  q.back = partner_of(passage.flow, requests);
  if (q.back != SentFlow::none) q.answers = &sent_.flows[q.back];
  if (before != nullptr && before->number != 0) {
    // Its timer starts anew with each answer that moves it forward.
    std::int64_t waited_ns = q.time_ns - before->time_ns;
    if (q.answers != nullptr && q.answers->heard && q.answers->heard_ns <= q.time_ns)
      waited_ns = std::min(waited_ns, q.time_ns - q.answers->heard_ns);
    q.waited_ns = waited_ns;
    constexpr std::int64_t part = 8;  // where no NAK showed it: a way that is short against the timer
    q.sender_reaction_ns = flow.reaction_ns.value_or(0);
    q.reaction_ns = flow.reaction_ns.value_or(waited_ns / part);
  }
  RepeatReason reason;
  const bool own_response = has_own_response(passage.opcode);
  if (before == nullptr && !own_response) {
    // Without either it may only have been overtaken upstream.
    const auto names_it = [&](const Answer& answer) {
      return answer.kind == AnswerKind::nak && answer.psn == q.psn;
    };
    const bool asked_for =
        sent_long_before(passage.flow, requests, q.psn, q.time_ns) ||
        (q.answers != nullptr && std::any_of(q.answers->answers.begin(), q.answers->answers.end(), names_it));
    if (asked_for && never_shown(passage.flow, requests, q.psn)) reason.cause = RepeatCause::lost_before;
  } else if (before != nullptr && before->outcome == Outcome::unknown) {
    reason.cause = RepeatCause::unknown;
  } else {
    std::optional<RepeatReason> found;
    if (q.answers != nullptr) {
      found = by_naks(q);
      if (!found) found = own_response ? by_responses(q) : by_acknowledges(q);
    }
    const bool stayed = before != nullptr && before->stayed_between();
    // What was answered did arrive, and the capture missed it; unless that was an earlier transmission.
    const bool answered =
        found && before != nullptr && !before->any_arrived &&
        (found->cause == RepeatCause::ack_lost_between ||
         found->cause == RepeatCause::response_lost_between || found->cause == RepeatCause::answer_late ||
         found->cause == RepeatCause::answer_passed || found->cause == RepeatCause::receiver_not_ready);
    if (stayed && !answered) {
      reason.cause = cause_if(before->outcome, RepeatCause::lost_between);
      reason.evidence = evidence_of(*before, direction);
      reason.nak_lost = found && found->nak_lost;
      if (!found || found->nak_lost) reason.waited_ns = q.waited_ns;
    } else if (found && (found->passed ||
                         (found->cause == RepeatCause::answer_late && before != nullptr && before->repeat))) {
      const auto later = by_later_requests(q);
      reason = later.value_or(*found);
      // Once more for the same: what was lost then has been sent again since, and hides it.
      if (!later && before != nullptr && before->repeat && is_between(before->cause))
        reason.cause = before->cause;
    } else if (found) {
      reason = *found;
    } else if (before == nullptr) {
      reason.cause = RepeatCause::unknown;  // a READ for the rest of another one
    } else if (const auto later = by_later_requests(q)) {
      reason = *later;
    } else {
      reason.waited_ns = q.waited_ns;
      reason.evidence = evidence_of(*before, direction);
      reason.settled = false;
    }
  }
  return reason;
}

const Slot* WhyRepeated::request_of(std::uint32_t flow, Psn psn) const {
  for (std::uint32_t i = 0; i < most_looked_at; ++i) {
    const Slot* slot = sent_.slots.find(flow, requests, psn + (Psn::modulus - i));
    if (slot != nullptr) return slot;
  }
  return nullptr;
}

RepeatReason WhyRepeated::of_response(const Passage& passage, const Slot* before, unsigned direction) const {
  RepeatReason reason;
  if (before == nullptr) {
    if (never_shown(passage.flow, answers, Psn(passage.psn))) reason.cause = RepeatCause::lost_before;
    return reason;
  }
  reason.evidence = evidence_of(*before, direction);
  if (before->outcome != Outcome::arrived) {
    reason.cause = cause_if(before->outcome, RepeatCause::response_lost_between);
  } else {
    reason.cause = before->overtaken ? RepeatCause::overtaken_between : RepeatCause::lost_behind;
  }
  return reason;
}

}  // namespace roce::analyze
