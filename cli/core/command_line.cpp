// SPDX-License-Identifier: Apache-2.0
#include "cli/core/command_line.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/core/version.hpp"

namespace roce::cli {
namespace {

struct Command {
  std::string_view name;
  void (*add)(CLI::App&, Action&);
};
#define ROCE_ROW(name) {#name, add_##name},
constexpr Command commands[] = {ROCE_COMMANDS(ROCE_ROW)};
#undef ROCE_ROW

bool is_command(std::string_view word) {
  return std::any_of(std::begin(commands), std::end(commands),
                     [&](const Command& c) { return c.name == word; });
}

/// `roceanalyze FILE...` is short for `roceanalyze report FILE...`: inserts "report" unless the command line
/// begins with a command or requests help or the version.
std::vector<std::string> with_command(std::vector<std::string> words) {
  static constexpr std::array<std::string_view, 4> global = {"-h", "--help", "--version", "--help-all"};
  if (words.empty() || is_command(words.front())) return words;
  if (std::find(global.begin(), global.end(), words.front()) != global.end()) return words;
  words.insert(words.begin(), "report");
  return words;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "--version") {
    Output out;
    out.write(version_text());
    return out.finish();
  }

  CLI::App app("Packet dissector and traffic analyzer for RDMA over Converged Ethernet (RoCE).",
               "roceanalyze");
  app.footer("roceanalyze FILE... is short for roceanalyze report FILE...");
  app.require_subcommand(1);
  bool version = false;  // handled above; here for the help only
  app.add_flag("--version", version, "print the version and what is built in");
  Action action;
  for (const Command& command : commands) command.add(app, action);
  if (words.empty()) {
    print_error("no FILE and no command given");
    Output(2).write(app.help());
    return exit_usage;
  }
  try {
    words = with_command(std::move(words));
    std::reverse(words.begin(), words.end());  // CLI11 takes the words in reverse order
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::Success))
      return usage_error(error.what(), "Run with --help for more information.");
    (void)app.exit(error);  // not an error: help
    return exit_ok;
  }
  return action();
}

}  // namespace roce::cli
