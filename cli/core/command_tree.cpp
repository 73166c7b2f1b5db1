// SPDX-License-Identifier: Apache-2.0
#include "cli/core/command_tree.hpp"

#include <CLI/CLI.hpp>

namespace roce::cli {
namespace {

struct Command {
  std::string_view name;
  void (*add)(CLI::App&, Action&);
};
#define ROCE_ROW(name) {#name, add_##name},
constexpr Command commands[] = {ROCE_COMMANDS(ROCE_ROW)};
#undef ROCE_ROW

}  // namespace

CommandTree command_tree(std::string_view only) {
  CommandTree tree{std::make_unique<Action>(), std::make_shared<CLI::App>()};
  CLI::App& app = *tree.app;
  app.name("roceanalyze");
  app.description("Packet dissector and traffic analyzer for RDMA over Converged Ethernet (RoCE).");
  app.footer("roceanalyze FILE... is short for roceanalyze report FILE...");
  app.require_subcommand(1);
  app.add_flag_callback(
      "--version", [] {}, "print the version and what is built in");  // handled before parsing
  for (const Command& command : commands) {
    if (only.empty() || only == command.name) command.add(app, *tree.action);
  }
  for_each_command(app, [](CLI::App& command) {
    if (reads_config(command)) add_config_option(command);
  });
  return tree;
}

bool reads_config(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  if (parent != nullptr && parent->get_parent() != nullptr) return reads_config(*parent);
  const std::string& name = command.get_name();
  return name != "config" && name != "schema" && name != "completion";
}

void add_config_option(CLI::App& command) {
  command.add_option("--config", CLI::callback_t(), "read this configuration file and no other")
      ->check(empty_error)
      ->type_name("FILE");
}

std::vector<std::string_view> command_names() {
  std::vector<std::string_view> names;
  for (const Command& command : commands) names.push_back(command.name);
  return names;
}

std::string command_name(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  const bool nested = parent != nullptr && parent->get_parent() != nullptr;
  return (nested ? command_name(*parent) + " " : std::string()) + command.get_name();
}

const CLI::App& parsed_command(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : parsed_command(*parsed.front());
}

void for_each_command(CLI::App& app, const std::function<void(CLI::App&)>& use) {
  const auto below = app.get_subcommands([](CLI::App*) { return true; });
  for (CLI::App* command : below) for_each_command(*command, use);
  if (below.empty() && app.get_parent() != nullptr) use(app);
}

std::vector<std::string> config_names(const CLI::App& command, const CLI::Option& option) {
  if (&option == command.get_help_ptr() || option.get_positional() || option.check_lname("config")) return {};
  std::vector<std::string> names = option.get_lnames();
  names.insert(names.end(), option.get_snames().begin(), option.get_snames().end());
  return names;
}

}  // namespace roce::cli
