// SPDX-License-Identifier: Apache-2.0
// The command `config`: checks configuration files, and shows which options they give.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/core/command.hpp"
#include "cli/core/command_tree.hpp"
#include "cli/core/config_file.hpp"
#include "cli/core/output.hpp"
#include "cli/core/page.hpp"

namespace roce::cli {
namespace {

struct ConfigOptions {
  std::string file;  ///< empty: those of config_paths()
};

Config load(const ConfigOptions& options) {
  Config config = load_config(options.file.empty() ? std::nullopt : std::optional(options.file));
  for (const analyze::PolicyError& error : config.errors) print_error(error.describe());
  return config;
}

std::string no_files_text() {
  const std::vector<std::string> paths = config_paths();
  if (paths.empty()) return "no configuration file: ROCEANALYZE_CONFIG is set and empty";
  return fmt::format("no configuration file: there is none at {}", fmt::join(paths, ", nor at "));
}

int run_config_check(const ConfigOptions& options) {
  const Config config = load(options);
  std::string text;
  for (const ConfigFile& file : config.files)
    text +=
        fmt::format("{}: valid, {}\n", printable(file.path), plural(file.values.size(), "option", "options"));
  if (config.files.empty() && config.errors.empty()) text = printable(no_files_text()) + "\n";
  return print_text(text, config.errors.empty() ? exit_ok : exit_usage);
}

/// Rows of one table, each with its place.
std::string table_of_config(const Config& config, const std::string& header, const std::string& command) {
  std::vector<const ConfigValue*> values;
  for (const ConfigFile& file : config.files) {
    for (const ConfigValue& value : file.values) {
      if (value.command == command) values.push_back(&value);
    }
  }
  CommandTree tree = command_tree();
  std::string text;
  const auto in_effect = [&](const ConfigValue& value) {
    bool any = false;
    for_each_command(*tree.app, [&](CLI::App& each) {
      if (!command.empty() && command_name(each) != command) return;
      for (const CLI::Option* option : each.get_options([](CLI::Option*) { return true; }))
        any = any || config_value(config, each, *option) == &value;
    });
    return any;
  };
  for (const ConfigValue* value : values) {
    if (!in_effect(*value)) continue;
    if (text.empty()) text = fmt::format("\n[{}]\n", header);
    text += fmt::format("{} = {}  # {}:{}\n", value->option, value->toml, printable(value->file),
                        value->place.line);
  }
  return text;
}

int run_config_show(const ConfigOptions& options) {
  const Config config = load(options);
  if (!config.errors.empty()) return exit_usage;
  std::string text;
  if (config.files.empty()) text = "# " + printable(no_files_text()) + "\n";
  for (const ConfigFile& file : config.files) text += "# " + printable(file.path) + "\n";
  text += table_of_config(config, "defaults", "");
  CommandTree tree = command_tree();
  for_each_command(*tree.app, [&](CLI::App& command) {
    std::string header = command_name(command);
    for (char& c : header) c = c == ' ' ? '.' : c;
    text += table_of_config(config, header, command_name(command));
  });
  return print_text(text, exit_ok, Encoding::utf8);
}

}  // namespace

void add_config(CLI::App& app, Action& action) {
  CLI::App* config = app.add_subcommand("config", "check and show configuration files");
  config->require_subcommand(1);
  auto options = std::make_shared<ConfigOptions>();
  const auto add = [&](const char* name, const char* help, int (*run)(const ConfigOptions&)) {
    CLI::App* command = config->add_subcommand(name, help);
    command
        ->add_option("FILE,--config", options->file,
                     "the configuration file (default: those that the other commands read)")
        ->check(empty_error)
        ->type_name("FILE");
    command->callback([options, &action, run] { action = [options, run] { return run(*options); }; });
  };
  add("check", "name unknown keys and invalid values, with line", run_config_check);
  add("show", "the options in effect, as one file, each with the line that gives it", run_config_show);
}

}  // namespace roce::cli
