// SPDX-License-Identifier: Apache-2.0
// What a requester makes of answers.
#include <algorithm>

#include "tests/support/fault_requester.hpp"

namespace roce::support {

// The first READ or atomic response that is missing before `end`.
std::optional<std::uint32_t> Requester::first_unanswered(std::uint32_t end) const {
  for (const Message& message : messages_) {
    if (!psn_before(message.first_psn, end)) {
      break;
    }
    const std::uint32_t psn = psn_before(message.first_psn, una_) ? una_ : message.first_psn;
    if (is_answered_apart(message.kind) && psn_before(psn, end)) {
      return psn;
    }
  }
  return std::nullopt;
}

void Requester::receive(World& world, const Packet& response) {
  if (psn_before(response.psn, una_)) {
    world.not_needed(response);
  }
  if (world.state_of(space_, requester_of(space_)) != EndState::working || psn_before(response.psn, una_) ||
      !psn_before(response.psn, high_)) {
    return;  // old, or for what was never sent
  }
  if (response.kind == Kind::access_nak) {
    advance(world, first_unanswered(response.psn).value_or(response.psn));
    give_up(world, EndState::access_error);
  } else if (!keeps_early(world.options.recovery)) {
    receive_in_order(world, response);
  } else {
    receive_in_any_order(world, response);
  }
}

void Requester::receive_in_order(World& world, const Packet& response) {
  const std::uint32_t end = response.kind == Kind::ack ? psn_add(response.psn, 1) : response.psn;
  const std::optional<std::uint32_t> unanswered = first_unanswered(end);
  if (unanswered) {
    advance(world, *unanswered);
  } else if (fills_psn(response.kind)) {
    if (!is_answered_apart(message_at(response.psn).kind)) {
      return;
    }
    advance(world, psn_add(response.psn, 1));
  } else {
    advance(world, end);
  }
  if (response.kind == Kind::sequence_nak || response.kind == Kind::rnr_nak) {
    receive_nak(world, response, unanswered);
  } else if (unanswered && implied_ != unanswered && psn_before(*unanswered, next_) && !rnr_wait_ &&
             (went_back_ == 0 || world.now - went_back_ >= world.options.implied_guard)) {
    // What arrives soon after going back answers what was sent before.
    go_back(world, *unanswered, {.cause = Cause::read_retry});
    implied_ = unanswered;  // once a hole; then the timer decides
  }
}

// A responder that sends a NAK for every early packet means the same hole until the repeat can have arrived.
bool Requester::takes_nak(const World& world, std::uint32_t psn) {
  const FaultOptions& options = world.options;
  const Time round_trip = 2 * (options.latency_a + options.latency_b);
  if (options.nak_every && nak_taken_ == psn &&
      world.now - nak_taken_at_ < round_trip + options.reaction + options.implied_guard) {
    return false;
  }
  nak_taken_ = psn;
  nak_taken_at_ = world.now;
  return true;
}

void Requester::receive_nak(World& world, const Packet& response, std::optional<std::uint32_t> unanswered) {
  if (rnr_wait_) {
    return;  // the resend is settled
  }
  const bool rnr = response.kind == Kind::rnr_nak;
  Trigger trigger{.cause = rnr ? Cause::rnr : Cause::nak, .captured = response.frame != 0};
  if (unanswered) {
    trigger = {.cause = Cause::read_retry,
               .with_nak = true,
               .nak_cause = trigger.cause,
               .nak_captured = trigger.captured,
               .nak_psn = response.psn};
  }
  if (!rnr) {
    if (!takes_nak(world, response.psn)) {
      return;
    }
    const bool asked_again = unanswered && implied_ == unanswered && psn_before(*unanswered, next_);
    go_back(world, unanswered && !asked_again ? *unanswered : response.psn, trigger);
    implied_ = unanswered;
    return;
  }
  if (world.options.rnr_retry < 7 && rnr_retries_++ == world.options.rnr_retry) {
    give_up(world, EndState::rnr_exceeded);
    return;
  }
  deadline_ = 0;
  rnr_wait_ = trigger;
  world.schedule(world.now + rnr_wait(response.syndrome), Happening::rnr_timer, space_);
}

void Requester::advance_in_any_order(World& world) {
  std::uint32_t psn = una_;
  for (const Message& message : messages_) {
    const std::uint32_t end = psn_add(message.first_psn, message.psns);
    while (psn_before(psn, end)) {
      if (is_answered_apart(message.kind)) {
        const auto answer = std::find(answered_.begin(), answered_.end(), psn);
        if (answer == answered_.end()) {
          break;
        }
        answered_.erase(answer);
      } else if (!psn_before(psn, acked_)) {
        break;
      }
      psn = psn_add(psn, 1);
    }
    if (psn != end) {
      break;
    }
  }
  advance(world, psn);
}

void Requester::receive_in_any_order(World& world, const Packet& response) {
  const std::uint32_t end = response.kind == Kind::ack ? psn_add(response.psn, 1) : response.psn;
  if (psn_before(acked_, end)) {
    acked_ = end;
  }
  if (fills_psn(response.kind) && is_answered_apart(message_at(response.psn).kind)) {
    if (std::find(answered_.begin(), answered_.end(), response.psn) != answered_.end()) {
      world.not_needed(response);
    } else {
      answered_.push_back(response.psn);
    }
  }
  advance_in_any_order(world);
  if (response.kind == Kind::rnr_nak) {
    receive_nak(world, response, std::nullopt);
  } else if (response.kind == Kind::sequence_nak && !rnr_wait_ && !psn_before(response.psn, una_) &&
             takes_nak(world, response.psn)) {
    world.new_run(space_, false, response.psn, true);
    singles_.push_back({.psn = response.psn, .nak_captured = response.frame != 0});
    want_turn(world, world.options.reaction);
  }
}

}  // namespace roce::support
