// SPDX-License-Identifier: Apache-2.0
#include "analyze/trace/traced_operations.hpp"

#include <algorithm>

#include "analyze/connection/operation_kind.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

std::int64_t TracedMessages::place(std::uint32_t psn, std::uint32_t psns, bool moves) noexcept {
  constexpr unsigned unused = 64 - 24;
  if (!started_) {
    // Far enough from 0 that a few PSNs before the first one are not negative.
    constexpr std::int64_t turn = 1 << 24;
    next_ = turn + psn;
    started_ = moves;
  }
  const std::int64_t at =
      next_ + (static_cast<std::int64_t>((psn - static_cast<std::uint64_t>(next_)) << unused) >> unused);
  if (moves) next_ = std::max(next_, at + std::max<std::int64_t>(psns, 1));
  return at;
}

TracedMessages::Message* TracedMessages::message_of(std::int64_t psn) noexcept {
  const auto behind = std::upper_bound(messages_.begin(), messages_.end(), psn,
                                       [](std::int64_t at, const Message& m) { return at < m.first; });
  if (behind == messages_.begin()) return nullptr;
  Message& found = *std::prev(behind);
  return found.last >= 0 && psn > found.last ? nullptr : &found;
}

void TracedMessages::begin(const TracePoint& point) {
  Message message;
  message.first = message.answered = message.sent = point.psn;
  message.start_ns = point.time_ns;
  message.packet = point.packet;
  message.kind = operation_kind_of(dissect::opcode_info(point.opcode).operation);
  message.own_answer = message.kind > OperationKind::write;
  if (message.own_answer) message.last = point.psn + point.psns - 1;
  message.number = ++count_;
  // If the first captured packet is a retransmission, the start is unknown.
  message.retried = point.verdict.has(Verdict::retransmission);
  message.measured = !message.retried;
  if (messages_.size() == limit) {
    messages_.pop_front();
    open_ -= std::min<std::size_t>(open_, 1);
  }
  const auto place = std::upper_bound(messages_.begin(), messages_.end(), message.first,
                                      [](std::int64_t at, const Message& m) { return at < m.first; });
  // A packet that late cannot be assigned to a message any more.
  if (messages_.end() - place > static_cast<std::ptrdiff_t>(open_limit)) return;
  open_ = std::min(open_, static_cast<std::size_t>(place - messages_.begin()));
  messages_.insert(place, std::move(message));
  if (messages_.size() - open_ > open_limit) messages_[open_++].ended = true;
}

void TracedMessages::request(TracePoint& point) {
  if (point.is_copy() || point.has(TracePoint::damaged)) return;
  Message* message = message_of(point.psn);
  const bool again =
      point.verdict.has(Verdict::retransmission) || point.verdict.has(Verdict::duplicate_network);
  const bool starts = point.has(TracePoint::starts_message);
  // A READ retransmitted for the rest of its responses begins inside of it.
  const bool inside = message != nullptr && again && (message->own_answer || message->last >= 0);
  if (starts && (message == nullptr || (message->first != point.psn && !inside))) {
    begin(point);
    message = message_of(point.psn);
  }
  if (message != nullptr) point.message = message->number;
  if (message != nullptr && message->own_answer) {
    message->retried = message->retried || again;
    if (again && message->ended) ask_again(*message, point);
    if (!again) message->bytes += point.bytes;
    return;
  }
  const Part part{point.bytes, point.has(TracePoint::ends_message), again};
  if (message == nullptr || (message->last < 0 && point.psn > message->sent)) {
    if (waiting_.size() == early_limit) waiting_.clear();
    waiting_.try_emplace(point.psn, part).first->second.again |= again;
  } else if (point.psn == message->sent && message->last < 0) {
    take(*message, part);
    take_waiting(*message);
  } else {
    message->retried = message->retried || again;
  }
}

void TracedMessages::take(Message& message, const Part& part) noexcept {
  if (part.ends) message.last = message.sent;
  ++message.sent;
  message.bytes += part.bytes;
  message.retried = message.retried || part.again;
}

void TracedMessages::take_waiting(Message& message) {
  auto next = waiting_.find(message.sent);
  while (message.last < 0 && next != waiting_.end() && next->first == message.sent) {
    take(message, next->second);
    next = waiting_.erase(next);
  }
}

void TracedMessages::complete(Message& message, const TracePoint& point, std::vector<TracedOperation>& done) {
  message.ended = true;
  message.early.clear();
  if (!message.measured || point.time_ns == capture::no_time || message.start_ns == capture::no_time ||
      point.time_ns < message.start_ns) {
    return;
  }
  const TracedOperation operation{message.start_ns, point.time_ns - message.start_ns,
                                  message.packet,   point.packet,
                                  message.bytes,    message.number,
                                  message.kind,     side_,
                                  message.retried};
  if (!message.own_answer) {
    done.push_back(operation);
    return;
  }
  if (answered_.size() == answered_kept) {
    done.push_back(answered_.front());
    answered_.pop_front();
  }
  answered_.push_back(operation);
}

void TracedMessages::finish(std::vector<TracedOperation>& done) {
  done.insert(done.end(), answered_.begin(), answered_.end());
  answered_.clear();
}

/// All responses were captured, but some were lost downstream.
void TracedMessages::ask_again(Message& message, const TracePoint& point) {
  const auto found = std::find_if(answered_.begin(), answered_.end(), [&](const TracedOperation& operation) {
    return operation.message == message.number;
  });
  if (found == answered_.end()) return;
  answered_.erase(found);
  message.ended = false;
  message.answered = point.psn;
  // A requester with selective repeat requests only what is missing.
  const std::int64_t rest = point.psn + std::max<std::int64_t>(point.psns, 1);
  if (message.last - rest >= static_cast<std::int64_t>(early_limit)) return;
  for (std::int64_t got = rest; got <= message.last; ++got) message.early.insert(got);
}

/// Response packets may come twice and out of order; the last missing PSN completes the message.
void TracedMessages::respond(Message& message, const TracePoint& point, std::vector<TracedOperation>& done) {
  if (message.ended || !message.own_answer || message.last < 0) return;
  if (point.psn > message.answered) {
    if (message.early.size() == early_limit) {
      message.ended = true;
      message.early.clear();
      return;
    }
    message.early.insert(point.psn);
  } else if (point.psn == message.answered) {
    ++message.answered;
    while (!message.early.empty() && *message.early.begin() <= message.answered) {
      message.answered = std::max(message.answered, *message.early.begin() + 1);
      message.early.erase(message.early.begin());
    }
  }
  if (!point.verdict.has(Verdict::retransmission)) message.bytes += point.bytes;
  if (message.answered > message.last) complete(message, point, done);
}

void TracedMessages::answer(TracePoint& point, std::vector<TracedOperation>& done) {
  if (point.is_copy() || point.has(TracePoint::damaged)) return;
  Message* const message = message_of(point.psn);
  if (message != nullptr) point.message = message->number;
  if (message != nullptr && point.kind == TracePoint::Kind::response) respond(*message, point, done);
  const std::int64_t before = point.acknowledged();
  bool gapless = true;
  for (std::size_t i = open_; i < messages_.size(); ++i) {
    Message& one = messages_[i];
    // Acknowledged while the next message has begun: its end was not captured.
    const bool incomplete = one.last < 0 && i + 1 < messages_.size() && messages_[i + 1].first <= before;
    if (incomplete) one.ended = true;
    if (!one.ended && (one.last < 0 || one.last >= before)) break;
    if (!one.ended && !one.own_answer) complete(one, point, done);
    gapless = gapless && one.ended;
    if (gapless) open_ = i + 1;
  }
  waiting_.erase(waiting_.begin(), waiting_.lower_bound(before));
}

}  // namespace roce::analyze
