// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/packet/verdict.hpp"

namespace roce::analyze {

/// The verdicts of all packets of a capture, by frame number: written by an analysis, which may correct
/// older ones later, and read in a second pass over the same files. Beyond a few MiB they are in an unlinked
/// temporary file, so that memory does not grow with the capture. Not thread-safe.
class VerdictStore {
 public:
  VerdictStore();
  /// Keeps no verdicts of frames after `last`.
  explicit VerdictStore(std::uint64_t last);
  VerdictStore(VerdictStore&&) noexcept;
  VerdictStore& operator=(VerdictStore&&) noexcept;
  ~VerdictStore();

  /// The verdict of frame `number` (from 1) for reading and writing; nullptr if it cannot be kept (no space
  /// left, see lost()). The pointer is valid until the next call.
  [[nodiscard]] Verdict* at(std::uint64_t number);
  /// The verdict without creating one: nullptr for a frame that never had a verdict.
  /// Valid until the next call.
  [[nodiscard]] const Verdict* find(std::uint64_t number);

  /// Nobody will ask for verdicts of frames before `number` any more: their room is used for others, at the
  /// latest when some ten thousand can go.
  void forget_before(std::uint64_t number);

  /// Verdicts of connection `from` become verdicts of `to`, as its side b, in all later calls of find().
  void merge_connection(std::uint32_t from, std::uint32_t to);

  /// Incidents got their ids: in all later calls of find() those with Verdict::incident `i` are part of
  /// `ids[i - 1]`.
  void number_incidents(std::vector<std::uint32_t> ids);

  /// The capture has been judged: all later calls of find() read losses that way, and leave those of some
  /// connections open, by their ids, ascending.
  void read_losses_as(LossReading reading, std::vector<std::uint32_t> not_judged);

  /// Frames whose verdicts could not be kept.
  [[nodiscard]] std::uint64_t lost() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
