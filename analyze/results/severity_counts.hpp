// SPDX-License-Identifier: Apache-2.0
// Number of findings by severity, and the text for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "analyze/results/finding.hpp"

namespace roce::analyze {

/// By Severity.
using SeverityCounts = std::array<std::uint64_t, 4>;

/// For findings of any kind that have a `severity`.
template <class Findings>
[[nodiscard]] SeverityCounts severity_counts(const Findings& findings) noexcept {
  SeverityCounts counts{};
  for (const auto& finding : findings) ++counts[static_cast<std::size_t>(finding.severity)];
  return counts;
}

/// "2 errors, 1 notice": most severe first; empty where there are none.
[[nodiscard]] std::string severities_text(const SeverityCounts& counts);

}  // namespace roce::analyze
