// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_responder.hpp"

#include <algorithm>

#include "tests/support/fault_opcodes.hpp"

namespace roce::support {
namespace {

constexpr std::size_t reads_remembered = 512;  // more than may be outstanding

}  // namespace

void Responder::start(SpaceId space, std::uint32_t first_psn, bool faulty) {
  space_ = space;
  faulty_ = faulty;
  expected_ = answered_end_ = first_psn;
}

void Responder::receive(World& world, const Packet& request) {
  if (world.state_of(space_, other(requester_of(space_))) != EndState::working) {
    return;
  }
  const std::int32_t distance = psn_distance(expected_, request.psn);
  if (distance > 0) {
    ahead(world, request);
    return;
  }
  if (distance < 0) {
    world.not_needed(request);
    execute(world, request, true);
    return;
  }
  if (!accept(world, request)) {
    return;
  }
  for (std::size_t i = 0; i < held_.size();) {  // what waited behind the hole
    const std::int32_t held = psn_distance(expected_, held_[i].psn);
    if (held > 0) {
      ++i;
      continue;
    }
    const Packet packet = held_[i];
    held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(i));
    if (held == 0 && !accept(world, packet)) {
      return;
    }
    i = 0;
  }
}

void Responder::ahead(World& world, const Packet& request) {
  const FaultOptions& options = world.options;
  if (keeps_early(options.recovery)) {
    const bool held =
        std::any_of(held_.begin(), held_.end(), [&](const Packet& p) { return p.psn == request.psn; });
    if (held) {
      world.not_needed(request);
    } else if (held_.size() < options.window) {
      held_.push_back(request);
    }
    if (options.recovery == Recovery::in_any_order ||
        psn_distance(expected_, request.psn) < static_cast<std::int32_t>(options.reorder_limit)) {
      return;
    }
  }
  if (!nak_sent_ || options.nak_every) {  // else one for a hole, until the expected PSN comes
    nak_sent_ = true;
    answer(world, {.kind = Kind::sequence_nak, .syndrome = sequence_nak_syndrome, .psn = expected_});
  }
}

// No receive, or no permission: true if the request was answered by a NAK.
bool Responder::refuse(World& world, const Packet& request) {
  if (!faulty_) {
    return false;
  }
  const FaultOptions& options = world.options;
  const bool begins = request.opcode == send_opcodes.first || request.opcode == send_opcodes.only;
  if (request.kind == Kind::send && begins) {
    if (!rnr_drawn_valid_ || rnr_drawn_ != request.psn) {
      rnr_drawn_valid_ = true;
      rnr_drawn_ = request.psn;
      if (world.random.chance(options.rates.rnr)) {  // a receive comes within two and a half waits
        rnr_until_ = world.now + rnr_wait(options.rnr_timer) * (50 + world.random.below(200)) / 100;
      }
    }
    if (world.now < rnr_until_) {
      nak_sent_ = !options.nak_after_rnr;
      answer(world, {.kind = Kind::rnr_nak,
                     .syndrome = static_cast<std::uint8_t>(rnr_nak_syndrome | options.rnr_timer),
                     .psn = request.psn});
      return true;
    }
  }
  const bool addressed = request.opcode == write_opcodes.first || request.opcode == write_opcodes.only ||
                         request.kind == Kind::read_request;
  if (addressed && world.random.chance(options.rates.access)) {
    answer(world, {.kind = Kind::access_nak, .syndrome = access_nak_syndrome, .psn = request.psn});
    world.state_of(space_, other(requester_of(space_))) = EndState::access_error;
    return true;
  }
  return false;
}

bool Responder::accept(World& world, const Packet& request) {
  if (refuse(world, request)) {
    return false;
  }
  if (nak_sent_) {
    note_filled(world, request);
  }
  nak_sent_ = false;
  expected_ = psn_add(expected_, request.psn_count);
  if (request.ends_message) {
    msn_ = psn_add(msn_, 1);
    if (faulty_ && world.random.chance(world.options.rates.slow)) {
      const Time timeout = Time{4096} << world.options.timeout;
      busy_until_ = world.now + timeout + world.random.below(timeout);
    }
  }
  execute(world, request, false);
  return true;
}

// Had it come before, late, it would have been acknowledged then, if it or what waits behind it asks for
// that.
void Responder::note_filled(World& world, const Packet& request) {
  const auto asks = [](const Packet& packet) { return packet.ack_request; };
  if (asks(request) || std::any_of(held_.begin(), held_.end(), asks)) {
    world.proved_lost(space_, request.psn);
  } else {
    filled_ = Filled{request.psn, world.now, first_answer_ < answers_.size()};
  }
}

// A duplicate is acknowledged, whatever it asks for. Nobody can tell where that and the next one become one.
void Responder::settle_filled(World& world, Kind next) {
  const bool one =
      next == Kind::ack && (filled_->waiting || world.now - filled_->at < world.options.turnaround);
  if (!one) {
    world.proved_lost(space_, filled_->psn);
  }
  filled_.reset();
}

// Answers a request; `again`: it was executed before.
void Responder::execute(World& world, const Packet& request, bool again) {
  switch (request.kind) {
    case Kind::read_request:
      if (again && world.options.drop_queued) {
        drop_queued(request.psn);
      }
      if (!again) {
        reads_.resize(std::min(reads_.size() + 1, reads_remembered));
        reads_[next_read_] = {.psn = request.psn, .packets = request.psn_count, .msn = msn_};
        next_read_ = (next_read_ + 1) % reads_remembered;
      }
      answer(world, {.kind = Kind::read_response,
                     .psn = request.psn,
                     .packets = request.psn_count,
                     .bytes = request.dma_length,
                     .msn_of_request = msn_of_read(request.psn),
                     .again = again,
                     .request = request.repeat,
                     .request_captured = request.frame != 0});
      break;
    case Kind::atomic_request:
      answer(world, {.kind = Kind::atomic_response,
                     .psn = request.psn,
                     .request = request.repeat,
                     .request_captured = request.frame != 0});
      break;
    default:
      if (again || request.ack_request) {
        answer(world, {.kind = Kind::ack, .syndrome = ack_syndrome, .psn = psn_add(expected_, psn_mask)});
      }
  }
}

std::uint32_t Responder::msn_of_read(std::uint32_t psn) const {
  const auto found = std::find_if(reads_.begin(), reads_.end(), [&](const ExecutedRead& read) {
    const std::int32_t offset = psn_distance(read.psn, psn);
    return offset >= 0 && offset < static_cast<std::int32_t>(read.packets);
  });
  return found == reads_.end() ? msn_ : found->msn;
}

// A READ is asked again from `psn`: what was queued for that PSN and later ones is never sent; the requester
// asks for the rest again as well.
void Responder::drop_queued(std::uint32_t psn) {
  const auto queued = answers_.begin() + static_cast<std::ptrdiff_t>(first_answer_);
  answers_.erase(std::remove_if(queued, answers_.end(),
                                [&](const Answer& a) {
                                  return !is_nak(a.kind) && !psn_before(psn_add(a.psn, a.sent), psn);
                                }),
                 answers_.end());
  if (first_answer_ == answers_.size()) {
    answers_.clear();
    first_answer_ = 0;
  }
}

void Responder::answer(World& world, Answer answer) {
  answer.msn = msn_;
  if (filled_) {
    settle_filled(world, answer.kind);
  }
  const bool waiting = first_answer_ < answers_.size();
  if (answer.kind == Kind::ack && waiting && answers_.back().kind == Kind::ack) {
    answers_.back() = answer;  // coalesced
    return;
  }
  answers_.push_back(answer);
  if (!turn_scheduled_) {
    turn_scheduled_ = true;
    const Time ready = std::max(world.now, busy_until_);
    world.schedule(ready + world.options.turnaround, Happening::response_turn, space_);
  }
}

// A response to a READ is a repeat if it was sent before, also if the capture does not show that; the first
// answer to a READ that had to be issued again is none. Of an atomic's answer given again the definitions do
// not speak, nor of the cause where the network doubled the READ request.
Repeat Responder::repeat_of(const Answer& answer, std::uint32_t psn) const {
  const bool before = psn_before(psn, answered_end_);
  const bool read = answer.kind == Kind::read_response;
  const bool retried = answer.request.repeated && answer.request.cause == Cause::read_retry;
  Repeat repeat;
  if (answer.kind == Kind::atomic_response) {
    repeat.contract_silent = before || answer.request.repeated;
    repeat.repeated = before;
  } else if (read) {
    repeat.repeated = before;
    repeat.executed = !before && answer.again;
    repeat.first_answer = !before && retried;
  }
  if (repeat.repeated) {
    repeat.cause = Cause::read_retry;
    repeat.also = answer.request.repeated ? answer.request.also | cause_bit(answer.request.cause) : any_cause;
    repeat.trigger_captured = answer.request_captured && answer.request.trigger_captured;
  }
  return repeat;
}

void Responder::take_turn(World& world) {
  turn_scheduled_ = false;
  if (first_answer_ == answers_.size()) {
    return;
  }
  Answer& answer = answers_[first_answer_];
  const std::uint32_t mtu = world.options.path_mtu;
  const std::uint32_t psn = psn_add(answer.psn, answer.sent);
  Packet packet{.space = space_, .kind = answer.kind, .psn = psn};
  packet.msn = answer.msn;
  packet.msn_of_request = answer.msn_of_request;
  packet.syndrome = answer.kind == Kind::read_response || answer.kind == Kind::atomic_response
                        ? ack_syndrome
                        : answer.syndrome;
  packet.opcode = acknowledge_opcode;
  if (answer.kind == Kind::read_response) {
    packet.opcode = opcode_at(response_opcodes, answer.sent, answer.packets);
    packet.payload = std::min(answer.bytes - answer.sent * mtu, mtu);
  } else if (answer.kind == Kind::atomic_response) {
    packet.opcode = atomic_acknowledge_opcode;
  }
  if (fills_psn(answer.kind)) {
    packet.repeat = repeat_of(answer, psn);
    if (answer.sent == 0 && psn_before(psn, answered_end_)) {
      ++run_;
      world.new_run(space_, true, psn, false);
    }
  }
  packet.run = run_;
  packet.ends_message = ++answer.sent == answer.packets;
  if (packet.ends_message && ++first_answer_ == answers_.size()) {
    answers_.clear();
    first_answer_ = 0;
    if (filled_) {
      filled_->waiting = false;
    }
  }
  const std::uint32_t answered = is_nak(packet.kind) ? psn : psn_add(psn, 1);
  if (psn_before(answered_end_, answered)) {
    answered_end_ = answered;
  }
  world.send(packet);
  if (first_answer_ < answers_.size()) {
    turn_scheduled_ = true;
    world.schedule(world.now + world.options.packet_gap, Happening::response_turn, space_);
  }
}

}  // namespace roce::support
