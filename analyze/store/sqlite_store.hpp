// SPDX-License-Identifier: Apache-2.0
// A store in an SQLite file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/batch.hpp"
#include "analyze/store/sqlite_database.hpp"
#include "analyze/store/store.hpp"
#include "capture/core/error.hpp"

namespace roce::analyze {

/// An open store. Several processes may write at a time: they wait for each other. Not thread-safe, and not
/// to be used across fork().
class SqliteStore final : public Store {
 public:
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

  [[nodiscard]] StoreEngine engine() const noexcept override { return StoreEngine::sqlite; }
  [[nodiscard]] capture::Expected<bool> add(const StoreBatch& batch) override;
  [[nodiscard]] capture::Expected<bool> has_run(std::uint64_t run) override;
  [[nodiscard]] capture::Expected<StoreAnswer> ask(const std::string& sql) override {
    return database_.rows(sql);
  }
  [[nodiscard]] capture::Expected<std::string> lines(const std::string& sql) override;
  [[nodiscard]] capture::Expected<void> add_nodes(const StoreBlock& nodes) override;
  [[nodiscard]] capture::Expected<std::vector<StoreTableStatus>> status() override;
  [[nodiscard]] capture::Expected<std::int64_t> version() override;
  [[nodiscard]] capture::Expected<std::int64_t> remove_before(std::int64_t time) override;
  [[nodiscard]] capture::Expected<std::int64_t> remove_run(std::uint64_t run) override;

 private:
  explicit SqliteStore(SqliteDatabase database) : database_(std::move(database)) {}
  [[nodiscard]] capture::Expected<void> add_block(const StoreBlock& block);

  SqliteDatabase database_;
};

}  // namespace roce::analyze
