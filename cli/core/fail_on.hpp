// SPDX-License-Identifier: Apache-2.0
// --fail-on: from which finding on the exit status is 1.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "analyze/results/snapshot.hpp"

namespace roce::cli {

/// The severity of that name; nothing for other words.
[[nodiscard]] std::optional<analyze::Severity> severity_named(const std::string& name) noexcept;
/// Whether a finding is at or above the severity of that name; false where no severity is named so.
[[nodiscard]] bool reaches(const analyze::Snapshot& snapshot, const std::string& severity);
/// Adds the option; `severity` keeps its value as the default.
void add_fail_on_option(CLI::App& command, std::string& severity);

}  // namespace roce::cli
