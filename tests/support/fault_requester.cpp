// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_requester.hpp"

#include <algorithm>
#include <cassert>

#include "tests/support/fault_opcodes.hpp"

namespace roce::support {
namespace {

constexpr std::uint32_t most_doublings = 7;  // of a timer that grows
constexpr Kind kinds[] = {Kind::write, Kind::send, Kind::read_request, Kind::atomic_request};

Kind choose_kind(World& world) {
  const auto& mix = world.options.mix;
  std::uint64_t draw = world.random.below(std::uint64_t{mix[0]} + mix[1] + mix[2] + mix[3]);
  std::size_t chosen = 0;
  while (draw >= mix[chosen]) {
    draw -= mix[chosen++];
  }
  return kinds[chosen];
}

}  // namespace

void Requester::start(World& world, SpaceId space, std::uint32_t first_psn) {
  space_ = space;
  una_ = next_ = high_ = end_ = acked_ = first_psn;
  post_burst(world);
}

void Requester::post_burst(World& world) {
  if (world.may_post(space_) && burst_left_ == 0) {
    burst_left_ = static_cast<std::uint32_t>(world.random.around(world.options.burst));
    want_turn(world, 0);
  }
}

std::uint32_t Requester::reads_outstanding() const {
  return static_cast<std::uint32_t>(std::count_if(
      messages_.begin(), messages_.end(), [](const Message& m) { return is_answered_apart(m.kind); }));
}

bool Requester::can_post(World& world) {
  if (burst_left_ == 0) {
    return false;
  }
  if (!pending_) {
    const FaultOptions& options = world.options;
    Message message{.kind = choose_kind(world)};
    if (message.kind == Kind::atomic_request) {
      message.bytes = 8;
    } else {
      message.psns = 1 + static_cast<std::uint32_t>(world.random.below(options.max_message_packets));
      message.bytes = (message.psns - 1) * options.path_mtu + 1 +
                      static_cast<std::uint32_t>(world.random.below(options.path_mtu));
    }
    message.address = 0x7f0000000000U | (world.random.number() & 0xfffffff8U);
    pending_ = message;
  }
  return static_cast<std::uint32_t>(psn_distance(una_, end_)) + pending_->psns <= world.options.window &&
         (!is_answered_apart(pending_->kind) || reads_outstanding() < world.options.max_reads);
}

bool Requester::wants_turn(World& world) {
  if (rnr_wait_ || world.state_of(space_, requester_of(space_)) != EndState::working) {
    return false;
  }
  if (!singles_.empty() || next_ != end_) {
    return true;
  }
  if (!can_post(world)) {
    return false;
  }
  pending_->first_psn = end_;
  end_ = psn_add(end_, pending_->psns);
  messages_.push_back(*pending_);
  pending_.reset();
  --burst_left_;
  ++posted_;
  return true;
}

void Requester::want_turn(World& world, Time delay) {
  if (!turn_scheduled_) {
    turn_scheduled_ = true;
    world.schedule(world.now + delay, Happening::request_turn, space_);
  }
}

void Requester::take_turn(World& world) {
  turn_scheduled_ = false;
  if (!wants_turn(world)) {
    return;
  }
  if (!singles_.empty()) {
    const Single single = singles_.front();
    singles_.erase(singles_.begin());
    if (!psn_before(single.psn, una_) && psn_before(single.psn, next_)) {
      send_packet(world, single.psn, repeat_of(single));
    }
  } else {
    const Message& message = message_at(next_);
    const std::uint32_t psn = next_;
    next_ = message.kind == Kind::read_request ? psn_add(message.first_psn, message.psns) : psn_add(psn, 1);
    send_packet(world, psn, repeat_of(psn, message));
    if (psn_before(high_, next_)) {
      high_ = next_;
    }
  }
  if (deadline_ == 0) {
    arm_timer(world);
  }
  want_turn(world, world.options.packet_gap);
}

Requester::Message& Requester::message_at(std::uint32_t psn) {
  const auto found = std::find_if(messages_.begin(), messages_.end(), [&](const Message& m) {
    return psn_before(psn, psn_add(m.first_psn, m.psns));
  });
  assert(found != messages_.end());
  return *found;
}

// The definitions of interface.md, applied to why the sender really went back. `also` where they leave
// room: a WRITE, SEND or atomic that repeats only because an older READ does is called `timeout` by
// elimination ("any other repeat"), and one could as well call it read_retry; a sequence NAK that
// reached the capture and not the sender makes what follows a "repeat after a sequence NAK" too.
Repeat Requester::repeat_of(std::uint32_t psn, const Message& message) const {
  Repeat repeat{.repeated = psn_before(psn, high_)};
  if (!repeat.repeated) {
    return repeat;
  }
  const bool read = message.kind == Kind::read_request;
  if (trigger_.with_nak && !psn_before(psn, trigger_.nak_psn)) {
    repeat.cause = trigger_.nak_cause;
    repeat.trigger_captured = trigger_.nak_captured;
  } else if (trigger_.cause == Cause::nak || trigger_.cause == Cause::rnr) {
    repeat.cause = trigger_.cause;
    repeat.trigger_captured = trigger_.captured;
  } else {
    repeat.cause = read ? Cause::read_retry : Cause::timeout;
    repeat.also = cause_bit(read ? Cause::timeout : Cause::read_retry);
    repeat.by_timer = read && trigger_.cause == Cause::timeout && psn == went_back_to_;
  }
  if (trigger_.with_nak) {
    repeat.also |= cause_bit(trigger_.nak_cause);
  }
  return repeat;
}

Repeat Requester::repeat_of(const Single& single) {
  Repeat repeat{
      .repeated = true, .alone = true, .cause = Cause::nak, .trigger_captured = single.nak_captured};
  if (single.by_timer) {
    const bool read = message_at(single.psn).kind == Kind::read_request;
    repeat.cause = read ? Cause::read_retry : Cause::timeout;
    repeat.also = cause_bit(read ? Cause::timeout : Cause::read_retry);
    repeat.by_timer = read;
  }
  return repeat;
}

bool Requester::is_sure_to_take(const World& world, std::uint32_t psn) const {
  constexpr Time just_now = 100'000;  // nothing is overtaken by so much
  return keeps_early(world.options.recovery) ||
         (psn == una_ &&
          (world.now - advanced_ >= just_now || (went_back_ > advanced_ && psn == went_back_to_)));
}

void Requester::send_packet(World& world, std::uint32_t psn, const Repeat& repeat) {
  Message& message = message_at(psn);
  const std::uint32_t mtu = world.options.path_mtu;
  const std::uint32_t offset = psn_add(psn, psn_mask + 1 - message.first_psn);
  const std::uint32_t left = message.bytes - offset * mtu;
  const bool last = offset + 1 == message.psns;
  Packet packet{.space = space_, .kind = message.kind, .psn = psn};
  packet.repeat = repeat;
  packet.run = run_;
  packet.ends_message = last;
  switch (message.kind) {
    case Kind::read_request:
      packet.opcode = read_request_opcode;
      packet.psn_count = message.psns - offset;
      packet.address = message.address + std::uint64_t{offset} * mtu;
      packet.dma_length = left;
      packet.ends_message = true;
      break;
    case Kind::atomic_request:
      packet.opcode = fetch_add_opcode;
      packet.address = message.address;
      break;
    default:
      packet.opcode =
          opcode_at(message.kind == Kind::write ? write_opcodes : send_opcodes, offset, message.psns);
      packet.payload = std::min(left, mtu);
      packet.address = message.address;
      packet.dma_length = message.bytes;
      if (last) {
        if (!packet.repeat.repeated) {
          ++since_ack_;
        }
        // Nothing may wait for an acknowledgement that nothing asks for.
        const bool stop_here = psn_add(psn, 1) == end_ && !can_post(world);
        if (since_ack_ >= world.options.ack_every || stop_here) {
          message.ack_request = true;
          since_ack_ = 0;
        }
        packet.ack_request = message.ack_request;
      }
  }
  world.send(packet);
}

void Requester::arm_timer(World& world) {
  const Time wait = Time{4096} << (world.options.timeout +
                                   (world.options.timer_grows ? std::min(retries_, most_doublings) : 0));
  deadline_ = una_ == high_ && next_ == una_ ? 0 : world.now + wait;
  if (deadline_ != 0 && timer_at_ == 0) {
    timer_at_ = deadline_;
    world.schedule(timer_at_, Happening::ack_timer, space_);
  }
}

void Requester::ack_timer(World& world) {
  timer_at_ = 0;
  if (deadline_ == 0 || rnr_wait_ || world.state_of(space_, requester_of(space_)) != EndState::working) {
    return;
  }
  if (world.now < deadline_) {
    timer_at_ = deadline_;
    world.schedule(timer_at_, Happening::ack_timer, space_);
    return;
  }
  if (retries_++ == world.options.retry_count) {
    give_up(world, EndState::retries_exceeded);
    return;
  }
  implied_.reset();
  if (world.options.timer_sends_oldest && psn_before(una_, next_)) {
    world.new_run(space_, false, una_, true);
    singles_.push_back({.psn = una_, .by_timer = true});
    arm_timer(world);
    want_turn(world, world.options.reaction);
    return;
  }
  go_back(world, una_, {.cause = Cause::timeout});
}

void Requester::give_up(World& world, EndState state) {
  world.state_of(space_, requester_of(space_)) = state;
  deadline_ = 0;
}

void Requester::go_back(World& world, std::uint32_t psn, const Trigger& trigger) {
  next_ = went_back_to_ = psn_before(psn, una_) ? una_ : psn;
  if (world.options.recovery == Recovery::go_back_message && next_ != end_) {
    next_ = message_at(next_).first_psn;
  }
  singles_.clear();
  trigger_ = trigger;
  went_back_ = world.now;
  ++run_;
  world.new_run(space_, false, next_, false);
  arm_timer(world);
  want_turn(world, world.options.reaction);
}

void Requester::rnr_timer(World& world) {
  if (!rnr_wait_) {
    return;
  }
  const Trigger trigger = *rnr_wait_;
  rnr_wait_.reset();
  go_back(world, una_, trigger);
}

// Everything before `psn` is done.
void Requester::advance(World& world, std::uint32_t psn) {
  if (!psn_before(una_, psn)) {
    return;
  }
  una_ = psn;
  advanced_ = world.now;
  const auto open = std::find_if(messages_.begin(), messages_.end(), [&](const Message& m) {
    return psn_before(una_, psn_add(m.first_psn, m.psns));
  });
  completed_ += static_cast<std::uint64_t>(open - messages_.begin());
  messages_.erase(messages_.begin(), open);
  const bool whole = world.options.recovery == Recovery::go_back_message && !messages_.empty();
  const std::uint32_t oldest = whole ? messages_.front().first_psn : una_;
  if (psn_before(next_, oldest)) {
    next_ = oldest;
  }
  retries_ = rnr_retries_ = 0;
  implied_.reset();
  arm_timer(world);
  if (messages_.empty() && burst_left_ == 0) {
    world.schedule(world.now + world.random.around(world.options.idle), Happening::burst, space_);
  }
  want_turn(world, 0);
}

}  // namespace roce::support
