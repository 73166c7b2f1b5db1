// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "capture/core/frame.hpp"

namespace roce::capture {

/// Finds the comments of a batch's frames. What it gives is borrowed from the batch and lives as long as
/// both.
class BatchComments {
 public:
  BatchComments() = default;
  explicit BatchComments(const FrameBatch& batch);

  /// In the order in which they stand in the capture; most frames have none.
  [[nodiscard]] std::span<const std::string_view> of(const Frame& frame) const noexcept {
    return frames_.empty() ? std::span<const std::string_view>{} : find(frame);
  }

 private:
  [[nodiscard]] std::span<const std::string_view> find(const Frame& frame) const noexcept;

  std::vector<const std::uint8_t*> frames_;  ///< Frame::data, ascending
  std::vector<std::string_view> texts_;      ///< of the frame at the same place
};

}  // namespace roce::capture
