// SPDX-License-Identifier: Apache-2.0
// SQLite export. The database is built in memory, so that the file
// appears complete or not at all, as in every other format.
#include <fmt/format.h>

#include "analyze/store/sqlite_database.hpp"
#include "cli/core/version.hpp"
#include "cli/export/export_formats.hpp"
#include "dissect/enum_names.hpp"

namespace roce::cli {
namespace {

using analyze::SqliteDatabase;
using analyze::SqliteStatement;
using capture::Expected;

/// Inserts one row.
Expected<void> insert(SqliteStatement& statement, const std::vector<analyze::ResultCell>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) statement.bind(static_cast<int>(i) + 1, cells[i]);
  return statement.step().map([](bool) {});
}

std::string placeholders(std::size_t count) {
  std::string text = "?";
  for (std::size_t i = 1; i < count; ++i) text += ", ?";
  return text;
}

std::string_view column_type(analyze::CellType type) {
  static constexpr EnumNames<analyze::CellType, 3> names({{analyze::CellType::text, "TEXT"},
                                                          {analyze::CellType::integer, "INTEGER"},
                                                          {analyze::CellType::real, "REAL"}});
  return names[type];
}

Expected<void> add_table(SqliteDatabase& database, const analyze::ResultTable& table,
                         SqliteStatement& describe) {
  // Names of tables and columns are letters and underscores only: no escaping needed.
  std::string columns;
  for (const analyze::ResultColumn& column : table.columns()) {
    columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, column_type(column.type));
    const std::vector<analyze::ResultCell> cells{std::string(table.name()), std::string(column.name),
                                                 std::string(column.help)};
    if (auto described = insert(describe, cells); !described) return described;
  }
  if (auto made = database.run(fmt::format("CREATE TABLE \"{}\" ({})", table.name(), columns)); !made)
    return made;
  auto statement = database.prepare(
      fmt::format("INSERT INTO \"{}\" VALUES ({})", table.name(), placeholders(table.columns().size())));
  if (!statement) return tl::unexpected(statement.error());
  std::vector<analyze::ResultCell> cells(table.columns().size());
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (std::size_t column = 0; column < cells.size(); ++column) cells[column] = table.cell(row, column);
    if (auto inserted = insert(*statement, cells); !inserted) return inserted;
  }
  return {};
}

Expected<void> fill(SqliteDatabase& database, const ExportData& data) {
  if (auto begun = database.run("PRAGMA user_version = 1; PRAGMA encoding = 'UTF-8'; BEGIN;"
                                "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT);"
                                "CREATE TABLE columns (table_name TEXT, column_name TEXT, help TEXT)");
      !begun)
    return begun;
  auto about = database.prepare("INSERT INTO about VALUES (?, ?)");
  if (!about) return tl::unexpected(about.error());
  const std::string version = version_text();
  const std::vector<analyze::ResultCell> facts[] = {
      {std::string("schema"), std::string("roceanalyze-export/1")},
      {std::string("program"), version.substr(0, version.find('\n'))},
      {std::string("capture"), data.capture},
      {std::string("complete"), std::int64_t{data.snapshot.complete()}},
      {std::string("interrupted"), std::int64_t{data.snapshot.interrupted}}};
  for (const std::vector<analyze::ResultCell>& fact : facts) {
    if (auto inserted = insert(*about, fact); !inserted) return inserted;
  }
  auto describe = database.prepare("INSERT INTO columns VALUES (?, ?, ?)");
  if (!describe) return tl::unexpected(describe.error());
  for (const auto& table : data.tables) {
    if (auto added = add_table(database, *table, *describe); !added) return added;
  }
  return database.run("COMMIT");
}

}  // namespace

bool is_export_database(const capture::ExistingFile& file) {
  if (!capture::is_database(file)) return false;
  auto database = SqliteDatabase::open_descriptor(file.descriptor);
  if (!database) return false;
  const auto is_true = [&](const std::string& condition) {
    const auto asked = database->number("SELECT " + condition);
    return asked && *asked == 1;
  };
  const std::string tables =
      fmt::format("'about', 'columns', '{}'", fmt::join(analyze::result_table_names(), "', '"));
  return is_true(
             "EXISTS (SELECT * FROM about WHERE name = 'schema' AND value LIKE 'roceanalyze-export/%')") &&
         is_true(fmt::format(
             "NOT EXISTS (SELECT * FROM sqlite_master WHERE type IN ('table', 'view', 'trigger') AND name "
             "NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN ({}))",
             tables));
}

Expected<void> write_sqlite(const ExportData& data, const ExportSink& sink) {
  auto database = SqliteDatabase::in_memory();
  if (!database) return tl::unexpected(std::move(database.error()));
  if (auto filled = fill(*database, data); !filled) return filled;
  const auto bytes = database->bytes();
  if (!bytes) return tl::unexpected(bytes.error());
  return sink(*bytes);
}

}  // namespace roce::cli
