// SPDX-License-Identifier: Apache-2.0
// A store, whatever keeps it: a file of SQLite or a ClickHouse.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/batch.hpp"
#include "analyze/store/ddl.hpp"
#include "analyze/store/questions.hpp"
#include "analyze/store/store_cell.hpp"
#include "capture/core/error.hpp"

namespace roce::analyze {

/// One fact of `store status`.
struct StoreTableStatus {
  std::string_view table;
  std::int64_t rows = 0;
  std::int64_t first_time = 0;  ///< seconds since the epoch; 0: no rows, or it has no time
  std::int64_t last_time = 0;
};

/// An open store. Not thread-safe, and not to be used across fork(). Errors without a path are of what was
/// to be added, all others of the store.
class Store {
 public:
  enum class Access : std::uint8_t { read, write };

  Store() = default;
  Store(const Store&) = delete;
  Store(Store&&) = default;
  Store& operator=(const Store&) = delete;
  Store& operator=(Store&&) = default;
  virtual ~Store() = default;

  [[nodiscard]] virtual StoreEngine engine() const noexcept = 0;
  /// Adds a batch as a whole or not at all; false if its run and number are there already. After an error it
  /// may be there in part: adding it again completes it.
  [[nodiscard]] virtual capture::Expected<bool> add(const StoreBatch& batch) = 0;
  /// Whether that run is there as a whole: its batch 0, which `export` adds last.
  [[nodiscard]] virtual capture::Expected<bool> has_run(std::uint64_t run) = 0;
  /// Rows of a statement in the dialect of its engine.
  [[nodiscard]] virtual capture::Expected<StoreAnswer> ask(const std::string& sql) = 0;
  /// The same as lines of ClickHouse's TabSeparated.
  [[nodiscard]] virtual capture::Expected<std::string> lines(const std::string& sql) = 0;
  /// Adds rows of `nodes`, which are of no batch.
  [[nodiscard]] virtual capture::Expected<void> add_nodes(const StoreBlock& nodes) = 0;
  [[nodiscard]] virtual capture::Expected<std::vector<StoreTableStatus>> status() = 0;
  /// Version of its tables.
  [[nodiscard]] virtual capture::Expected<std::int64_t> version() = 0;
  /// Removes rows before that time, of the tables that have one except nodes and schema: how many.
  /// ClickHouse: only whole days or months.
  [[nodiscard]] virtual capture::Expected<std::int64_t> remove_before(std::int64_t time) = 0;
  /// Removes a run; how many rows.
  [[nodiscard]] virtual capture::Expected<std::int64_t> remove_run(std::uint64_t run) = 0;
  /// What an answer lacks, for people; empty: nothing.
  [[nodiscard]] virtual std::string shortcoming() const { return {}; }
};

/// The answer to a question.
[[nodiscard]] capture::Expected<AnswerRows> ask(Store& store, const Question& question,
                                                const QuestionValues& values);

/// Where a store is, and what else is needed to get to it.
struct StoreTarget {
  std::string name;                       ///< a file, or the address of a ClickHouse
  std::string password_file;              ///< of a ClickHouse; empty: as the environment says
  std::string ca_file;                    ///< certificates that are trusted; empty: those of the system
  std::optional<std::string> password{};  ///< as learn_password() found it
};

/// Whether it is the address of a ClickHouse: clickhouse://, clickhouses://, http:// or https://
[[nodiscard]] bool is_store_address(std::string_view name) noexcept;
/// Reads the password of a ClickHouse now, as long as this process may: each open_store() does so otherwise.
[[nodiscard]] capture::Expected<void> learn_password(StoreTarget& target);
/// What is wrong with an address; empty: nothing, or it is a file.
[[nodiscard]] std::string store_address_error(const std::string& name);

/// Makes the tables in a new or empty file, or in a ClickHouse; in a store it adds what is missing. The
/// statements that were run. `program`: version, `now`: seconds since the epoch, for the table `schema`.
[[nodiscard]] capture::Expected<std::vector<std::string>> init_store(const StoreTarget& target,
                                                                     const std::string& program,
                                                                     std::int64_t now);
/// The same where there is no file, or an empty one. Nobody makes tables in a ClickHouse unasked.
[[nodiscard]] capture::Expected<void> make_store_if_missing(const StoreTarget& target,
                                                            const std::string& program, std::int64_t now);
/// Adds tables and columns that this version has and the store lacks: what was run.
[[nodiscard]] capture::Expected<std::vector<std::string>> migrate_store(const StoreTarget& target,
                                                                        const std::string& program,
                                                                        std::int64_t now);
/// Errors: not_found, not_readable, unsupported (no store, or one that needs migrate_store()).
[[nodiscard]] capture::Expected<std::unique_ptr<Store>> open_store(const StoreTarget& target,
                                                                   Store::Access access);

}  // namespace roce::analyze
