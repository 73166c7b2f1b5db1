// SPDX-License-Identifier: Apache-2.0
// All commands with their options: the table behind --help, the configuration file, man pages and completion.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/core/command.hpp"

namespace CLI {
class Option;
}

namespace roce::cli {

struct CommandTree {
  std::unique_ptr<Action> action;  ///< set by parsing, see command.hpp
  std::shared_ptr<CLI::App> app;
};

/// `only`: the one command to build, as there are hundreds of options; empty: all of them.
[[nodiscard]] CommandTree command_tree(std::string_view only = {});

/// Whether options of a configuration file count for the command: not for those about the file or the program
/// itself.
[[nodiscard]] bool reads_config(const CLI::App& command);
/// --config, whose value is read from the option itself.
void add_config_option(CLI::App& command);

/// In the order of the help.
[[nodiscard]] std::vector<std::string_view> command_names();

/// "policy learn"
[[nodiscard]] std::string command_name(const CLI::App& command);

/// The command on the command line, of sub-commands the innermost; valid after parsing.
[[nodiscard]] const CLI::App& parsed_command(const CLI::App& app);

/// Calls use(command) for each command that does something by itself: of `policy` for `policy learn` only.
void for_each_command(CLI::App& app, const std::function<void(CLI::App&)>& use);

/// Names without dashes as they may stand in a configuration file, long ones first; empty for arguments
/// without a name, --help, --config and captures to read.
[[nodiscard]] std::vector<std::string> config_names(const CLI::App& command, const CLI::Option& option);

}  // namespace roce::cli
