// SPDX-License-Identifier: Apache-2.0
#include "cli/core/fail_on.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace roce::cli {

using analyze::Consequence;
using analyze::Severity;

std::optional<Severity> severity_named(const std::string& name) noexcept {
  for (const Severity severity : {Severity::info, Severity::notice, Severity::warning, Severity::error}) {
    if (analyze::severity_name(severity) == name) return severity;
  }
  return std::nullopt;
}

std::optional<FailOn> FailOn::named(const std::string& name) noexcept {
  FailOn level;
  if (const std::optional<Severity> severity = severity_named(name)) {
    level.severity_ = *severity;
    return level;
  }
  for (const Consequence consequence : {Consequence::odd, Consequence::degraded, Consequence::fatal}) {
    if (analyze::consequence_names[consequence] != name) continue;
    level.severity_ = analyze::severity_like(consequence);
    level.consequence_ = consequence;
    return level;
  }
  return std::nullopt;
}

bool FailOn::reached_by_diagnoses(const analyze::Snapshot& snapshot) const noexcept {
  const analyze::Diagnosis* const worst = analyze::worst_diagnosis(snapshot);
  return worst != nullptr && reached_by(*worst);
}

bool FailOn::reached_by(const analyze::Snapshot& snapshot) const {
  return reached_by_diagnoses(snapshot) ||
         std::any_of(snapshot.findings.begin(), snapshot.findings.end(),
                     [this](const analyze::Finding& finding) { return reached_by(finding, nullptr); });
}

bool reaches(const analyze::Snapshot& snapshot, const std::string& level) {
  const std::optional<FailOn> least = FailOn::named(level);
  return least && least->reached_by(snapshot);
}

void add_fail_on_option(CLI::App& command, std::string& level) {
  command
      .add_option("--fail-on", level,
                  "exit status 1 if there is a diagnosis at or above this level: odd, degraded, fatal; or a "
                  "finding or diagnosis: info, notice (odd), warning (degraded), error (fatal)")
      ->check(CLI::IsMember({"info", "notice", "warning", "error", "odd", "degraded", "fatal"}))
      ->type_name("LEVEL");
}

}  // namespace roce::cli
