// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "capture/core/source.hpp"

namespace roce::capture {

/// What files say of themselves as a whole (pcapng's section comments), for who writes their packets to
/// another one. A file may begin another section, with another comment, at any place.
class SectionComments {
 public:
  /// What has become known since the last call, one text for each file that has any.
  [[nodiscard]] std::vector<std::string> news(const std::vector<FileInfo>& files);

 private:
  std::vector<std::size_t> told_;  ///< bytes, by file
};

}  // namespace roce::capture
