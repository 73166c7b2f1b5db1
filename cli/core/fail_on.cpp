// SPDX-License-Identifier: Apache-2.0
#include "cli/core/fail_on.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace roce::cli {

using analyze::Severity;

std::optional<Severity> severity_named(const std::string& name) noexcept {
  for (const Severity severity : {Severity::info, Severity::notice, Severity::warning, Severity::error}) {
    if (analyze::severity_name(severity) == name) return severity;
  }
  return std::nullopt;
}

bool diagnosis_reaches(const analyze::Snapshot& snapshot, Severity least) noexcept {
  const analyze::Diagnosis* const worst = analyze::worst_diagnosis(snapshot);
  return worst != nullptr && analyze::severity_like(worst->severity) >= least;
}

bool reaches(const analyze::Snapshot& snapshot, const std::string& severity) {
  const std::optional<Severity> least = severity_named(severity);
  return least && (diagnosis_reaches(snapshot, *least) ||
                   std::any_of(snapshot.findings.begin(), snapshot.findings.end(),
                               [&](const analyze::Finding& finding) { return finding.severity >= *least; }));
}

void add_fail_on_option(CLI::App& command, std::string& severity) {
  command
      .add_option(
          "--fail-on", severity,
          "exit status 1 if there is a finding or diagnosis at or above this level: info, notice (odd), "
          "warning (degraded), error (fatal)")
      ->check(CLI::IsMember({"info", "notice", "warning", "error"}))
      ->type_name("LEVEL");
}

}  // namespace roce::cli
