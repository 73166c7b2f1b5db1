// SPDX-License-Identifier: Apache-2.0
#include "cli/completion/candidates.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "analyze/filter/field_registry.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "analyze/results/finding.hpp"
#include "capture/host/read_host.hpp"
#include "capture/network/device_list.hpp"
#include "cli/core/command_tree.hpp"

namespace roce::cli {
namespace {

class Candidates {
 public:
  explicit Candidates(std::string typed) : typed_(std::move(typed)) {}

  /// `before`: what of the word stays as it is, "a," of a list.
  void add(std::string_view word, std::string_view help, std::string_view before = {}) {
    std::string whole = std::string(before) + std::string(word);
    if (!whole.starts_with(typed_)) return;
    std::string line(help.substr(0, help.find('\n')));
    std::replace(line.begin(), line.end(), '\t', ' ');
    all.push_back({std::move(whole), std::move(line)});
  }
  [[nodiscard]] const std::string& typed() const noexcept { return typed_; }

  std::vector<Candidate> all;

 private:
  std::string typed_;
};

std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

/// "{auto,always,never}" of a type's name; empty if there is no such list.
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t from = type.find(":{");
  std::vector<std::string> words;
  if (from == std::string::npos) return words;
  std::size_t at = from + 2;
  const std::size_t end = type.find('}', at);
  while (at < end) {
    const std::size_t comma = std::min(type.find(',', at), end);
    words.push_back(type.substr(at, comma - at));
    at = comma + 1;
  }
  return words;
}

/// Fields of filters, the last of an expression.
void add_fields(Candidates& to, std::string_view before) {
  const std::string typed = to.typed().substr(before.size());
  const std::size_t last = typed.find_last_of(" !(&|{'\"");
  const std::string begun = last == std::string::npos ? std::string() : typed.substr(0, last + 1);
  for (const analyze::FieldRef field : analyze::all_fields()) {
    const analyze::FieldFacts& facts = analyze::field_facts(field);
    to.add(facts.name, facts.label, std::string(before) + begun);
  }
}

void add_triggers(Candidates& to, std::string_view before) {
  const std::string typed = to.typed().substr(before.size());
  const std::size_t last = typed.rfind(',');
  const std::string begun =
      std::string(before) + (last == std::string::npos ? "" : typed.substr(0, last + 1));
  for (const char* word : {"info", "notice", "warning", "error", "retransmission", "loss", "ce"})
    to.add(word, "", begun);
  for (const analyze::FindingRule& rule : analyze::finding_rules()) to.add(rule.id, rule.title, begun);
}

void add_network_devices(Candidates& to, std::string_view before) {
  for (const capture::RdmaDevice& device : capture::read_host(capture::HostOptions()).devices)
    to.add(device.name, "RDMA device", before);
  if (const auto networks = capture::list_network_devices()) {
    for (const capture::NetworkDevice& device : *networks)
      to.add(device.name, device.description.empty() ? "network interface" : device.description, before);
  }
}

void add_values(const CLI::Option& option, Candidates& to, std::string_view before) {
  const std::string type = type_of(option);
  for (const std::string& word : choices_of(option)) to.add(word, "", before);
  if (type == "DEVICE") add_network_devices(to, before);
  if (type == "EXPR" || type == "FIELD") add_fields(to, before);
  if (type == "WHAT") add_triggers(to, before);
  if (type == "FILE|PROFILE") {
    for (const analyze::PolicyProfile& profile : analyze::policy_profiles())
      to.add(profile.name, profile.summary, before);
  }
}

const CLI::Option* find_option(const CLI::App& command, std::string_view word) {
  return word.size() < 2 || word.front() != '-' ? nullptr : command.get_option_no_throw(std::string(word));
}

CLI::App* below(CLI::App& command, const std::string& name) {
  const auto found = command.get_subcommands([&](CLI::App* each) { return each->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() != 0;
}

}  // namespace

std::vector<Candidate> candidates(const std::vector<std::string>& words) {
  Candidates to(words.empty() ? std::string() : words.back());
  CommandTree tree = command_tree();
  CLI::App* command = tree.app.get();
  std::size_t at = 0;
  for (; at + 1 < words.size(); ++at) {
    CLI::App* next = below(*command, words[at]);
    if (next == nullptr) break;
    command = next;
  }
  // Files without a command are for `report`.
  if (command->get_parent() == nullptr && words.size() > 1) command = below(*command, "report");
  const auto inner = command->get_subcommands([](CLI::App*) { return true; });
  const std::string& typed = to.typed();

  bool only_files = false;
  const CLI::Option* value_of = nullptr;
  for (; at + 1 < words.size(); ++at) {
    const CLI::Option* option = value_of == nullptr ? find_option(*command, words[at]) : nullptr;
    value_of = option != nullptr && takes_value(*option) ? option : nullptr;
    only_files = only_files || (words[at] == "--" && option == nullptr);
  }
  if (value_of != nullptr) {
    add_values(*value_of, to, "");
  } else if (const std::size_t equals = typed.find('=');
             typed.starts_with("--") && equals != std::string::npos) {
    const CLI::Option* option = find_option(*command, typed.substr(0, equals));
    if (option != nullptr && takes_value(*option)) add_values(*option, to, typed.substr(0, equals + 1));
  } else if (typed.starts_with('-') && !only_files) {
    for (const CLI::Option* option : command->get_options([](CLI::Option*) { return true; })) {
      for (const std::string& name : option->get_lnames()) to.add("--" + name, option->get_description());
      for (const std::string& name : option->get_snames()) to.add("-" + name, option->get_description());
    }
    if (command->get_parent() == nullptr) {
      for (const CLI::Option* option :
           below(*command, "report")->get_options([](CLI::Option*) { return true; })) {
        for (const std::string& name : option->get_lnames()) {
          if (name != "help") to.add("--" + name, option->get_description());
        }
      }
    }
  } else if (!only_files) {
    for (const CLI::App* each : inner) to.add(each->get_name(), each->get_description());
    for (const CLI::Option* option : command->get_options([](CLI::Option*) { return true; })) {
      if (!option->get_positional()) continue;
      for (const std::string& word : choices_of(*option)) to.add(word, "");
    }
  }
  return std::move(to.all);
}

}  // namespace roce::cli
