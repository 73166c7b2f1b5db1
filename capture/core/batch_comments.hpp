// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "capture/core/frame.hpp"

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

}  // namespace roce::capture
