// SPDX-License-Identifier: Apache-2.0
// Comments of pcapng files: on frames, and on sections.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/frame.hpp"
#include "capture/core/source.hpp"

namespace roce::capture {

/// Finds the comments of a batch's frames. The texts are borrowed from the batch: valid while the batch and
/// this object live.
class BatchComments {
 public:
  BatchComments() = default;
  explicit BatchComments(const FrameBatch& batch);

  /// In the order of the capture file; most frames have none.
  [[nodiscard]] std::span<const std::string_view> of(const Frame& frame) const noexcept {
    return frames_.empty() ? std::span<const std::string_view>{} : find(frame);
  }

 private:
  [[nodiscard]] std::span<const std::string_view> find(const Frame& frame) const noexcept;

  std::vector<const std::uint8_t*> frames_;  ///< Frame::data, ascending
  std::vector<std::string_view> texts_;      ///< of the frame with the same index in frames_
};

/// Comments on sections (pcapng Section Header Blocks), to copy them when packets are written to another
/// file. A file may begin a new section, with a new comment, anywhere.
class SectionComments {
 public:
  /// Comments that were read since the last call, one text for each file that has any.
  [[nodiscard]] std::vector<std::string> news(const std::vector<FileInfo>& files);

 private:
  std::vector<std::size_t> told_;  ///< bytes, by file
};

}  // namespace roce::capture
