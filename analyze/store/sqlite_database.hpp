// SPDX-License-Identifier: Apache-2.0
// SQLite behind a small interface: sqlite3.h is included in sqlite_database.cpp only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/store_cell.hpp"
#include "capture/core/error.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace roce::analyze {

/// A prepared statement; must not outlive its database. Values are bound, never part of the text.
class SqliteStatement {
 public:
  /// Parameter `place`, from 1. Text that is not UTF-8 is replaced where it is not.
  void bind(int place, std::int64_t value);
  void bind(int place, double value);
  void bind(int place, std::string_view value);
  void bind_null(int place);
  void bind(int place, const StoreCell& value);
  /// The next row: false at the end, and ready to be run again then.
  [[nodiscard]] capture::Expected<bool> step();
  [[nodiscard]] std::vector<std::string> columns() const;
  [[nodiscard]] StoreCell cell(int column) const;

 private:
  friend class SqliteDatabase;
  struct Close {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  std::unique_ptr<sqlite3_stmt, Close> statement_;
  int failed_ = 0;  ///< of a bind
};

/// An open database. Not thread-safe. Errors have its path and SQLite's message.
class SqliteDatabase {
 public:
  enum class Access : std::uint8_t { read, write, create };

  /// Waits up to half a minute for other processes that write.
  [[nodiscard]] static capture::Expected<SqliteDatabase> open(const std::string& path, Access access);
  /// The database in an open file, which is not locked, and beside which nothing is made or looked for.
  [[nodiscard]] static capture::Expected<SqliteDatabase> open_descriptor(int descriptor);
  /// In memory; see bytes().
  [[nodiscard]] static capture::Expected<SqliteDatabase> in_memory();

  /// One or more statements without results.
  [[nodiscard]] capture::Expected<void> run(const std::string& sql);
  [[nodiscard]] capture::Expected<SqliteStatement> prepare(const std::string& sql);
  /// All rows of a statement without parameters.
  [[nodiscard]] capture::Expected<std::vector<std::vector<StoreCell>>> rows(const std::string& sql);
  /// The only cell of a statement; 0 if it has none.
  [[nodiscard]] capture::Expected<std::int64_t> number(const std::string& sql);
  /// Rows that the last INSERT, UPDATE or DELETE changed.
  [[nodiscard]] std::int64_t changed() const noexcept;
  /// The file of a database in memory; valid while nothing is changed.
  [[nodiscard]] capture::Expected<std::string_view> bytes();

 private:
  struct Close {
    void operator()(sqlite3* database) const noexcept;
  };
  [[nodiscard]] static capture::Expected<SqliteDatabase> open_named(const std::string& name,
                                                                    const std::string& path, int flags,
                                                                    const char* file_system);
  [[nodiscard]] tl::unexpected<capture::Error> refused() const;

  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
  bool writes_ = false;
};

/// Whether a file of these first bytes is an SQLite database with that application id.
[[nodiscard]] bool has_application_id(std::string_view head, std::uint32_t id) noexcept;

}  // namespace roce::analyze
