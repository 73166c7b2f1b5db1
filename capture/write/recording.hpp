// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/core/error.hpp"
#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"

namespace roce::capture {

/// What the files of a recording contain, in complete blocks.
struct RecordingSummary {
  std::uint64_t given = 0;          ///< packets passed to record()
  std::uint64_t packets = 0;        ///< of these, in files that still exist
  std::uint64_t bytes = 0;          ///< of these files
  std::uint64_t files = 0;          ///< that still exist
  std::uint64_t removed_files = 0;  ///< by the ring
  std::uint64_t removed_packets = 0;
  std::uint64_t removed_earlier = 0;   ///< files of earlier captures, removed by the ring
  std::string last_path;               ///< the newest file; empty: none was written
  std::vector<std::string> notices;    ///< what the files lack and why, one sentence each; only grows
  std::uint64_t refused_triggers = 0;  ///< not written because a limit of files or bytes was reached
};

/// The clocks, replaced by tests.
struct Clocks {
  std::function<std::chrono::steady_clock::time_point()> steady = std::chrono::steady_clock::now;
  std::function<std::chrono::system_clock::time_point()> wall = std::chrono::system_clock::now;
};

/// Writes the frames of a live capture to files. Thread-safe.
class Recording {
 public:
  virtual ~Recording() = default;

  /// Returns how many of the frames belong to the capture: all, or fewer if a limit was reached or the
  /// recording failed, after which it has ended().
  virtual std::size_t record(std::span<const Frame> frames, const std::vector<InterfaceInfo>& interfaces) = 0;
  /// A limit was reached, or writing failed: see error().
  [[nodiscard]] virtual bool ended() const = 0;
  [[nodiscard]] virtual std::optional<Error> error() const = 0;

  /// To be called regularly (at least twice a second): handles limits of time while no frames arrive.
  virtual void tick() = 0;
  /// Continues in a new file.
  virtual void rotate() = 0;
  /// Adds a comment to the next packet that is written, or to the end of the file if none follows.
  virtual void comment(std::string text) = 0;

  /// Writes what is buffered and the final counts of the interfaces, and closes. No record() after it.
  virtual Expected<void> finish(const std::vector<InterfaceInfo>& interfaces) = 0;
  [[nodiscard]] virtual RecordingSummary summary() const = 0;
};

}  // namespace roce::capture
