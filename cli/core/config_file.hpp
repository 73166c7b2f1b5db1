// SPDX-License-Identifier: Apache-2.0
// Configuration files: options of commands, under the names that they have on the command line
// (docs/usage.md).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "analyze/policy/policy_error.hpp"
#include "analyze/policy/toml_tree.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace roce::cli {

/// One key of a file.
struct ConfigValue {
  std::string command;             ///< "capture", "policy learn"; empty: of [defaults]
  std::string option;              ///< as it stands in the file: "link-speed", "b"
  std::vector<std::string> words;  ///< values as words of a command line; of a flag "true" or "false"
  std::string toml;                ///< the value as TOML
  std::string file;
  analyze::TextPlace place;  ///< of the key
};

struct ConfigFile {
  std::string path;
  std::vector<ConfigValue> values;  ///< in the order of the file
};

/// Files in the order of their reading: a later one overrides an earlier one.
struct Config {
  std::vector<ConfigFile> files;
  analyze::PolicyErrors errors;  ///< none: all files are valid
};

/// Files that are read without --config, whether they exist or not: /etc/roceanalyze.toml, then
/// roceanalyze/roceanalyze.toml in the user's XDG_CONFIG_HOME; instead of both that of ROCEANALYZE_CONFIG,
/// none if that is set and empty.
[[nodiscard]] std::vector<std::string> config_paths();

/// Reads a file and checks every key and value against the options of the commands.
[[nodiscard]] tl::expected<ConfigFile, analyze::PolicyErrors> read_config(const std::string& path);

/// Reads the file given, which must exist, else those of config_paths() that exist.
[[nodiscard]] Config load_config(const std::optional<std::string>& given);

/// Options that may stand in [defaults].
[[nodiscard]] std::vector<std::string_view> default_names();

/// The value in effect for an option of a command: its own table comes before [defaults], a later file before
/// an earlier one. Null if there is none.
[[nodiscard]] const ConfigValue* config_value(const Config& config, const CLI::App& command,
                                              const CLI::Option& option);

/// Gives the options of `command`, before it is parsed, the values of the files, except those that `typed`,
/// the same command after parsing, has on the command line, and those that such an option excludes.
void preset_options(CLI::App& command, const CLI::App& typed, const Config& config);

}  // namespace roce::cli
