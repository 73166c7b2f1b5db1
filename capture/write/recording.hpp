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

/// What is in the files of a recording, in whole blocks.
struct RecordingSummary {
  std::uint64_t given = 0;          ///< packets that record() took over
  std::uint64_t packets = 0;        ///< of them, in files that are still there
  std::uint64_t bytes = 0;          ///< of these files
  std::uint64_t files = 0;          ///< that are still there
  std::uint64_t removed_files = 0;  ///< by the ring, with their packets:
  std::uint64_t removed_packets = 0;
  std::uint64_t removed_earlier = 0;   ///< files of captures before, by the ring
  std::string last_path;               ///< the newest file; empty: none was written
  std::vector<std::string> notices;    ///< what was left out or cut and why, one sentence each; only grows
  std::uint64_t refused_triggers = 0;  ///< not written: the limits of files or bytes were reached
};

/// The time, for tests to set.
struct Clocks {
  std::function<std::chrono::steady_clock::time_point()> steady = std::chrono::steady_clock::now;
  std::function<std::chrono::system_clock::time_point()> wall = std::chrono::system_clock::now;
};

/// Takes the frames of a live capture to files. All calls on any thread.
class Recording {
 public:
  virtual ~Recording() = default;

  /// Returns how many of the frames belong to the capture: all, or fewer when a limit was reached or the
  /// recording failed among them; it has ended() then.
  virtual std::size_t record(std::span<const Frame> frames, const std::vector<InterfaceInfo>& interfaces) = 0;
  /// A limit was reached, or writing failed: see error().
  [[nodiscard]] virtual bool ended() const = 0;
  [[nodiscard]] virtual std::optional<Error> error() const = 0;

  /// To be called now and then, for what time brings while no frames come.
  virtual void tick() = 0;
  /// Goes on in a new file.
  virtual void rotate() = 0;
  /// Puts a text on the next packet that is written, or where none follows at the end of the file.
  virtual void comment(std::string text) = 0;

  /// Writes what is left, with the last counts of the interfaces, and closes. No record() after it.
  virtual Expected<void> finish(const std::vector<InterfaceInfo>& interfaces) = 0;
  [[nodiscard]] virtual RecordingSummary summary() const = 0;
};

}  // namespace roce::capture
