// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace roce::cli {

/// What to run; set by the callback of the sub-command on the command line, called by run_command_line()
/// after parsing. Returns the exit status.
using Action = std::function<int()>;

// All commands, in the order of the help. The row of a command declares add_NAME(), which its room defines:
// it adds the sub-command to `app`; its callback sets `action`, which also owns the options, so it may
// outlive the App.
#define ROCE_COMMANDS(row)                                                                              \
  row(report) row(packets) row(flows) row(connections) row(incidents) row(paths) row(pairs) row(why)    \
      row(markings) row(pauses) row(dcbx) row(compare) row(check) row(policy) row(capture) row(devices) \
          row(host) row(export) row(store) row(ship) row(fleet) row(config) row(schema) row(completion)

#define ROCE_DECLARE(name) void add_##name(CLI::App& app, Action& action);
ROCE_COMMANDS(ROCE_DECLARE)
#undef ROCE_DECLARE

// Validators of option values: the error message, or an empty string.

/// Refuses "": usually an unset shell variable, which must not be ignored like a missing option.
[[nodiscard]] std::string empty_error(const std::string& text);
/// Refuses all but decimal whole numbers from 0.
[[nodiscard]] std::string number_error(const std::string& text);
/// Refuses all but decimal whole numbers from 1.
[[nodiscard]] std::string count_error(const std::string& text);

}  // namespace roce::cli
