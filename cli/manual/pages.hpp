// SPDX-License-Identifier: Apache-2.0
// The pages of man(1): of the program and its commands from their options, of files and filters from docs/.
#pragma once

#include <string>
#include <vector>

namespace roce::cli {

struct ManualPage {
  std::string name;  ///< "roceanalyze-capture.1"
  std::string text;
};

/// `docs`: folder of the documents; throws std::runtime_error if one is missing there. `date`: "2026-11-20",
/// of the version.
[[nodiscard]] std::vector<ManualPage> manual_pages(const std::string& docs, const std::string& date);

}  // namespace roce::cli
