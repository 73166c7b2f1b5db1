// SPDX-License-Identifier: Apache-2.0
// A store in an SQLite file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/batch.hpp"
#include "analyze/store/sqlite_database.hpp"
#include "capture/core/error.hpp"

namespace roce::analyze {

/// One fact of `store status`.
struct StoreTableStatus {
  std::string_view table;
  std::int64_t rows = 0;
  std::int64_t first_time = 0;  ///< seconds since the epoch; 0: no rows, or it has no time
  std::int64_t last_time = 0;
};

/// An open store. Several processes may write at a time: they wait for each other. Not thread-safe, and not
/// to be used across fork().
class SqliteStore {
 public:
  enum class Access : std::uint8_t { read, write };

  /// Of what the first bytes of a file tell: whether it is a store.
  [[nodiscard]] static bool is_store(std::string_view head) noexcept;

  /// Makes the tables in a new or empty file; in a store it adds what is missing. The statements that were
  /// run. `program`: version, `now`: seconds since the epoch, for the table `schema`.
  [[nodiscard]] static capture::Expected<std::vector<std::string>> init(const std::string& path,
                                                                        const std::string& program,
                                                                        std::int64_t now);
  /// init() where there is no file, or an empty one, as init() leaves it when it is killed.
  [[nodiscard]] static capture::Expected<void> make_if_missing(const std::string& path,
                                                               const std::string& program, std::int64_t now);
  /// Errors: not_found, not_readable, unsupported (no store, or one that needs migrate()).
  [[nodiscard]] static capture::Expected<SqliteStore> open(const std::string& path, Access access);
  /// Adds tables and columns that this version has and the store lacks: what was run.
  [[nodiscard]] static capture::Expected<std::vector<std::string>> migrate(const std::string& path,
                                                                           const std::string& program,
                                                                           std::int64_t now);

  /// Adds a batch as a whole or not at all; false if its run and number are there already.
  [[nodiscard]] capture::Expected<bool> add(const StoreBatch& batch);
  /// Whether any batch of that run is there.
  [[nodiscard]] capture::Expected<bool> has_run(std::uint64_t run);
  /// Rows of a question.
  [[nodiscard]] capture::Expected<std::vector<std::vector<SqliteCell>>> ask(const std::string& sql) {
    return database_.rows(sql);
  }
  [[nodiscard]] capture::Expected<std::vector<StoreTableStatus>> status();
  /// Version of its tables.
  [[nodiscard]] capture::Expected<std::int64_t> version();
  /// Removes rows before that time, of the tables that have one except nodes and schema: how many.
  [[nodiscard]] capture::Expected<std::int64_t> remove_before(std::int64_t time);
  /// Removes a run; how many rows.
  [[nodiscard]] capture::Expected<std::int64_t> remove_run(std::uint64_t run);

 private:
  explicit SqliteStore(SqliteDatabase database) : database_(std::move(database)) {}
  [[nodiscard]] capture::Expected<void> add_block(const StoreBlock& block);

  SqliteDatabase database_;
};

}  // namespace roce::analyze
