// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace roce::cli {

/// What to run; set by the callback of the sub-command on the command line, called by main() after parsing.
/// Returns the exit status.
using Action = std::function<int()>;

/// Each adds one sub-command to `app`; its callback sets `action`, which also owns the options, so it may
/// outlive the App.
void add_report(CLI::App& app, Action& action);
void add_flows(CLI::App& app, Action& action);
void add_markings(CLI::App& app, Action& action);
void add_connections(CLI::App& app, Action& action);
void add_pauses(CLI::App& app, Action& action);
void add_dcbx(CLI::App& app, Action& action);
void add_packets(CLI::App& app, Action& action);
void add_compare(CLI::App& app, Action& action);
void add_check(CLI::App& app, Action& action);
void add_policy(CLI::App& app, Action& action);
void add_capture(CLI::App& app, Action& action);

// Validators of option values: the error message, or an empty string.

/// Refuses "": usually an unset shell variable, which must not be ignored like a missing option.
[[nodiscard]] std::string empty_error(const std::string& text);
/// Refuses all but decimal whole numbers from 0.
[[nodiscard]] std::string number_error(const std::string& text);
/// Refuses all but decimal whole numbers from 1.
[[nodiscard]] std::string count_error(const std::string& text);

}  // namespace roce::cli
