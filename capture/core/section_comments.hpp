// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "capture/core/source.hpp"

namespace roce::capture {

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
