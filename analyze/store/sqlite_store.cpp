// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/sqlite_store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "analyze/store/ddl.hpp"
#include "analyze/store/row_table.hpp"

namespace roce::analyze {
namespace {

using capture::Error;
using capture::ErrorKind;
using capture::Expected;

constexpr std::uint32_t application_id = 0x526f4345;  // "RoCE"

Error error_of(ErrorKind kind, const std::string& path, std::string message) {
  Error error;
  error.kind = kind;
  error.path = path;
  error.message = std::move(message);
  return error;
}

template <class Number>
std::optional<Number> number_of(const std::string& text) {
  Number number{};
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  return number;
}

/// False if the cell is not of its type.
bool bind_cell(SqliteStatement& statement, int place, StoreType type, const std::string& cell) {
  if (type == StoreType::f64) {
    const auto number = number_of<double>(cell);
    if (number) statement.bind(place, *number);
    return number.has_value();
  }
  if (!is_integer(type)) {
    statement.bind(place, std::string_view(cell));
    return true;
  }
  // Numbers are below 2^63: counts, and keys by how they are made.
  const auto number = number_of<std::int64_t>(cell);
  if (number) statement.bind(place, *number);
  return number.has_value();
}

/// A transaction that is undone unless it was ended.
class Transaction {
 public:
  [[nodiscard]] static Expected<Transaction> begin(SqliteDatabase& database) {
    if (auto begun = database.run("BEGIN IMMEDIATE"); !begun) return tl::unexpected(begun.error());
    return Transaction(database);
  }
  Transaction(Transaction&& other) noexcept : database_(std::exchange(other.database_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction() {
    if (database_ != nullptr) (void)database_->run("ROLLBACK");
  }
  [[nodiscard]] Expected<void> end() {
    auto ended = database_->run("COMMIT");
    if (ended) database_ = nullptr;
    return ended;
  }

 private:
  explicit Transaction(SqliteDatabase& database) : database_(&database) {}
  SqliteDatabase* database_;
};

/// What is missing in a database, as statements.
Expected<std::vector<std::string>> missing(SqliteDatabase& database) {
  std::vector<std::string> statements;
  for (const StoreTable& table : store_tables()) {
    const auto known = database.rows(fmt::format("SELECT name FROM pragma_table_info('{}')", table.name));
    if (!known) return tl::unexpected(known.error());
    if (known->empty()) continue;
    for (const StoreColumn& column : table.columns) {
      const bool there = std::any_of(known->begin(), known->end(), [&](const auto& row) {
        const auto* name = std::get_if<std::string>(&row.front());
        return name != nullptr && *name == column.name;
      });
      if (there) continue;
      for (std::string& add : add_column_statements(StoreEngine::sqlite, table, column))
        statements.push_back(std::move(add));
    }
  }
  for (std::string& make : make_statements(StoreEngine::sqlite)) {
    // "CREATE TABLE IF NOT EXISTS name ...": the fifth word.
    const std::size_t name = make.find("EXISTS ") + 7;
    const auto there = database.number(fmt::format("SELECT COUNT(*) FROM sqlite_master WHERE name = '{}'",
                                                   make.substr(name, make.find(' ', name) - name)));
    if (!there) return tl::unexpected(there.error());
    if (*there == 0) statements.push_back(std::move(make));
  }
  return statements;
}

Expected<std::vector<std::string>> make(SqliteDatabase& database, const std::string& program,
                                        std::int64_t now) {
  auto transaction = Transaction::begin(database);
  if (!transaction) return tl::unexpected(transaction.error());
  auto statements = missing(database);
  if (!statements) return statements;
  if (!statements->empty()) statements->push_back(fmt::format("PRAGMA application_id = {}", application_id));
  for (const std::string& statement : *statements) {
    if (auto run = database.run(statement); !run) return tl::unexpected(run.error());
  }
  auto insert =
      database.prepare("INSERT OR IGNORE INTO schema (time, version, program, what) VALUES (?, ?, ?, ?)");
  if (!insert) return tl::unexpected(insert.error());
  insert->bind(1, now);
  insert->bind(2, std::int64_t{store_schema_version});
  insert->bind(3, std::string_view(program));
  insert->bind(4, std::string_view("all tables"));
  if (const auto done = insert->step(); !done) return tl::unexpected(done.error());
  if (auto ended = transaction->end(); !ended) return tl::unexpected(ended.error());
  return statements;
}

Expected<std::int64_t> application_of(SqliteDatabase& database) {
  return database.number("PRAGMA application_id");
}

}  // namespace

bool SqliteStore::is_store(std::string_view head) noexcept {
  return has_application_id(head, application_id);
}

Expected<std::vector<std::string>> SqliteStore::init(const std::string& path, const std::string& program,
                                                     std::int64_t now) {
  auto database = SqliteDatabase::open(path, SqliteDatabase::Access::create);
  if (!database) return tl::unexpected(database.error());
  const auto tables = database->number("SELECT COUNT(*) FROM sqlite_master");
  if (!tables) return tl::unexpected(tables.error());
  const auto application = application_of(*database);
  if (!application) return tl::unexpected(application.error());
  if (*tables != 0 && *application != application_id)
    return tl::unexpected(
        error_of(ErrorKind::unsupported, path, "is a database of something else: name a new file"));
  auto made = make(*database, program, now);
  if (!made) return made;
  // Readers and one writer at a time do not wait for each other; what was committed survives kill -9.
  if (auto set = database->run("PRAGMA journal_mode = WAL"); !set) return tl::unexpected(set.error());
  return made;
}

Expected<void> SqliteStore::make_if_missing(const std::string& path, const std::string& program,
                                            std::int64_t now) {
  {
    auto database = SqliteDatabase::open(path, SqliteDatabase::Access::create);
    if (!database) return tl::unexpected(database.error());
    const auto tables = database->number("SELECT COUNT(*) FROM sqlite_master");
    if (!tables) return tl::unexpected(tables.error());
    if (*tables != 0) return {};
  }
  return init(path, program, now).map([](const auto&) {});
}

Expected<std::vector<std::string>> SqliteStore::migrate(const std::string& path, const std::string& program,
                                                        std::int64_t now) {
  auto database = SqliteDatabase::open(path, SqliteDatabase::Access::write);
  if (!database) return tl::unexpected(database.error());
  const auto application = application_of(*database);
  if (!application) return tl::unexpected(application.error());
  if (*application != application_id)
    return tl::unexpected(error_of(ErrorKind::unsupported, path, "is not a store (store init makes one)"));
  return make(*database, program, now);
}

Expected<SqliteStore> SqliteStore::open(const std::string& path, Access access) {
  auto database = SqliteDatabase::open(
      path, access == Access::read ? SqliteDatabase::Access::read : SqliteDatabase::Access::write);
  if (!database) return tl::unexpected(database.error());
  const auto application = application_of(*database);
  if (!application) return tl::unexpected(application.error());
  if (*application != application_id)
    return tl::unexpected(error_of(ErrorKind::unsupported, path, "is not a store (store init makes one)"));
  if (access == Access::write) {
    if (auto set = database->run("PRAGMA synchronous = NORMAL"); !set) return tl::unexpected(set.error());
  }
  SqliteStore store(std::move(*database));
  const auto version = store.version();
  if (!version) return tl::unexpected(version.error());
  if (*version < store_schema_version)
    return tl::unexpected(
        error_of(ErrorKind::unsupported, path,
                 fmt::format("is a store of version {}, this program needs {}: roceanalyze store migrate {}",
                             *version, store_schema_version, path)));
  return store;
}

Expected<std::int64_t> SqliteStore::version() {
  return database_.number("SELECT MAX(version) FROM schema");
}

Expected<bool> SqliteStore::has_run(std::uint64_t run) {
  return database_.number(fmt::format("SELECT COUNT(*) FROM batches WHERE run = {} AND seq = 0", run))
      .map([](std::int64_t batches) { return batches != 0; });
}

Expected<bool> SqliteStore::add(const StoreBatch& batch) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return tl::unexpected(transaction.error());
  if (auto booked = database_.run(fmt::format("INSERT OR IGNORE INTO batches VALUES ({}, {}, {})", batch.run,
                                              batch.seq, batch.rows()));
      !booked)
    return tl::unexpected(booked.error());
  if (database_.changed() == 0) return false;
  for (const StoreBlock& block : batch.blocks) {
    if (auto added = add_block(block); !added) return tl::unexpected(added.error());
  }
  if (auto ended = transaction->end(); !ended) return tl::unexpected(ended.error());
  return true;
}

Expected<void> SqliteStore::add_block(const StoreBlock& block) {
  // Columns by name: an older program's batch lacks the newest ones. Names that the schema does not have are
  // not SQL, whatever they are.
  std::vector<StoreType> types;
  std::string places;
  std::size_t begin = 0;
  while (begin <= block.columns.size()) {
    const std::size_t end = std::min(block.columns.find(", ", begin), block.columns.size());
    const std::string_view name = std::string_view(block.columns).substr(begin, end - begin);
    const auto columns = block.table->columns;
    const auto at =
        std::find_if(columns.begin(), columns.end(), [&](const StoreColumn& c) { return c.name == name; });
    if (at == columns.end())
      return tl::unexpected(error_of(
          ErrorKind::unsupported, {},
          fmt::format("a batch with columns of {} that this version does not know", block.table->name)));
    types.push_back(at->type);
    places += places.empty() ? "?" : ", ?";
    begin = end + 2;
  }
  // Of what is known of a node or a version the newest stays.
  auto statement = database_.prepare(fmt::format("INSERT {}INTO {} ({}) VALUES ({})",
                                                 block.table->shard.empty() ? "OR REPLACE " : "",
                                                 block.table->name, block.columns, places));
  if (!statement) return tl::unexpected(statement.error());
  std::string_view text = block.text;
  std::vector<std::string> cells;
  std::uint64_t rows = 0;
  for (; next_row(text, cells); ++rows) {
    bool fits = cells.size() == types.size();
    for (std::size_t i = 0; fits && i < cells.size(); ++i)
      fits = bind_cell(*statement, static_cast<int>(i) + 1, types[i], cells[i]);
    if (!fits)
      return tl::unexpected(
          error_of(ErrorKind::damaged, {},
                   fmt::format("a batch with a row of {} that does not fit it", block.table->name)));
    if (const auto done = statement->step(); !done) return tl::unexpected(done.error());
  }
  if (rows != block.rows)
    return tl::unexpected(error_of(ErrorKind::damaged, {}, "a batch with fewer or more rows than it says"));
  return {};
}

Expected<std::string> SqliteStore::lines(const std::string& sql) {
  auto statement = database_.prepare(sql);
  if (!statement) return tl::unexpected(statement.error());
  const auto width = static_cast<int>(statement->columns().size());
  std::string text;
  while (true) {
    const auto more = statement->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return text;
    for (int i = 0; i < width; ++i) {
      if (i != 0) text += '\t';
      const StoreCell cell = statement->cell(i);
      if (const auto* number = std::get_if<std::int64_t>(&cell)) append_cell(text, *number);
      if (const auto* fraction = std::get_if<double>(&cell)) append_cell(text, *fraction);
      if (const auto* words = std::get_if<std::string>(&cell)) append_cell(text, *words);
    }
    text += '\n';
  }
}

Expected<void> SqliteStore::add_nodes(const StoreBlock& nodes) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return tl::unexpected(transaction.error());
  if (auto added = add_block(nodes); !added) return added;
  return transaction->end();
}

Expected<std::vector<StoreTableStatus>> SqliteStore::status() {
  std::vector<StoreTableStatus> all;
  for (const StoreTable& table : store_tables()) {
    const auto rows = database_.rows(
        fmt::format("SELECT COUNT(*), COALESCE(MIN(time), 0), COALESCE(MAX(time), 0) FROM {}", table.name));
    if (!rows) return tl::unexpected(rows.error());
    const auto number = [&](std::size_t i) {
      const auto* value = std::get_if<std::int64_t>(&rows->front()[i]);
      return value != nullptr ? *value : 0;
    };
    all.push_back({table.name, number(0), number(1), number(2)});
  }
  return all;
}

Expected<std::int64_t> SqliteStore::remove_before(std::int64_t time) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return tl::unexpected(transaction.error());
  std::int64_t removed = 0;
  for (const StoreTable& table : store_tables()) {
    if (table.shard.empty()) continue;
    if (auto run = database_.run(fmt::format("DELETE FROM {} WHERE time < {}", table.name, time)); !run)
      return tl::unexpected(run.error());
    removed += database_.changed();
  }
  if (auto ended = transaction->end(); !ended) return tl::unexpected(ended.error());
  return removed;
}

Expected<std::int64_t> SqliteStore::remove_run(std::uint64_t run_number) {
  auto transaction = Transaction::begin(database_);
  if (!transaction) return tl::unexpected(transaction.error());
  std::int64_t removed = 0;
  for (const StoreTable& table : store_tables()) {
    if (table.shard.empty()) continue;
    if (auto run = database_.run(fmt::format("DELETE FROM {} WHERE run = {}", table.name, run_number)); !run)
      return tl::unexpected(run.error());
    removed += database_.changed();
  }
  if (auto run = database_.run(fmt::format("DELETE FROM batches WHERE run = {}", run_number)); !run)
    return tl::unexpected(run.error());
  if (auto ended = transaction->end(); !ended) return tl::unexpected(ended.error());
  return removed;
}

}  // namespace roce::analyze
