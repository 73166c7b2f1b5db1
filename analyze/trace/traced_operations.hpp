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

/// Assembles and times the messages of one side from its requests and the responses to them. Losses and
/// retransmissions come from the verdicts.
class TracedMessages {
 public:
  static constexpr std::size_t limit = 8'192;         ///< messages that are kept
  static constexpr std::size_t open_limit = 1'024;    ///< unfinished messages; older ones are dropped
  static constexpr std::size_t answered_kept = 128;   ///< completed operations that may be requested again
  static constexpr std::size_t early_limit = 65'536;  ///< out-of-order responses of one message

  explicit TracedMessages(std::uint8_t side) : side_(side) {}

  /// The extended PSN nearest to the highest one so far. `moves`: it may become the highest.
  [[nodiscard]] std::int64_t place(std::uint32_t psn, std::uint32_t psns, bool moves) noexcept;

  /// Processes a request and sets the point's message. Not for duplicates made by the capture.
  void request(TracePoint& point);
  /// Processes a response likewise. Completed operations are added to `done`; those with their own responses
  /// (READ, atomic) later, because their requester may request again what was lost downstream.
  void answer(TracePoint& point, std::vector<TracedOperation>& done);
  /// At the end: adds the operations that are still kept.
  void finish(std::vector<TracedOperation>& done);

 private:
  struct Message {
    std::int64_t first = 0;
    std::int64_t last = -1;        ///< last PSN; -1 until all packets up to its end were captured
    std::int64_t sent = 0;         ///< all requests before this PSN were captured
    std::int64_t answered = 0;     ///< all responses before this PSN were captured,
    std::set<std::int64_t> early;  ///< and these
    std::int64_t start_ns = 0;
    std::uint64_t packet = 0;
    std::uint64_t bytes = 0;
    std::uint32_t number = 0;
    OperationKind kind = OperationKind::send;
    bool own_answer = false;  ///< completed by responses, not by an acknowledgement
    bool retried = false;
    bool measured = true;  ///< the first transmission of its first packet was captured
    bool ended = false;
  };

  /// A packet of a message of which an earlier packet was not captured yet.
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
  std::deque<TracedOperation> answered_;  ///< the last ones with own_answer
  std::map<std::int64_t, Part> waiting_;  ///< by PSN
  std::size_t open_ = 0;                  ///< all messages before this index have ended
  std::int64_t next_ = 0;                 ///< PSN after the highest one
  std::uint32_t count_ = 0;
  std::uint8_t side_;
  bool started_ = false;
};

}  // namespace roce::analyze
