// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/repeat_runs.hpp"

#include <algorithm>
#include <utility>

namespace roce::analyze {
namespace {

using dissect::Psn;

/// The same cause, told of the other direction: a response that is repeated because its request was.
RepeatCause seen_from_response(RepeatCause cause) noexcept {
  switch (cause) {
    case RepeatCause::lost_before:
      return RepeatCause::lost_behind;
    case RepeatCause::lost_behind:
      return RepeatCause::lost_before;
    default:
      return cause;
  }
}

}  // namespace

/// Whether it answers that request, or one behind it.
bool RepeatRuns::confirms(const Open& one, const Answer& answer) noexcept {
  if (one.own_response) return answer.data && answer.psn == one.asked;
  return answer.kind != AnswerKind::nak && answer.kind != AnswerKind::receiver_not_ready &&
         answer.psn.distance_from(one.asked) >= 0;
}

std::uint32_t RepeatRuns::open(const Passage& passage, const Slot* before, unsigned direction,
                               const RepeatReason& reason) {
  std::uint32_t place = static_cast<std::uint32_t>(open_.size());
  if (free_.empty()) {
    open_.emplace_back();
  } else {
    place = free_.back();
    free_.pop_back();
  }
  Open& made = open_[place] = {};
  RepeatRun& run = made.run;
  run.key = sent_.flows[passage.flow].key;
  run.direction = direction;
  run.cause = reason.cause;
  run.nak_lost = reason.nak_lost;
  run.evidence = reason.evidence;
  run.waited_ns = reason.waited_ns;
  run.answered_ns = reason.answered_ns;
  run.opcode = passage.opcode;
  run.packet = passage.number;
  run.psn = passage.psn;
  run.time_ns = passage.time_ns;
  if (before != nullptr && before->number != 0) run.original = before->number;
  if (list_.size() < limit_) {
    made.listed = list_.size();
    list_.emplace_back();
  }
  return place;
}

/// A response comes again because its request does; that has a cause of its own, unless the response has one.
RepeatReason RepeatRuns::reason_of_response(const Passage& passage, const Slot* before, unsigned direction) {
  follows_.reset();
  RepeatReason reason = why_.of_response(passage, before, direction);
  if (reason.cause != RepeatCause::lost_behind) return reason;
  const std::uint32_t asking = why_.partner_of(passage.flow, answers);
  const Slot* request = asking == SentFlow::none ? nullptr : why_.request_of(asking, Psn(passage.psn));
  if (request == nullptr || !request->repeat) return reason.cause = RepeatCause::unknown, reason;
  for (const std::uint32_t waiting : sent_.flows[asking].waiting) {
    const Open& other = open_[waiting];
    if (other.run.direction == direction) continue;
    if (Psn(request->psn_space).distance_from(other.asked) >= 0) follows_ = waiting;
  }
  reason.cause = follows_ ? RepeatCause::unknown : seen_from_response(request->cause);
  return reason;
}

RepeatCause RepeatRuns::repeat(const Passage& passage, Space space, const Slot* before, unsigned direction) {
  Sequence& sequence = sent_.flows[passage.flow].sequence[space];
  const Psn psn(passage.psn);
  const bool goes_on = sequence.run && psn.distance_from(Psn(open_[*sequence.run].run.last_psn)) > 0;
  const bool itself = before != nullptr && before->stayed_between();
  const auto has_cause = [&](RepeatCause cause) { return open_[*sequence.run].run.cause == cause; };
  const RepeatCause lost = space == answers ? RepeatCause::response_lost_between : RepeatCause::lost_between;
  if (!goes_on || (itself && !has_cause(cause_if(before->outcome, lost)))) {
    end(sequence);
    const bool reliable = dissect::opcode_info(passage.opcode).service != dissect::Service::uc;
    RepeatReason reason;
    if (reliable) {
      reason = space == requests ? why_.of_request(passage, before, direction)
                                 : reason_of_response(passage, before, direction);
    }
    const std::uint32_t place = open(passage, before, direction, reason);
    if (!reason.settled && before != nullptr) wait(place, passage.flow, passage, *before);
    if (reliable && space == answers && follows_) wait_with(place, *std::exchange(follows_, std::nullopt));
    sequence.run = place;
  }
  RepeatRun& run = open_[*sequence.run].run;
  run.last_psn = passage.psn;
  run.last_packet = passage.number;
  ++run.packets;
  return run.cause;
}

std::optional<RepeatCause> RepeatRuns::asks_again(const Passage& passage, unsigned direction) {
  const std::uint32_t back = why_.partner_of(passage.flow, requests);
  if (back == SentFlow::none || sent_.slots.find(back, answers, Psn(passage.psn)) == nullptr)
    return std::nullopt;
  return why_.of_request(passage, nullptr, direction).cause;
}

void RepeatRuns::wait(std::uint32_t place, std::uint32_t requests_of, const Passage& passage,
                      const Slot& before) {
  std::vector<std::uint32_t>& waiting = sent_.flows[requests_of].waiting;
  if (waiting_ >= most_waiting_of_all) return;
  // Nothing told it for that long.
  if (waiting.size() >= most_waiting) settle(waiting.front(), at_last(open_[waiting.front()]));
  waiting.push_back(place);
  Open& made = open_[place];
  made.requests_of = requests_of;
  made.waits = true;
  ++waiting_;
  made.asked = Psn(passage.psn);
  made.own_response = has_own_response(passage.opcode);
  if (before.number != 0) made.sent_ns = before.time_ns;
  made.arrived_ns = before.arrival_ns;
  if (passage.arrived()) made.again_ns = passage.arrival_ns;
  made.request_direction = made.run.direction;
  SentFlow& asked = sent_.flows[requests_of];
  const Slot* next = sent_.slots.find(requests_of, requests, made.asked + 1);
  made.followed = next != nullptr && next->outcome == Outcome::arrived &&
                  next->arrival_ns > made.arrived_ns && (!made.again_ns || next->arrival_ns < *made.again_ns);
  const std::uint32_t back = why_.partner_of(requests_of, requests);
  if (back == SentFlow::none) {
    if (!std::exchange(asked.unpaired, true)) ++unpaired_;
    return;
  }
  sent_.flows[back].partner[answers] = requests_of;
}

void RepeatRuns::wait_with(std::uint32_t place, std::uint32_t request_run) {
  const std::uint32_t requests_of = open_[request_run].requests_of;
  std::vector<std::uint32_t>& waiting = sent_.flows[requests_of].waiting;
  if (waiting.size() >= most_waiting || waiting_ >= most_waiting_of_all) return;
  Open& made = open_[place];
  const Open& other = open_[request_run];
  made.requests_of = requests_of;
  made.waits = true;
  ++waiting_;
  made.asked = other.asked;
  made.own_response = other.own_response;
  made.sent_ns = other.sent_ns;
  made.arrived_ns = other.arrived_ns;
  made.again_ns = other.again_ns;
  made.request_direction = other.request_direction;
  made.answers = other.answers;
  made.again = other.again;
  made.followed = other.followed;
  waiting.push_back(place);
}

void RepeatRuns::end(Sequence& sequence) {
  if (!sequence.run) return;
  Open& run = open_[*sequence.run];
  run.goes_on = false;
  if (!run.waits) close(*sequence.run);
  sequence.run.reset();
}

/// What an answer that is given after the request had passed both points tells of its repeat.
std::optional<RepeatReason> RepeatRuns::told_by(const Open& open, std::uint32_t requests_of,
                                                const Answer& answer) const {
  if (answer.number == 0 || answer.time_ns < open.arrived_ns) return std::nullopt;
  const std::int32_t behind = answer.psn.distance_from(open.asked);
  if (behind < 0 || (open.own_response && answer.kind == AnswerKind::other && behind != 0))
    return std::nullopt;
  const bool early = !open.again_ns || answer.time_ns < *open.again_ns;  // before the repeat came
  RepeatReason reason;
  reason.waited_ns = open.run.waited_ns;
  reason.evidence =
      RepeatRun::Evidence{1 - open.request_direction, answer.number, answer.opcode, answer.psn.value()};
  if (answer.kind == AnswerKind::receiver_not_ready) {
    if (behind != 0) return std::nullopt;
    reason.cause = RepeatCause::receiver_not_ready;
    return reason;
  }
  if (answer.kind == AnswerKind::nak) {
    if (!early) return std::nullopt;
    return why_.of_nak(requests_of, answer, open.request_direction);
  }
  if (open.own_response && !answer.data) return std::nullopt;  // an ACK answers no READ
  if (!early) return std::nullopt;
  if (answer.outcome != Outcome::arrived && answer.outcome != Outcome::unknown) {
    reason.cause = cause_if(answer.outcome,
                            answer.data ? RepeatCause::response_lost_between : RepeatCause::ack_lost_between);
    return reason;
  }
  reason.cause = RepeatCause::answer_late;
  if (answer.outcome == Outcome::arrived) {
    reason.evidence->point = open.request_direction;
    reason.evidence->packet = answer.arrival_number;
    if (open.sent_ns) reason.answered_ns = answer.arrival_ns - *open.sent_ns;
  }
  return reason;
}

void RepeatRuns::answered(std::uint32_t flow, const Answer& answer) {
  std::uint32_t requests_of = sent_.flows[flow].partner[answers];
  if (requests_of == SentFlow::none) {
    if (unpaired_ == 0) return;
    requests_of = why_.partner_of(flow, answers);
    if (requests_of == SentFlow::none) return;
    if (std::exchange(sent_.flows[requests_of].unpaired, false)) --unpaired_;
  }
  std::vector<std::uint32_t>& waiting = sent_.flows[requests_of].waiting;
  const std::vector<std::uint32_t> now = waiting;
  for (const std::uint32_t place : now) {
    Open& one = open_[place];
    if (!one.waits) continue;
    if (const std::optional<RepeatReason> reason = told_by(one, requests_of, answer)) {
      settle(place, *reason);
      continue;
    }
    if (answer.number != 0 && confirms(one, answer)) {
      one.again += answer.again || (one.own_response && one.answers != 0) ? 1U : 0U;
      ++one.answers;
    }
    // The responder has come to what was sent behind all repeats.
    const SentFlow& asked = sent_.flows[requests_of];
    if (asked.after_repeats && answer.psn.distance_from(*asked.after_repeats) >= 0)
      settle(place, at_last(one));
  }
}

/// What the answers tell that were given after the repeat had come. A responder that got both transmissions
/// answers twice, and the second answer confirms nothing new (IBTA 9.7.5.1.4). One that lacked it would have
/// sent a NAK when others followed it; one that keeps these confirms nothing new until it has it.
RepeatReason RepeatRuns::at_last(const Open& one) const {
  RepeatReason reason;
  reason.waited_ns = one.run.waited_ns;
  reason.evidence = one.run.evidence;
  if (one.answers == 0) return reason;
  if (one.again == 0 && !one.followed) {
    reason.cause = RepeatCause::lost_behind;
  } else if (one.again != 0) {
    reason.cause = RepeatCause::answer_late;
  }
  return reason;
}

void RepeatRuns::settle(std::uint32_t place, const RepeatReason& reason) {
  Open& one = open_[place];
  std::erase(sent_.flows[one.requests_of].waiting, place);
  RepeatRun& run = one.run;
  run.cause = run.direction == one.request_direction ? reason.cause : seen_from_response(reason.cause);
  if (reason.evidence) run.evidence = reason.evidence;
  run.waited_ns = run.direction == one.request_direction ? reason.waited_ns : std::nullopt;
  run.answered_ns = reason.answered_ns;
  one.waits = false;
  --waiting_;
  if (!one.goes_on) close(place);
}

void RepeatRuns::close(std::uint32_t place) {
  Open& one = open_[place];
  counts_[one.run.direction].of[static_cast<std::size_t>(one.run.cause)] += one.run.packets;
  if (one.listed) {
    list_[*one.listed] = std::move(one.run);
  } else {
    omitted_ += one.run.packets;
  }
  free_.push_back(place);
}

void RepeatRuns::finish(const std::optional<std::int64_t> (&ends_ns)[2], CompareResult& result) {
  for (SentFlow& flow : sent_.flows) {
    const std::vector<std::uint32_t> waiting = flow.waiting;
    for (const std::uint32_t place : waiting) {
      // Not answered at all: lost, unless a capture ended before it could be.
      const Open& one = open_[place];
      const std::int64_t waited_ns = one.run.waited_ns.value_or(0);
      const auto went_on = [&](unsigned point, std::int64_t from_ns) {
        return ends_ns[point] && *ends_ns[point] - from_ns > waited_ns;
      };
      // The answer passes the second point first.
      const bool in_time = waited_ns > 0 && went_on(one.run.direction, one.run.time_ns) &&
                           went_on(1 - one.request_direction, one.arrived_ns);
      RepeatReason reason = at_last(one);
      if (one.answers == 0 && in_time) reason.cause = RepeatCause::lost_behind;
      settle(place, reason);
    }
    for (Sequence& sequence : flow.sequence) end(sequence);
  }
  for (unsigned direction = 0; direction < 2; ++direction)
    result.directions[direction].repeats = counts_[direction];
  result.repeats = std::move(list_);
  result.repeats_omitted = omitted_;
}

}  // namespace roce::analyze
