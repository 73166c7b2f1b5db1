// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "analyze/trace/connection_trace.hpp"

// Internal to connection_trace.cpp.
namespace roce::analyze {

/// The messages of one side, as its requests and the answers to them show. What is lost and what is
/// repeated the verdicts say; here they are only told apart and timed.
class TracedMessages {
 public:
  static constexpr std::size_t limit = 8'192;         ///< messages that are remembered
  static constexpr std::size_t open_limit = 1'024;    ///< that wait for their end; older ones are given up
  static constexpr std::size_t answered_kept = 128;   ///< operations that may be asked for again
  static constexpr std::size_t early_limit = 65'536;  ///< responses of one message that came out of order

  explicit TracedMessages(std::uint8_t side) : side_(side) {}

  /// The PSN extended, nearest to the highest one so far. `moves`: it may become the highest.
  [[nodiscard]] std::int64_t place(std::uint32_t psn, std::uint32_t psns, bool moves) noexcept;

  /// Sets the point's message. Copies of captured packets are none of its business.
  void request(TracePoint& point);
  /// The same; what it completes goes to `done`, operations with answers of their own some later: their
  /// requester may ask again for what was lost behind the capture.
  void answer(TracePoint& point, std::vector<TracedOperation>& done);
  /// The end: what is still kept.
  void finish(std::vector<TracedOperation>& done);

 private:
  struct Message {
    std::int64_t first = 0;
    std::int64_t last = -1;        ///< -1 while not all of it up to its end was captured
    std::int64_t sent = 0;         ///< the requests before this PSN were captured
    std::int64_t answered = 0;     ///< responses came for the PSNs before it
    std::set<std::int64_t> early;  ///< and for these
    std::int64_t start_ns = 0;
    std::uint64_t packet = 0;
    std::uint64_t bytes = 0;
    std::uint32_t number = 0;
    OperationKind kind = OperationKind::send;
    bool own_answer = false;  ///< what completes it are responses
    bool retried = false;
    bool measured = true;  ///< its first packet was captured when it was sent first
    bool ended = false;
  };

  /// A packet of a message of which one before it was not captured yet.
  struct Part {
    std::uint64_t bytes = 0;
    bool ends = false;
    bool again = false;
  };

  [[nodiscard]] Message* message_of(std::int64_t psn) noexcept;
  static void take(Message& message, const Part& part) noexcept;
  void take_waiting(Message& message);
  void begin(const TracePoint& point);
  void respond(Message& message, const TracePoint& point, std::vector<TracedOperation>& done);
  void complete(Message& message, const TracePoint& point, std::vector<TracedOperation>& done);
  void ask_again(Message& message, const TracePoint& point);

  std::deque<Message> messages_;          ///< by first PSN
  std::deque<TracedOperation> answered_;  ///< the last ones with answers of their own
  std::map<std::int64_t, Part> waiting_;  ///< by PSN
  std::size_t open_ = 0;                  ///< the ones before it have ended
  std::int64_t next_ = 0;                 ///< PSN behind the highest one
  std::uint32_t count_ = 0;
  std::uint8_t side_;
  bool started_ = false;
};

}  // namespace roce::analyze
