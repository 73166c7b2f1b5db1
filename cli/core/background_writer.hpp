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

/// Writes texts in order in a thread of its own, so that a capture never waits for their reader (a stopped
/// terminal, a pipe that is not read, a stalled system log). A text that does not fit into the queue is
/// dropped and counted. Thread-safe except for the destructor.
class BackgroundWriter {
 public:
  /// Writes a whole text; may block.
  using Write = std::function<void(std::string_view)>;

  /// At most `most_bytes` are queued; a single text may be longer. `patience`: how long flush() and the
  /// destructor wait for the queue (none: without limit). After that the rest is dropped and the thread
  /// detached, so `write` must own everything it uses.
  BackgroundWriter(Write write, std::size_t most_bytes,
                   std::optional<std::chrono::milliseconds> patience = std::nullopt);
  ~BackgroundWriter();
  BackgroundWriter(const BackgroundWriter&) = delete;
  BackgroundWriter& operator=(const BackgroundWriter&) = delete;

  /// Queues a text. False: dropped.
  bool post(std::string text);
  /// Whether all queued texts are written, or will be `within` this time.
  [[nodiscard]] bool idle(std::chrono::milliseconds within = {}) const;
  /// Waits for that, at most for `patience`; returns whether everything was written. If not, the rest counts
  /// as dropped, and so do texts that are posted later.
  bool flush();
  /// Number of texts that were not written.
  [[nodiscard]] std::uint64_t dropped() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
  std::optional<std::chrono::milliseconds> patience_;
  std::thread thread_;
};

}  // namespace roce::cli
