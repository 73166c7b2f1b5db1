// SPDX-License-Identifier: Apache-2.0
#include "cli/core/config_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <utility>

#include "analyze/policy/policy_quote.hpp"
#include "capture/core/edit_distance.hpp"
#include "cli/core/command_tree.hpp"

namespace roce::cli {
namespace {

using analyze::PolicyError;
using analyze::PolicyErrors;
using analyze::TomlEntry;
using analyze::TomlNode;

constexpr std::string_view defaults_table = "defaults";
constexpr std::size_t longest_config = 1U << 20U;  // bytes

/// What [defaults] may have: options that mean the same in all commands that have them, `only` those named
/// where another command means something else by the name.
struct DefaultRow {
  std::string_view name;
  std::vector<std::string_view> only{};
};
const std::array<DefaultRow, 15>& default_rows() {
  static const std::array<DefaultRow, 15> rows{{{"policy"},
                                                {"link-speed"},
                                                {"pause-storm"},
                                                {"pfc-watchdog"},
                                                {"trimmed-dscp"},
                                                {"mrc-port"},
                                                {"decode-as"},
                                                {"roce-ip-protocol"},
                                                {"no-icrc"},
                                                {"time"},
                                                {"jobs"},
                                                {"no-sandbox"},
                                                {"color"},
                                                {"fabric"},
                                                {"store", {"fleet", "ship"}}}};
  return rows;
}

const DefaultRow* find_default(std::string_view name) {
  for (const DefaultRow& row : default_rows()) {
    if (row.name == name) return &row;
  }
  return nullptr;
}

bool row_is_for(const DefaultRow& row, const CLI::App& command) {
  return row.only.empty() ||
         std::find(row.only.begin(), row.only.end(), command.get_name()) != row.only.end();
}

std::string nearest(std::string_view typed, const std::vector<std::string>& words) {
  const std::vector<std::string_view> views(words.begin(), words.end());
  // Every letter resembles every other.
  const std::string_view meant = typed.size() < 2 ? std::string_view() : capture::nearest_word(typed, views);
  return meant.empty() ? std::string() : fmt::format("; did you mean '{}'?", meant);
}

/// "[policy.learn]"
std::string table_name(std::string_view command) {
  std::string name(command.empty() ? defaults_table : command);
  std::replace(name.begin(), name.end(), ' ', '.');
  return "[" + name + "]";
}

CLI::Option* find_named(CLI::App& command, std::string_view name) {
  for (CLI::Option* option : command.get_options([](CLI::Option*) { return true; })) {
    const std::vector<std::string> names = config_names(command, *option);
    if (std::find(names.begin(), names.end(), name) != names.end()) return option;
  }
  return nullptr;
}

/// Whether the option is an argument without a name, or one that only the command line has.
bool only_typed(CLI::App& command, const std::string& name) {
  const CLI::Option* option = command.get_option_no_throw((name.size() == 1 ? "-" : "--") + name);
  return option != nullptr && config_names(command, *option).empty();
}

tl::expected<std::string, int> read_config_text(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return tl::unexpected(errno);
  std::string text(longest_config + 1, '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(file, text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int failure = errno;
      ::close(file);
      return tl::unexpected(failure);
    }
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  ::close(file);
  if (length > longest_config) return tl::unexpected(EFBIG);
  text.resize(length);
  return text;
}

/// Reads a document by the tables of options.
class ConfigReader {
 public:
  explicit ConfigReader(std::string path) : tree_(command_tree()) { file_.path = std::move(path); }

  void read(const TomlNode& document) {
    std::vector<std::string> tables{std::string(defaults_table)};
    for (const CLI::App* each : below(*tree_.app)) tables.push_back(each->get_name());
    for (const TomlEntry& entry : document.entries) {
      if (entry.value.kind != TomlNode::Kind::table) {
        if (find_default(entry.key) != nullptr) {
          wrong(entry, fmt::format("'{}' stands in a table: [defaults], or that of a command", entry.key));
        } else {
          wrong(entry, fmt::format("no table {}: options stand in [defaults] or in the table of a command",
                                   analyze::key_text(entry.key)));
        }
      } else if (entry.key == defaults_table) {
        for (const TomlEntry& option : entry.value.entries) read_default(option);
      } else {
        read_table(*tree_.app, entry, tables, "no command");
      }
    }
  }

  ConfigFile file_;
  PolicyErrors errors_;

 private:
  static std::vector<CLI::App*> below(CLI::App& app) {
    return app.get_subcommands([](CLI::App*) { return true; });
  }

  void wrong(const TomlEntry& entry, std::string message) { wrong_at(entry.place, std::move(message)); }
  void wrong_at(const analyze::TextPlace& place, std::string message) {
    if (errors_.size() < analyze::policy_errors_kept)
      errors_.push_back({file_.path, place.line, place.column, std::move(message)});
  }

  void read_table(CLI::App& parent, const TomlEntry& entry, const std::vector<std::string>& names,
                  std::string_view unknown) {
    const auto same = parent.get_subcommands([&](CLI::App* each) { return each->get_name() == entry.key; });
    CLI::App* command = same.empty() ? nullptr : same.front();
    if (command == nullptr || !reads_config(*command))
      return wrong(entry,
                   fmt::format("{} {}{}", unknown, analyze::key_text(entry.key), nearest(entry.key, names)));
    std::vector<std::string> inner;
    for (const CLI::App* each : below(*command)) inner.push_back(each->get_name());
    for (const TomlEntry& option : entry.value.entries) {
      if (inner.empty()) {
        read_option(*command, option, command_name(*command));
      } else if (option.value.kind == TomlNode::Kind::table) {
        read_table(*command, option, inner, fmt::format("{}: no command", command->get_name()));
      } else {
        wrong(option, fmt::format("no key {} in [{}]: it has tables for its commands, [{}.{}]",
                                  analyze::key_text(option.key), command->get_name(), command->get_name(),
                                  inner.front()));
      }
    }
  }

  void read_default(const TomlEntry& entry) {
    const DefaultRow* row = find_default(entry.key);
    if (row == nullptr) {
      const std::vector<std::string_view> known = default_names();
      return wrong(entry, fmt::format("no key {} in [defaults]{}", analyze::key_text(entry.key),
                                      nearest(entry.key, {known.begin(), known.end()})));
    }
    bool done = false;
    for_each_command(*tree_.app, [&](CLI::App& command) {
      if (done || !row_is_for(*row, command) || find_named(command, entry.key) == nullptr) return;
      done = true;
      read_option(command, entry, {});
    });
  }

  /// `of`: the command for the result, "" for [defaults].
  void read_option(CLI::App& command, const TomlEntry& entry, const std::string& of) {
    CLI::Option* option = find_named(command, entry.key);
    if (option == nullptr) {
      if (only_typed(command, entry.key))
        return wrong(entry, fmt::format("'{}' is given on the command line only", entry.key));
      std::vector<std::string> names;
      for (CLI::Option* each : command.get_options([](CLI::Option*) { return true; })) {
        for (std::string& name : config_names(command, *each)) names.push_back(std::move(name));
      }
      return wrong(entry, fmt::format("no key {} in {}{}", analyze::key_text(entry.key),
                                      table_name(command_name(command)), nearest(entry.key, names)));
    }
    const std::vector<std::string> names = config_names(command, *option);
    for (const ConfigValue& before : file_.values) {
      if (before.command == of && std::find(names.begin(), names.end(), before.option) != names.end())
        return wrong(entry, fmt::format("'{}' is the same option as '{}' in line {}", entry.key,
                                        before.option, before.place.line));
    }
    ConfigValue value{of, entry.key, {}, {}, file_.path, entry.place};
    if (!read_words(entry, *option, value)) return;
    try {
      option->clear();
      option->add_result(value.words);
      option->run_callback();
    } catch (const CLI::ParseError& error) {
      std::string message = error.what();
      if (message.starts_with(option->get_name() + ": ")) message.erase(0, option->get_name().size() + 2);
      return wrong_at(entry.value.place, fmt::format("{}: {}", entry.key, message));
    }
    option->clear();
    file_.values.push_back(std::move(value));
  }

  bool read_words(const TomlEntry& entry, const CLI::Option& option, ConfigValue& value) {
    using enum TomlNode::Kind;
    const bool flag = option.get_items_expected_max() == 0;
    const bool several = option.get_items_expected_max() > 1 ||
                         option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    const TomlNode& node = entry.value;
    if (flag != (node.kind == boolean)) {
      wrong_at(node.place,
               fmt::format("{}: expected {}, not {}", entry.key,
                           flag ? "true or false" : "a string or a whole number", kind_text(node)));
      return false;
    }
    if (node.kind == array && !several) {
      wrong_at(node.place, fmt::format("{}: takes one value, not a list", entry.key));
      return false;
    }
    const auto add = [&](const TomlNode& item) {
      const bool good = item.kind == string || item.kind == integer || item.kind == boolean;
      if (!good)
        wrong_at(item.place,
                 fmt::format("{}: expected a string or a whole number, not {}", entry.key, kind_text(item)));
      value.words.push_back(item.kind == string    ? item.text
                            : item.kind == boolean ? std::string(item.number != 0 ? "true" : "false")
                                                   : std::to_string(item.number));
      value.toml += value.toml.empty() ? "" : ", ";
      value.toml += item.kind == string ? analyze::toml_string(item.text) : value.words.back();
      return good;
    };
    if (node.kind != array) return add(node);
    if (node.items.empty()) {
      wrong_at(node.place, fmt::format("{}: an empty list; leave the key out instead", entry.key));
      return false;
    }
    const bool good = std::all_of(node.items.begin(), node.items.end(), add);
    value.toml = "[" + value.toml + "]";
    return good;
  }

  CommandTree tree_;
};

PolicyErrors unreadable(const std::string& path, int failure) {
  return {{path, 0, 0, failure == EFBIG ? "is larger than 1 MiB" : std::strerror(failure)}};
}

/// Whether the option says whose rows a store gets, or how, and the command has no store.
bool lacks_its_store(CLI::App& command, const CLI::Option& option, const CLI::App& typed,
                     const Config& config) {
  const CLI::Option* store = command.get_option_no_throw("--store");
  if (store == nullptr || store == &option || option.get_group() != store->get_group() ||
      store->get_group() == "Options")
    return false;
  return typed.get_option_no_throw("--store")->count() == 0 &&
         config_value(config, command, *store) == nullptr;
}

}  // namespace

std::vector<std::string> config_paths() {
  if (const char* given = std::getenv("ROCEANALYZE_CONFIG"); given != nullptr)
    return *given == '\0' ? std::vector<std::string>{} : std::vector<std::string>{given};
  std::vector<std::string> paths{"/etc/roceanalyze.toml"};
  const char* home = std::getenv("XDG_CONFIG_HOME");
  std::string folder = home != nullptr && *home == '/' ? home : "";
  if (home = std::getenv("HOME"); folder.empty() && home != nullptr && *home == '/')
    folder = std::string(home) + "/.config";
  if (!folder.empty()) paths.push_back(folder + "/roceanalyze/roceanalyze.toml");
  return paths;
}

tl::expected<ConfigFile, PolicyErrors> read_config(const std::string& path) {
  const auto text = read_config_text(path);
  if (!text) return tl::unexpected(unreadable(path, text.error()));
  const auto document = analyze::parse_toml(*text);
  if (!document) {
    PolicyError error = document.error();
    error.file = path;
    return tl::unexpected(PolicyErrors{std::move(error)});
  }
  ConfigReader reader(path);
  reader.read(*document);
  if (!reader.errors_.empty()) return tl::unexpected(std::move(reader.errors_));
  return std::move(reader.file_);
}

Config load_config(const std::optional<std::string>& given) {
  Config config;
  for (const std::string& path : given ? std::vector<std::string>{*given} : config_paths()) {
    const bool required = given || std::getenv("ROCEANALYZE_CONFIG") != nullptr;
    if (!required && ::access(path.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)) continue;
    auto file = read_config(path);
    if (file) {
      config.files.push_back(std::move(*file));
    } else {
      config.errors.insert(config.errors.end(), file.error().begin(), file.error().end());
    }
  }
  return config;
}

std::vector<std::string_view> default_names() {
  std::vector<std::string_view> names;
  for (const DefaultRow& row : default_rows()) names.push_back(row.name);
  return names;
}

const ConfigValue* config_value(const Config& config, const CLI::App& command, const CLI::Option& option) {
  const std::vector<std::string> names = config_names(command, option);
  const std::string own = command_name(command);
  const ConfigValue* found = nullptr;
  for (const ConfigFile& file : config.files) {
    for (const ConfigValue& value : file.values) {
      if (std::find(names.begin(), names.end(), value.option) == names.end()) continue;
      if (value.command == own) {
        found = &value;
      } else if (value.command.empty() && (found == nullptr || found->command.empty())) {
        const DefaultRow* row = find_default(value.option);
        if (row != nullptr && row_is_for(*row, command)) found = &value;
      }
    }
  }
  return found;
}

void preset_options(CLI::App& command, const CLI::App& typed, const Config& config) {
  const auto options = command.get_options([](CLI::Option*) { return true; });
  const auto typed_options = typed.get_options([](const CLI::Option*) { return true; });
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto excluded = typed_options[i]->get_excludes();
    const bool overridden = typed_options[i]->count() != 0 ||
                            std::any_of(excluded.begin(), excluded.end(),
                                        [](const CLI::Option* each) { return each->count() != 0; });
    const ConfigValue* value = overridden ? nullptr : config_value(config, command, *options[i]);
    if (value != nullptr && !lacks_its_store(command, *options[i], typed, config))
      options[i]->add_result(value->words);
  }
}

}  // namespace roce::cli
