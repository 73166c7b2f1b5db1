// SPDX-License-Identifier: Apache-2.0
// The command `schema`.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/core/text_table.hpp"
#include "cli/schema/documents.hpp"

namespace roce::cli {
namespace {

int print_schema(const std::string& name) {
  if (const JsonDocument* document = find_json_document(name))
    return print_text(json_schema_of(*document), exit_ok, Encoding::utf8);
  TextTable table({{"document", false, 0}, {"version", false, 0}, {"written by", false, 0}});
  for (const JsonDocument& each : json_documents())
    table.add_row({std::string(each.name), std::string(each.version), std::string(each.command)});
  return print_text(table.render(text_width(), 0), exit_ok);
}

}  // namespace

void add_schema(CLI::App& app, Action& action) {
  CLI::App* command =
      app.add_subcommand("schema", "JSON Schema of what commands write as JSON; without DOCUMENT: which");
  auto name = std::make_shared<std::string>();
  std::vector<std::string> names;
  for (const JsonDocument& each : json_documents()) names.emplace_back(each.name);
  command->add_option("DOCUMENT", *name, "what to describe: " + fmt::format("{}", fmt::join(names, ", ")))
      ->check(CLI::IsMember(names))
      ->type_name("");
  command->callback([name, &action] { action = [name] { return print_schema(*name); }; });
}

}  // namespace roce::cli
