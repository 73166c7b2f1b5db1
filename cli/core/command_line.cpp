// SPDX-License-Identifier: Apache-2.0
#include "cli/core/command_line.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/core/edit_distance.hpp"
#include "cli/core/charset.hpp"
#include "cli/core/command.hpp"
#include "cli/core/command_tree.hpp"
#include "cli/core/config_file.hpp"
#include "cli/core/input_files.hpp"
#include "cli/core/output.hpp"
#include "cli/core/version.hpp"

namespace roce::cli {
namespace {

constexpr std::string_view see_help = "Run with --help for more information.";

bool is_command(std::string_view word) {
  const std::vector<std::string_view> names = command_names();
  return std::find(names.begin(), names.end(), word) != names.end();
}

/// Whether `roceanalyze FILE...`, short for `roceanalyze report FILE...`, is meant: unless the command line
/// begins with a command or requests help or the version.
bool is_short_for_report(const std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 4> global = {"-h", "--help", "--version", "--help-all"};
  return !is_command(words.front()) && std::find(global.begin(), global.end(), words.front()) == global.end();
}

bool exists(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string_view>& words) {
  const std::string_view meant = capture::nearest_word(typed, words);
  return meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant);
}

/// Error message if the first word is meant as a command, but is none: it looks like a name of a command and
/// there is no file of that name. Else empty.
std::string unknown_command(const std::string& word) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
  if (word.empty() || word.front() == '-' || word.find_first_not_of(letters) != std::string::npos) return {};
  if (exists(word)) return {};
  const std::vector<std::string_view> names = command_names();
  const std::string meant = did_you_mean(word, names);
  return fmt::format("unknown command '{}', and no file of that name{}", word,
                     meant.empty() ? fmt::format("; commands are: {}", fmt::join(names, ", ")) : meant);
}

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Error message for the first word that no option or argument of the command takes, with the nearest word
/// that would be; empty if there is none. `global`: the options before a command are possible, too.
std::string unknown_word(const CLI::App& command, bool global) {
  std::vector<std::string> left = command.remaining();
  std::erase(left, "--");
  if (left.empty()) return {};
  // An unknown option first: a word after it may have been its value.
  const auto option =
      std::find_if(left.begin(), left.end(), [](const std::string& word) { return word.starts_with('-'); });
  if (option == left.end()) {
    std::vector<std::string_view> below;
    for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; }))
      below.push_back(each->get_name());
    return fmt::format("{}: {} '{}'{}", command_name(command),
                       below.empty() ? "unexpected argument" : "unknown command", left.front(),
                       did_you_mean(left.front(), below));
  }
  std::vector<std::string> names = option_names(command);
  if (global && command.get_parent() != nullptr) {
    for (std::string& name : option_names(*command.get_parent())) names.push_back(std::move(name));
  }
  const std::string typed = option->substr(0, option->find('='));
  // Every letter resembles every other: of short options only the other case is suggested.
  std::erase_if(names, [&typed](const std::string& name) {
    return name.size() == 2 && (typed.size() != 2 || (name[1] ^ typed[1]) != ('a' ^ 'A'));
  });
  return fmt::format("{}: unknown option '{}'{}", command_name(command), typed,
                     did_you_mean(typed, {names.begin(), names.end()}));
}

/// Error message if the command needs a FILE and there is none (CLI11 would name -r only); else empty.
std::string missing_file(const CLI::App& command) {
  const CLI::Option* option = command.get_option_no_throw("-r");
  if (option == nullptr || !option->get_required() || option->count() != 0) return {};
  return fmt::format("{}: no FILE given (- is standard input)", command_name(command));
}

/// Error message for files of the command that cannot be meant; else empty.
std::string wrong_files(const CLI::App& command, bool shortened) {
  const CLI::Option* option = command.get_option_no_throw("-r");
  if (option == nullptr || !option->get_positional()) return {};
  const std::vector<std::string>& files = option->results();
  if (const std::string error = input_error(files); !error.empty())
    return fmt::format("{}: {}", command_name(command), error);
  const auto late = std::find_if(files.begin(), files.end(), is_command);
  if (shortened && late != files.end() && !exists(*late))
    return fmt::format("the command '{}' must be the first word, before its options", *late);
  return {};
}

/// The part of the second tree that `command` is in the first.
CLI::App& same_command(CLI::App& app, const CLI::App& command) {
  if (command.get_parent() == nullptr) return app;
  return *same_command(app, *command.get_parent()).get_subcommand(command.get_name());
}

/// Sets the options that configuration files give and the command line (`words`, the last first) does not;
/// false after messages about mistakes in the files. `only`: the command of the tree `app`.
bool use_config(CLI::App& app, const std::string& only, const std::vector<std::string>& words) {
  const bool given = std::any_of(words.begin(), words.end(),
                                 [](const std::string& word) { return word.starts_with("--config"); });
  const auto paths = config_paths();
  const bool named = std::getenv("ROCEANALYZE_CONFIG") != nullptr && !paths.empty();  // then it must exist
  if (!given && !named && std::none_of(paths.begin(), paths.end(), exists)) return true;
  // What is typed is known after parsing, which uses the options up.
  const CommandTree typed = command_tree(only);
  try {
    typed.app->parse(std::vector<std::string>(words));
  } catch (const CLI::ParseError&) {  // is told when the words are parsed for good
  }
  const CLI::App& command = parsed_command(*typed.app);
  if (!reads_config(command) || command.get_help_ptr()->count() != 0) return true;
  const CLI::Option* option = command.get_option_no_throw("--config");
  if (option == nullptr) return true;
  const Config config =
      load_config(option->count() == 0 ? std::nullopt : std::optional(option->results().back()));
  for (const analyze::PolicyError& error : config.errors) print_error(error.describe());
  if (!config.errors.empty()) return false;
  preset_options(same_command(app, command), command, config);
  return true;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  (void)locale_is_utf8();  // reads files, which a sandbox may forbid later
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (!words.empty() && words.front() == "--version") {
    Output out(Encoding::locale);
    out.write(version_text());
    return out.finish();
  }

  const bool shortened = !words.empty() && is_short_for_report(words);
  if (shortened) {
    if (const std::string error = unknown_command(words.front()); !error.empty())
      return usage_error(error, see_help);
    words.insert(words.begin(), "report");
  }
  const std::string only = !words.empty() && is_command(words.front()) ? words.front() : std::string();
  CommandTree tree = command_tree(only);
  CLI::App& app = *tree.app;
  if (words.empty()) {
    print_error("no FILE and no command given");
    Output(Encoding::locale, 2).write(app.help());
    return exit_usage;
  }
  std::reverse(words.begin(), words.end());  // CLI11 takes the words in reverse order
  if (!only.empty() && !use_config(app, only, words)) return exit_usage;
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      (void)app.exit(error);  // not an error: help
      return exit_ok;
    }
    // The mistyped word, if there is one: that something else is missing is often its consequence.
    std::string message = unknown_word(parsed_command(app), shortened);
    if (message.empty()) message = missing_file(parsed_command(app));
    return usage_error(message.empty() ? error.what() : message, see_help);
  }
  if (const std::string error = wrong_files(parsed_command(app), shortened); !error.empty())
    return usage_error(error, see_help);
  return (*tree.action)();
}

}  // namespace roce::cli
