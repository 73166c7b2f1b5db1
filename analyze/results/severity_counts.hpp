// SPDX-License-Identifier: Apache-2.0
// Number of findings by severity, and the text for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/diagnosis.hpp"
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

/// What outputs show as the severity of a finding: that of the diagnosis which it is evidence of, so that one
/// thing has one severity. Of a finding that is only worth knowing, and of one that is evidence of nothing
/// (`of` is null), its own.
[[nodiscard]] Severity shown_severity(const Finding& finding, const Diagnosis* of) noexcept;
/// Of one that a snapshot has, or had.
[[nodiscard]] Severity shown_severity(const Finding& finding, const Snapshot& snapshot);
/// By finding of a snapshot.
[[nodiscard]] std::vector<Severity> shown_severities(const Snapshot& snapshot);
/// Of findings of a snapshot, from the one with index `first` on, by shown severity.
[[nodiscard]] SeverityCounts severity_counts(const Snapshot& snapshot, std::size_t first = 0);
/// A shown severity in words of diagnoses: "fatal", "degraded", "odd"; or "info".
[[nodiscard]] std::string_view consequence_text(Severity severity) noexcept;

/// "2 fatal, 1 odd": most severe first, in words of diagnoses; empty where there are none.
[[nodiscard]] std::string severities_text(const SeverityCounts& counts);
/// "3 findings (2 fatal, 1 odd)", "1 finding (odd)".
[[nodiscard]] std::string findings_text(const SeverityCounts& counts);

}  // namespace roce::analyze
