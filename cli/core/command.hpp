// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace roce::cli {

/// What the command line asked for; set by a sub-command's callback, run by main after parsing.
using Action = std::function<int()>;

/// Each adds one sub-command to `app`; its callback stores what to do in `action`. The objects that
/// hold the options live in the action, so the App may go first.
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

/// Checks of options' values: what is wrong, or nothing.
/// "" is mostly a shell's variable that is not set; to go on as without the option is not what was asked for.
[[nodiscard]] std::string empty_error(const std::string& text);
/// Not a whole number, in decimal digits.
[[nodiscard]] std::string number_error(const std::string& text);
/// The same, or 0.
[[nodiscard]] std::string count_error(const std::string& text);

}  // namespace roce::cli
