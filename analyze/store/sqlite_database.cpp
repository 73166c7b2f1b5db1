// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/sqlite_database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <utility>

#include "analyze/base/value_format.hpp"

namespace roce::analyze {
namespace {

using capture::Error;
using capture::ErrorKind;
using capture::Expected;

constexpr int patience_ms = 30'000;

ErrorKind kind_of(int status, bool writes) noexcept {
  switch (status & 0xff) {
    case SQLITE_NOMEM:
      return ErrorKind::out_of_memory;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return ErrorKind::damaged;
    default:
      return writes ? ErrorKind::not_writable : ErrorKind::not_readable;
  }
}

}  // namespace

void SqliteStatement::Close::operator()(sqlite3_stmt* statement) const noexcept {
  sqlite3_finalize(statement);
}

void SqliteDatabase::Close::operator()(sqlite3* database) const noexcept {
  sqlite3_close(database);
}

void SqliteStatement::bind(int place, std::int64_t value) {
  if (const int status = sqlite3_bind_int64(statement_.get(), place, value); status != SQLITE_OK)
    failed_ = status;
}

void SqliteStatement::bind(int place, double value) {
  if (const int status = sqlite3_bind_double(statement_.get(), place, value); status != SQLITE_OK)
    failed_ = status;
}

void SqliteStatement::bind(int place, std::string_view value) {
  std::string valid;
  append_valid_text(valid, value);
  const int status =
      sqlite3_bind_text64(statement_.get(), place, valid.data(), valid.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  if (status != SQLITE_OK) failed_ = status;
}

void SqliteStatement::bind_null(int place) {
  if (const int status = sqlite3_bind_null(statement_.get(), place); status != SQLITE_OK) failed_ = status;
}

void SqliteStatement::bind(int place, const StoreCell& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return bind(place, *whole);
  if (const auto* fraction = std::get_if<double>(&value)) return bind(place, *fraction);
  if (const auto* text = std::get_if<std::string>(&value)) return bind(place, std::string_view(*text));
  bind_null(place);
}

Expected<bool> SqliteStatement::step() {
  const int status = failed_ != 0 ? failed_ : sqlite3_step(statement_.get());
  failed_ = 0;
  if (status == SQLITE_ROW) return true;
  sqlite3* const database = sqlite3_db_handle(statement_.get());
  const std::string message = status == SQLITE_DONE ? std::string() : sqlite3_errmsg(database);
  sqlite3_reset(statement_.get());
  if (status == SQLITE_DONE) return false;
  const char* const path = sqlite3_db_filename(database, "main");
  Error error;
  error.kind = kind_of(status, sqlite3_stmt_readonly(statement_.get()) == 0);
  error.path = path != nullptr ? path : "";
  error.message = message;
  return tl::unexpected(error);
}

std::vector<std::string> SqliteStatement::columns() const {
  std::vector<std::string> names;
  for (int i = 0; i < sqlite3_column_count(statement_.get()); ++i)
    names.emplace_back(sqlite3_column_name(statement_.get(), i));
  return names;
}

StoreCell SqliteStatement::cell(int column) const {
  sqlite3_stmt* const s = statement_.get();
  switch (sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(s, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(s, column);
    case SQLITE_NULL:
      return {};
    default:
      break;
  }
  const auto* const text = reinterpret_cast<const char*>(sqlite3_column_text(s, column));
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(s, column));
  return text == nullptr ? std::string() : std::string(text, size);
}

Expected<SqliteDatabase> SqliteDatabase::open_named(const std::string& name, const std::string& path,
                                                    int flags, const char* file_system) {
  SqliteDatabase opened;
  sqlite3* database = nullptr;
  const int status = sqlite3_open_v2(name.c_str(), &database, flags, file_system);
  opened.database_.reset(database);
  opened.path_ = path;
  opened.writes_ = (flags & SQLITE_OPEN_READWRITE) != 0;
  if (status != SQLITE_OK) return opened.refused();
  sqlite3_busy_timeout(database, patience_ms);
  return opened;
}

Expected<SqliteDatabase> SqliteDatabase::open(const std::string& path, Access access) {
  const int flags = access == Access::read    ? SQLITE_OPEN_READONLY
                    : access == Access::write ? SQLITE_OPEN_READWRITE
                                              : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  return open_named(path, path, flags, nullptr);
}

Expected<SqliteDatabase> SqliteDatabase::open_descriptor(int descriptor) {
  const std::string name = fmt::format("file:/proc/self/fd/{}?immutable=1", descriptor);
  return open_named(name, name, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr);
}

Expected<SqliteDatabase> SqliteDatabase::in_memory() {
  return open_named("export", "SQLite", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "memdb");
}

tl::unexpected<Error> SqliteDatabase::refused() const {
  Error error;
  error.path = path_;
  error.kind = database_ ? kind_of(sqlite3_errcode(database_.get()), writes_) : ErrorKind::out_of_memory;
  error.message = database_ ? sqlite3_errmsg(database_.get()) : "out of memory";
  return tl::unexpected(error);
}

Expected<void> SqliteDatabase::run(const std::string& sql) {
  if (sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) return refused();
  return {};
}

Expected<SqliteStatement> SqliteDatabase::prepare(const std::string& sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(database_.get(), sql.c_str(), -1, &statement, nullptr) != SQLITE_OK)
    return refused();
  SqliteStatement prepared;
  prepared.statement_.reset(statement);
  return prepared;
}

Expected<std::vector<std::vector<StoreCell>>> SqliteDatabase::rows(const std::string& sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::unexpected(std::move(statement.error()));
  const auto width = static_cast<int>(statement->columns().size());
  std::vector<std::vector<StoreCell>> all;
  while (true) {
    const auto more = statement->step();
    if (!more) return tl::unexpected(more.error());
    if (!*more) return all;
    std::vector<StoreCell>& row = all.emplace_back();
    for (int i = 0; i < width; ++i) row.push_back(statement->cell(i));
  }
}

Expected<std::int64_t> SqliteDatabase::number(const std::string& sql) {
  const auto all = rows(sql);
  if (!all) return tl::unexpected(all.error());
  if (all->empty() || all->front().empty()) return 0;
  const auto* number = std::get_if<std::int64_t>(&all->front().front());
  return number != nullptr ? *number : 0;
}

std::int64_t SqliteDatabase::changed() const noexcept {
  return sqlite3_changes64(database_.get());
}

Expected<std::string_view> SqliteDatabase::bytes() {
  sqlite3_int64 size = 0;
  // memdb stores the database contiguously: nothing is copied.
  const unsigned char* bytes = sqlite3_serialize(database_.get(), "main", &size, SQLITE_SERIALIZE_NOCOPY);
  if (bytes == nullptr) return refused();
  return std::string_view(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
}

bool has_application_id(std::string_view head, std::uint32_t id) noexcept {
  constexpr std::size_t place = 68;  // big-endian; "The Database Header" of SQLite's file format
  if (head.size() < place + 4 || !head.starts_with(std::string_view("SQLite format 3\0", 16))) return false;
  std::uint32_t found = 0;
  for (std::size_t i = 0; i < 4; ++i) found = found << 8U | static_cast<unsigned char>(head[place + i]);
  return found == id;
}

}  // namespace roce::analyze
