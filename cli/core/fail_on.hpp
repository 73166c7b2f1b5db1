// SPDX-License-Identifier: Apache-2.0
// --fail-on: the lowest severity of a finding or diagnosis for which the exit status is 1.
#pragma once

#include <optional>
#include <string>

#include "analyze/results/snapshot.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

/// What --fail-on asks for. A severity of findings (info, notice, warning, error) asks for findings and for
/// diagnoses: fatal is an error, degraded a warning, odd a notice. One of diagnoses (odd, degraded, fatal)
/// asks for these alone.
class FailOn {
 public:
  /// None for other words.
  [[nodiscard]] static std::optional<FailOn> named(const std::string& name) noexcept;

  [[nodiscard]] bool reached_by(const analyze::Diagnosis& diagnosis) const noexcept {
    return consequence_ ? diagnosis.severity >= *consequence_
                        : analyze::severity_like(diagnosis.severity) >= severity_;
  }
  /// `of`: what the finding is evidence of; null: nothing.
  [[nodiscard]] bool reached_by(const analyze::Finding& finding,
                                const analyze::Diagnosis* of) const noexcept {
    return consequence_ ? of != nullptr && of->severity >= *consequence_ : finding.severity >= severity_;
  }
  /// By the worst diagnosis of a snapshot.
  [[nodiscard]] bool reached_by_diagnoses(const analyze::Snapshot& snapshot) const noexcept;
  /// By a finding or a diagnosis.
  [[nodiscard]] bool reached_by(const analyze::Snapshot& snapshot) const;
  /// The severity of findings where there are no diagnoses.
  [[nodiscard]] analyze::Severity severity() const noexcept { return severity_; }

 private:
  analyze::Severity severity_ = analyze::Severity::warning;
  std::optional<analyze::Consequence> consequence_;
};

/// Whether there is a finding or a diagnosis at or above the level of that name; false if no level has it.
[[nodiscard]] bool reaches(const analyze::Snapshot& snapshot, const std::string& level);
/// Adds the option; the present value of `level` is the default.
void add_fail_on_option(CLI::App& command, std::string& level);

/// The severity of findings of that name; none for other words.
[[nodiscard]] std::optional<analyze::Severity> severity_named(const std::string& name) noexcept;

}  // namespace roce::cli
