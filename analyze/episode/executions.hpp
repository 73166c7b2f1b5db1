// SPDX-License-Identifier: Apache-2.0
// What the count of executed messages in answers (MSN, IBTA 9.7.7.1) says of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/note.hpp"
#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

/// A request with answers of its own, each time that it was captured.
struct Issue {
  std::int64_t first = 0, end = 0;
  std::int32_t note = 0;
};

/// A responder counts each message when it executes it, and writes the count of today into every answer. So
/// the first answer to a message carries the count of its execution, and one given again the count of then.
class Executions {
 public:
  Executions(std::span<const Note> notes, std::span<const Issue> issues, const Facts& facts);

  /// The count when the message that takes `psn` was executed.
  [[nodiscard]] std::optional<std::int64_t> of_message(std::int64_t psn) const;
  /// The count that the note carries.
  [[nodiscard]] std::optional<std::int64_t> carried(const Note& note) const;
  /// The highest count captured before that note.
  [[nodiscard]] std::optional<std::int64_t> captured_before(std::int32_t note) const;

 private:
  struct Message {
    std::int64_t first = 0, end = 0;
    std::int64_t number = 0;  ///< messages before it
    std::size_t chapter = 0;  ///< rows of messages without one missing
  };
  void find_messages(std::span<const Note> notes, std::span<const Issue> issues);
  void bound(const Message& message, std::int64_t count);
  [[nodiscard]] const Message* at(std::int64_t psn) const;

  List<Message> messages_;
  List<std::optional<std::int64_t>> bases_;    ///< by chapter: the count before its first message
  List<std::optional<std::int64_t>> highest_;  ///< by note
  std::optional<std::int64_t> reference_;
  bool counts_ = false;  ///< some responders write nothing there
};

}  // namespace roce::analyze::episode
