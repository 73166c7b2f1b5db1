// SPDX-License-Identifier: Apache-2.0
// SQLite export. The database is built in memory, so that the file
// appears complete or not at all, as in every other format. The only file that uses sqlite3.
#include <fmt/format.h>
#include <sqlite3.h>

#include <memory>

#include "analyze/base/value_format.hpp"
#include "cli/core/version.hpp"
#include "cli/export/export_formats.hpp"
#include "dissect/enum_names.hpp"

namespace roce::cli {
namespace {

using capture::Expected;

struct Close {
  void operator()(sqlite3* database) const noexcept { sqlite3_close(database); }
  void operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, Close>;
using Statement = std::unique_ptr<sqlite3_stmt, Close>;

tl::unexpected<capture::Error> refused(sqlite3* database) {
  capture::Error error;
  error.kind = capture::ErrorKind::out_of_memory;
  error.path = "SQLite";
  error.message = database != nullptr ? sqlite3_errmsg(database) : "out of memory";
  return tl::unexpected(error);
}

Expected<void> run(sqlite3* database, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return refused(database);
  return {};
}

Expected<Statement> prepare(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database, sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    return refused(database);
  return Statement(statement);
}

int bind(sqlite3_stmt* statement, int place, const ExportCell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell))
    return sqlite3_bind_int64(statement, place, *whole);
  if (const auto* fraction = std::get_if<double>(&cell))
    return sqlite3_bind_double(statement, place, *fraction);
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return sqlite3_bind_null(statement, place);
  std::string valid;
  analyze::append_valid_text(valid, *text);
  return sqlite3_bind_text64(statement, place, valid.data(), valid.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

/// Inserts one row.
Expected<void> insert(sqlite3* database, sqlite3_stmt* statement, const std::vector<ExportCell>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (bind(statement, static_cast<int>(i) + 1, cells[i]) != SQLITE_OK) return refused(database);
  }
  if (sqlite3_step(statement) != SQLITE_DONE) return refused(database);
  sqlite3_reset(statement);
  return {};
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

Expected<void> add_table(sqlite3* database, const ExportTable& table, sqlite3_stmt* describe) {
  // Names of tables and columns are letters and underscores only: no escaping needed.
  std::string columns;
  for (const ExportColumn& column : table.columns()) {
    columns += fmt::format("{}\"{}\" {}", columns.empty() ? "" : ", ", column.name, column_type(column.type));
    const std::vector<ExportCell> cells{std::string(table.name()), std::string(column.name),
                                        std::string(column.help)};
    if (auto described = insert(database, describe, cells); !described) return described;
  }
  if (auto made = run(database, fmt::format("CREATE TABLE \"{}\" ({})", table.name(), columns)); !made)
    return made;
  auto statement = prepare(database, fmt::format("INSERT INTO \"{}\" VALUES ({})", table.name(),
                                                 placeholders(table.columns().size())));
  if (!statement) return tl::unexpected(statement.error());
  std::vector<ExportCell> cells(table.columns().size());
  for (std::size_t row = 0; row < table.size(); ++row) {
    for (std::size_t column = 0; column < cells.size(); ++column) cells[column] = table.cell(row, column);
    if (auto inserted = insert(database, statement->get(), cells); !inserted) return inserted;
  }
  return {};
}

Expected<void> fill(sqlite3* database, const ExportData& data) {
  if (auto begun = run(database,
                       "PRAGMA user_version = 1; PRAGMA encoding = 'UTF-8'; BEGIN;"
                       "CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT);"
                       "CREATE TABLE columns (table_name TEXT, column_name TEXT, help TEXT)");
      !begun)
    return begun;
  auto about = prepare(database, "INSERT INTO about VALUES (?, ?)");
  if (!about) return tl::unexpected(about.error());
  const std::string version = version_text();
  const std::vector<ExportCell> facts[] = {
      {std::string("schema"), std::string("roceanalyze-export/1")},
      {std::string("program"), version.substr(0, version.find('\n'))},
      {std::string("capture"), data.capture},
      {std::string("complete"), std::int64_t{data.snapshot.complete()}},
      {std::string("interrupted"), std::int64_t{data.snapshot.interrupted}}};
  for (const std::vector<ExportCell>& fact : facts) {
    if (auto inserted = insert(database, about->get(), fact); !inserted) return inserted;
  }
  auto describe = prepare(database, "INSERT INTO columns VALUES (?, ?, ?)");
  if (!describe) return tl::unexpected(describe.error());
  for (const auto& table : data.tables) {
    if (auto added = add_table(database, *table, describe->get()); !added) return added;
  }
  return run(database, "COMMIT");
}

}  // namespace

bool is_export_database(const capture::ExistingFile& file) {
  if (!capture::is_database(file)) return false;
  // Immutable: no journal of the database is looked for, and nothing is locked or made beside it.
  const std::string name = fmt::format("file:/proc/self/fd/{}?immutable=1", file.descriptor);
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2(name.c_str(), &opened, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
  const Database database(opened);
  if (status != SQLITE_OK) return false;
  const auto is_true = [&](const std::string& condition) {
    const auto asked = prepare(database.get(), "SELECT " + condition);
    return asked && sqlite3_step(asked->get()) == SQLITE_ROW && sqlite3_column_int(asked->get(), 0) == 1;
  };
  const std::string tables = fmt::format("'about', 'columns', '{}'", fmt::join(export_table_names(), "', '"));
  return is_true(
             "EXISTS (SELECT * FROM about WHERE name = 'schema' AND value LIKE 'roceanalyze-export/%')") &&
         is_true(fmt::format(
             "NOT EXISTS (SELECT * FROM sqlite_master WHERE type IN ('table', 'view', 'trigger') AND name "
             "NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN ({}))",
             tables));
}

Expected<void> write_sqlite(const ExportData& data, const ExportSink& sink) {
  sqlite3* opened = nullptr;
  const int status = sqlite3_open_v2("export", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "memdb");
  const Database database(opened);
  if (status != SQLITE_OK) return refused(opened);
  if (auto filled = fill(database.get(), data); !filled) return filled;
  sqlite3_int64 size = 0;
  // memdb stores the database contiguously: nothing is copied.
  const unsigned char* bytes = sqlite3_serialize(database.get(), "main", &size, SQLITE_SERIALIZE_NOCOPY);
  if (bytes == nullptr) return refused(nullptr);
  return sink({reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)});
}

}  // namespace roce::cli
