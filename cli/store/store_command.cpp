// SPDX-License-Identifier: Apache-2.0
// The command `store`: makes a store and looks after it.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analyze/base/json_writer.hpp"
#include "analyze/base/units.hpp"
#include "analyze/base/value_format.hpp"
#include "analyze/store/copy.hpp"
#include "analyze/store/ddl.hpp"
#include "analyze/store/store.hpp"
#include "cli/core/command.hpp"
#include "cli/core/output.hpp"
#include "cli/core/text_table.hpp"
#include "cli/store/store_export.hpp"
#include "cli/store/store_status.hpp"
#include "cli/store/target_options.hpp"

namespace roce::cli {
namespace {

struct StoreOptions {
  analyze::StoreTarget target;
  std::string keep;
  std::uint64_t run = 0;
  analyze::StoreTarget copy_to;
  std::string engine = "sqlite";
  std::string users;
  bool json = false;
};

int failed(const capture::Error& error) {
  print_error(error);
  return exit_input;
}

int run_init(const StoreOptions& options) {
  auto made = analyze::init_store(options.target, program_version(), seconds_now());
  if (!made) return failed(made.error());
  return print_text(made->empty() ? fmt::format("{}: is a store already, of version {}\n",
                                                options.target.name, analyze::store_schema_version)
                                  : fmt::format("{}: made, version {}\n", options.target.name,
                                                analyze::store_schema_version),
                    exit_ok);
}

int run_migrate(const StoreOptions& options) {
  auto made = analyze::migrate_store(options.target, program_version(), seconds_now());
  if (!made) return failed(made.error());
  std::string text;
  for (const std::string& statement : *made) text += statement + "\n";
  if (made->empty()) text = fmt::format("{}: nothing to do\n", options.target.name);
  return print_text(text, exit_ok);
}

int run_status(const StoreOptions& options) {
  auto store = analyze::open_store(options.target, analyze::Store::Access::read);
  if (!store) return failed(store.error());
  const auto version = (*store)->version();
  if (!version) return failed(version.error());
  const auto tables = (*store)->status();
  if (!tables) return failed(tables.error());
  if (options.json) {
    Output out(Encoding::utf8);
    analyze::JsonWriter json(out.buffer());
    store_status_object().write(json, {*version, *tables});
    out.write("\n");
    return out.finish();
  }
  TextTable text({{"table", false, 0}, {"rows", true, 0}, {"from", false, 0}, {"to", false, 0}});
  std::int64_t intervals = 0;
  for (const analyze::StoreTableStatus& table : *tables) {
    const auto time = [&](std::int64_t seconds) {
      return table.rows == 0 ? std::string() : analyze::time_text(seconds * 1'000'000'000);
    };
    if (table.table == "intervals") intervals = table.rows;
    text.add_row({std::string(table.table), std::to_string(table.rows), time(table.first_time),
                  time(table.last_time)});
  }
  std::string all = fmt::format("{}: a store of version {}\n\n{}", options.target.name, *version,
                                text.render(text_width(), 0));
  constexpr std::int64_t many = 5'000'000;
  if (intervals > many && (*store)->engine() == analyze::StoreEngine::sqlite)
    all +=
        "\nMore than 5 million rows of intervals: questions over all of them take seconds. Remove old ones "
        "(store prune --keep), or ask with --since.\n";
  return print_text(all, exit_ok);
}

int run_prune(const StoreOptions& options) {
  if (options.keep.empty() == (options.run == 0))
    return usage_error("store prune: either --keep TIME or --run N");
  auto store = analyze::open_store(options.target, analyze::Store::Access::write);
  if (!store) return failed(store.error());
  const auto removed = options.run != 0
                           ? (*store)->remove_run(options.run)
                           : (*store)->remove_before(seconds_now() - parse_span(options.keep).value_or(0));
  if (!removed) return failed(removed.error());
  return print_text(fmt::format("{} rows removed\n", *removed), exit_ok);
}

int run_copy(const StoreOptions& options) {
  analyze::StoreTarget target = options.target;
  target.name = options.copy_to.name;
  if (auto made = analyze::make_store_if_missing(target, program_version(), seconds_now()); !made)
    return failed(made.error());
  auto from = analyze::open_store(options.target, analyze::Store::Access::read);
  if (!from) return failed(from.error());
  auto to = analyze::open_store(target, analyze::Store::Access::write);
  if (!to) return failed(to.error());
  const auto copied = analyze::copy_store(**from, **to);
  if (!copied) return failed(copied.error());
  return print_text(fmt::format("{} rows in {} batches copied to {}, {} batches were there\n", copied->rows,
                                copied->batches, target.name, copied->known),
                    exit_ok);
}

int run_schema(const StoreOptions& options) {
  using analyze::StoreEngine;
  if (options.users == "xml") return print_text(analyze::users_file(), exit_ok, Encoding::utf8);
  const StoreEngine engine = options.engine == "sqlite"       ? StoreEngine::sqlite
                             : options.engine == "clickhouse" ? StoreEngine::clickhouse
                                                              : StoreEngine::cluster;
  std::string text;
  for (const std::string& statement :
       options.users == "sql" ? analyze::user_statements() : analyze::make_statements(engine))
    text += statement + ";\n";
  return print_text(text, exit_ok, Encoding::utf8);
}

}  // namespace

void add_store(CLI::App& app, Action& action) {
  auto options = std::make_shared<StoreOptions>();
  CLI::App* command = app.add_subcommand("store", "make and look after a store of captures of many hosts");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, int (*run)(const StoreOptions&)) {
    CLI::App* sub = command->add_subcommand(name, help);
    sub->callback([options, &action, run] { action = [options, run] { return run(*options); }; });
    return sub;
  };
  const auto with_target = [&](CLI::App* sub) {
    add_target_access(*sub, options->target);
    sub->add_option("TARGET", options->target.name,
                    "the store: a file, or clickhouse://[user@]host[:port]/database[?cluster=NAME]")
        ->required()
        ->check(empty_error)
        ->type_name("");
    return sub;
  };
  with_target(add("init", "make the tables in a new file or a ClickHouse", run_init));
  with_target(add("migrate", "add tables and columns that a newer version has", run_migrate));
  with_target(add("status", "tables, rows, times", run_status))->add_flag("--json", options->json, "as JSON");
  CLI::App* prune = with_target(add("prune", "remove old rows, or a capture", run_prune));
  prune->add_option("--keep", options->keep, "how much to keep: 72h, 30d")
      ->check(span_error)
      ->type_name("TIME");
  prune
      ->add_option("--run", options->run,
                   "the capture of that number (fleet hosts), so that it can be added anew")
      ->type_name("N");
  CLI::App* copy =
      add("copy", "add what a store has to another one: a file to a ClickHouse, or back", run_copy);
  add_target_access(*copy, options->target);
  copy->add_option("FROM", options->target.name, "the store that is read")
      ->required()
      ->check(empty_error)
      ->type_name("");
  copy->add_option("TO", options->copy_to.name,
                   "the store that gets the rows; a file is made if there is none")
      ->required()
      ->check(empty_error)
      ->type_name("");
  CLI::App* schema =
      add("schema", "print the statements that make the tables, or users of a ClickHouse", run_schema);
  schema->add_option("--engine", options->engine, "sqlite, clickhouse or cluster")
      ->check(CLI::IsMember({"sqlite", "clickhouse", "cluster"}))
      ->type_name("NAME");
  schema
      ->add_option(
          "--users", options->users,
          "a user for hosts and one for `fleet`: sql (ClickHouse from 20.4 on), xml (a file for users.d)")
      ->check(CLI::IsMember({"sql", "xml"}))
      ->type_name("FORM");
}

}  // namespace roce::cli
