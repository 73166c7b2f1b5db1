// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/severity_counts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "analyze/base/units.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {
Severity shown_severity(const Finding& finding, const Diagnosis* of) noexcept {
  return of == nullptr || finding.severity == Severity::info ? finding.severity : severity_like(of->severity);
}

std::vector<Severity> shown_severities(const Snapshot& snapshot) {
  const std::vector<const Diagnosis*> told = diagnoses_of_findings(snapshot);
  std::vector<Severity> shown;
  shown.reserve(told.size());
  for (std::size_t i = 0; i < told.size(); ++i)
    shown.push_back(shown_severity(snapshot.findings[i], told[i]));
  return shown;
}

Severity shown_severity(const Finding& finding, const Snapshot& snapshot) {
  const auto same = std::find_if(
      snapshot.findings.begin(), snapshot.findings.end(),
      [&](const Finding& each) { return each.id == finding.id && each.subject == finding.subject; });
  if (same == snapshot.findings.end()) return finding.severity;
  return shown_severities(snapshot)[static_cast<std::size_t>(same - snapshot.findings.begin())];
}

SeverityCounts severity_counts(const Snapshot& snapshot, std::size_t first) {
  SeverityCounts counts{};
  const std::vector<Severity> shown = shown_severities(snapshot);
  for (std::size_t i = first; i < shown.size(); ++i) ++counts[static_cast<std::size_t>(shown[i])];
  return counts;
}

std::string_view consequence_text(Severity severity) noexcept {
  for (const Consequence consequence : {Consequence::fatal, Consequence::degraded, Consequence::odd}) {
    if (severity_like(consequence) == severity) return consequence_names[consequence];
  }
  return severity_name(severity);
}

std::string severities_text(const SeverityCounts& counts) {
  std::string text;
  for (std::size_t i = counts.size(); i-- > 0;) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i],
                        consequence_text(static_cast<Severity>(i)));
  }
  return text;
}

std::string findings_text(const SeverityCounts& counts) {
  const std::uint64_t all = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  if (all == 0) return {};
  const auto most = std::max_element(counts.begin(), counts.end());
  const std::string which = *most == all
                                ? std::string(consequence_text(static_cast<Severity>(most - counts.begin())))
                                : severities_text(counts);
  return fmt::format("{} ({})", plural(all, "finding", "findings"), which);
}

}  // namespace roce::analyze
