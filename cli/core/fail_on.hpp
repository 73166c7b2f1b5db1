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

/// The severity of that name; none for other words.
[[nodiscard]] std::optional<analyze::Severity> severity_named(const std::string& name) noexcept;
/// Whether the worst diagnosis is at or above that severity: fatal is an error, degraded a warning, odd a
/// notice.
[[nodiscard]] bool diagnosis_reaches(const analyze::Snapshot& snapshot, analyze::Severity least) noexcept;
/// Whether there is a finding or a diagnosis at or above the severity of that name; false if no severity has
/// that name.
[[nodiscard]] bool reaches(const analyze::Snapshot& snapshot, const std::string& severity);
/// Adds the option; the present value of `severity` is the default.
void add_fail_on_option(CLI::App& command, std::string& severity);

}  // namespace roce::cli
