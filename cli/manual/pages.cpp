// SPDX-License-Identifier: Apache-2.0
#include "cli/manual/pages.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "analyze/filter/field_registry.hpp"
#include "cli/core/command_tree.hpp"
#include "cli/core/version.hpp"
#include "cli/manual/roff.hpp"

namespace roce::cli {
namespace {

std::string document(const std::string& docs, const std::string& name) {
  std::ifstream file(docs + "/" + name, std::ios::binary);
  if (!file) throw std::runtime_error(docs + "/" + name + " is missing");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string title(std::string name, int section, const std::string& date, std::string_view summary) {
  const std::string version = version_text();
  const std::string program = version.substr(0, version.find('\n'));
  std::string upper = name;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return fmt::format(
      ".\\\" SPDX-License-Identifier: Apache-2.0\n.\\\" Generated from the options of the program and "
      "docs/.\n"
      ".TH \"{}\" \"{}\" \"{}\" \"{}\" \"{}\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n",
      roff_text(upper), section, date, roff_text(program),
      section == 1   ? "User Commands"
      : section == 5 ? "File Formats"
                     : "Miscellaneous Information",
      roff_text(name), roff_text(summary));
}

/// Text of one line, or lines that are kept as they are.
std::string paragraph(std::string_view text) {
  const bool kept = text.find('\n') != std::string_view::npos;
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string line = roff_text(text.substr(0, end));
    if (!line.empty()) out += (line.front() == '.' ? "\\&" : "") + line + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kept ? ".nf\n" + out + ".fi\n" : out;
}

/// "-c, --max-packets N"
std::string option_term(const CLI::Option& option) {
  std::string names;
  const auto add = [&](std::string_view dashes, const std::string& name) {
    names += names.empty() ? "" : ", ";
    names += "\\fB" + roff_text(std::string(dashes) + name) + "\\fR";
  };
  for (const std::string& name : option.get_snames()) add("-", name);
  for (const std::string& name : option.get_lnames()) add("--", name);
  std::string type = option.get_type_name();
  type = type.substr(0, type.find(':'));
  if (option.get_items_expected_max() != 0 && !type.empty()) names += " \\fI" + roff_text(type) + "\\fR";
  return names;
}

std::string options_of(CLI::App& command) {
  std::string out;
  std::vector<std::string> groups;
  const auto options = command.get_options([](CLI::Option*) { return true; });
  for (const CLI::Option* option : options) {
    if (std::find(groups.begin(), groups.end(), option->get_group()) == groups.end())
      groups.push_back(option->get_group());
  }
  for (const std::string& group : groups) {
    if (group.empty()) continue;
    std::string part;
    for (const CLI::Option* option : options) {
      if (option->get_group() != group) continue;
      std::string term = option_term(*option);
      if (term.empty()) term = "\\fI" + roff_text(option->get_name(true)) + "\\fR";
      part += ".TP\n" + term + "\n" + paragraph(option->get_description());
    }
    if (group != "Options") part = ".SS \"" + roff_text(group) + "\"\n" + part;
    out += part;
  }
  return out;
}

std::string synopsis(CLI::App& command) {
  std::string out = ".B roceanalyze " + roff_text(command_name(command)) + "\n[\\fIOPTIONS\\fR]";
  for (const CLI::Option* option : command.get_options([](CLI::Option*) { return true; })) {
    if (!option->get_positional()) continue;
    const std::string name =
        roff_text(option->get_single_name().starts_with("FILE") || option->check_sname("r")
                      ? "FILE"
                      : option->get_single_name());
    const bool several = option->get_items_expected_max() > 1;
    out += fmt::format(" {}\\fI{}\\fR{}{}", option->get_required() ? "" : "[", name, several ? "..." : "",
                       option->get_required() ? "" : "]");
  }
  return out + "\n";
}

std::string see_also(const std::string& own, const std::vector<std::string>& pages) {
  std::string out = ".SH SEE ALSO\n";
  std::vector<std::string> others;
  for (const std::string& page : pages) {
    if (page != own) others.push_back(page);
  }
  for (std::size_t i = 0; i < others.size(); ++i) {
    const std::size_t dot = others[i].rfind('.');
    out += fmt::format(".BR {} ({}){}\n", roff_text(others[i].substr(0, dot)), others[i].substr(dot + 1),
                       i + 1 < others.size() ? " ," : "");
  }
  return out;
}

struct Document {
  std::string_view file;
  std::string_view page;
  int section;
  std::string_view summary;
};
constexpr Document documents[] = {
    {"filters.md", "roceanalyze-filters", 7, "display filters of roceanalyze"},
    {"policy.md", "roceanalyze-policy-file", 5, "policies that packets are validated against"},
    {"configuration.md", "roceanalyze.toml", 5, "configuration file of roceanalyze"},
};

std::string field_list() {
  std::string out = ".SH \"ALL FIELDS\"\n";
  for (const analyze::FieldRef field : analyze::all_fields()) {
    const analyze::FieldFacts& facts = analyze::field_facts(field);
    out += fmt::format(".TP\n.B {}\n{}", roff_text(facts.name),
                       facts.label.empty() ? "\\&\n" : paragraph(facts.label));
  }
  return out;
}

}  // namespace

std::vector<ManualPage> manual_pages(const std::string& docs, const std::string& date) {
  CommandTree tree = command_tree();
  const auto commands = tree.app->get_subcommands([](CLI::App*) { return true; });
  std::vector<std::string> names{"roceanalyze.1"};
  for (const CLI::App* command : commands) names.push_back("roceanalyze-" + command->get_name() + ".1");
  std::vector<std::string> general{"roceanalyze.1"};
  for (const Document& each : documents) {
    names.push_back(fmt::format("{}.{}", each.page, each.section));
    general.push_back(names.back());
  }
  const std::string usage = document(docs, "usage.md");
  std::string exit_section = markdown_section(usage, "Exit status");
  exit_section.erase(std::min(exit_section.find("\n### "), exit_section.size()));
  const std::string exit_text = ".SH \"EXIT STATUS\"\n" + roff_of_markdown(exit_section);

  std::vector<ManualPage> pages;
  std::string text = title("roceanalyze", 1, date, "analyze RDMA over Converged Ethernet");
  text +=
      ".SH SYNOPSIS\n.B roceanalyze\n\\fIFILE\\fR...\n.br\n.B roceanalyze\n\\fICOMMAND\\fR [\\fIOPTIONS\\fR] "
      "...\n";
  text += ".SH DESCRIPTION\n" + paragraph(tree.app->get_description()) + paragraph(tree.app->get_footer());
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands)
    text += fmt::format(".TP\n.BR roceanalyze\\-{} (1)\n{}", roff_text(command->get_name()),
                        paragraph(command->get_description()));
  text += ".SH OPTIONS\n" + options_of(*tree.app) + exit_text;
  text += ".SH FILES\nSee\n.BR roceanalyze.toml (5).\n" + see_also("roceanalyze.1", names);
  pages.push_back({"roceanalyze.1", std::move(text)});

  for (CLI::App* command : commands) {
    const std::string name = "roceanalyze-" + command->get_name();
    std::string page = title(name, 1, date, command->get_description());
    std::string body;
    std::string forms;
    for_each_command(*command, [&](CLI::App& each) {
      forms += (forms.empty() ? "" : ".br\n") + synopsis(each);
      if (&each == command) {
        body += ".SH OPTIONS\n" + options_of(each);
      } else {
        body += ".SH \"" + roff_text("roceanalyze " + command_name(each)) + "\"\n" +
                paragraph(each.get_description()) + options_of(each);
      }
    });
    page += ".SH SYNOPSIS\n" + forms + body + exit_text + see_also(name + ".1", general);
    pages.push_back({name + ".1", std::move(page)});
  }
  for (const Document& each : documents) {
    const std::string name = fmt::format("{}.{}", each.page, each.section);
    std::string page = title(std::string(each.page), each.section, date, each.summary);
    std::string body = roff_of_markdown(document(docs, std::string(each.file)));
    page += ".SH DESCRIPTION\n" + body;
    if (each.section == 7) page += field_list();
    page += see_also(name, general);
    pages.push_back({name, std::move(page)});
  }
  return pages;
}

}  // namespace roce::cli
