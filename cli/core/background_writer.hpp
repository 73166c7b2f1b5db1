// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace roce::cli {

/// Writes texts in their order on a thread of its own: who has something to say of a capture does not wait
/// for who reads it (a stopped terminal, a pipe that nobody empties, a stalled system log). What does not fit
/// into the queue is dropped as a whole and counted. Every function but the destructor may be called by any
/// thread.
class BackgroundWriter {
 public:
  /// Writes all of it; may block for as long as it likes.
  using Write = std::function<void(std::string_view)>;

  /// At most `most_bytes` wait; one text may be longer where it is the only one. `patience`: how long the
  /// destructor waits for what is queued (no value: for ever). After that what is left is dropped and the
  /// thread left alone, so `write` must own what it uses.
  BackgroundWriter(Write write, std::size_t most_bytes,
                   std::optional<std::chrono::milliseconds> patience = std::nullopt);
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// False: dropped.
  bool post(std::string text);
  /// Whether all that was posted is written, `within` this time.
  [[nodiscard]] bool idle(std::chrono::milliseconds within = {}) const;
  /// Waits until it is, as long as `patience` says; returns whether it is. What is not then, counts as
  /// dropped, as does all that is posted later.
  bool flush();
  /// Texts that were not written.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::optional<std::chrono::milliseconds> patience_;
  std::thread thread_;
};

}  // namespace roce::cli
