// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "analyze/packet/verdict.hpp"

namespace roce::analyze {

/// The verdicts of all packets of a capture, by frame number: written by an analysis, which may
/// correct older ones as it learns more, read in a second pass over the same files. Kept in an
/// unlinked temporary file beyond a few MiB, so that memory does not grow with the capture. Not
/// thread-safe.
class VerdictStore {
 public:
  VerdictStore();
  /// Keeps none of frames behind `last`.
  explicit VerdictStore(std::uint64_t last);
  VerdictStore(VerdictStore&&) noexcept;
  VerdictStore& operator=(VerdictStore&&) noexcept;
  ~VerdictStore();

  /// The verdict of frame `number` (from 1) to be read or changed; nullptr for what cannot be kept (no
  /// space left, see lost()). The pointer lives until the next call.
  [[nodiscard]] Verdict* at(std::uint64_t number);
  /// The same without making room: nullptr for a frame that never had a verdict.
  [[nodiscard]] const Verdict* find(std::uint64_t number);

  /// What was said of connection `from` is of `to`, as its side b: find() tells it so from now on.
  void merge_connection(std::uint32_t from, std::uint32_t to);

  /// Frames whose verdicts could not be kept.
  [[nodiscard]] std::uint64_t lost() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
