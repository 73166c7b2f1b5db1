// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

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

}  // namespace roce::cli
