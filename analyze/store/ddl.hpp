// SPDX-License-Identifier: Apache-2.0
// Statements that make the tables of the store.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/store/schema.hpp"

namespace roce::analyze {

/// Where tables are made.
enum class StoreEngine : std::uint8_t {
  sqlite,      ///< a file
  clickhouse,  ///< one server
  cluster,     ///< shards and replicas: each table T over T_local
};

/// Name of the database and of the cluster, letters, digits and underscores only; SQLite has neither.
struct StorePlace {
  std::string database = "roce";
  std::string cluster = "fleet";
};

/// The statements that make everything that is missing, in their order; run again they change nothing.
[[nodiscard]] std::vector<std::string> make_statements(StoreEngine engine, const StorePlace& place = {});
/// The statement that adds a column to a table that lacks it.
[[nodiscard]] std::vector<std::string> add_column_statements(StoreEngine engine, const StoreTable& table,
                                                             const StoreColumn& column,
                                                             const StorePlace& place = {});
/// The statements that give a column its type where it has the type `now` of an older version. None: it has
/// it, a server's administrator chose another one, or it is SQLite, which keeps numbers of all sizes in one
/// type.
[[nodiscard]] std::vector<std::string> change_type_statements(StoreEngine engine, const StoreTable& table,
                                                              const StoreColumn& column, std::string_view now,
                                                              const StorePlace& place = {});
/// Statements of ClickHouse from 20.4 on that make two users: `roce_writer` of hosts, who adds rows and sees
/// no more than which batches are there, and `roce_reader` of `fleet`, who changes nothing. With "PASSWORD"
/// where theirs belong.
[[nodiscard]] std::vector<std::string> user_statements(const StorePlace& place = {});
/// The same as a file for users.d of any ClickHouse; 18.16 knows no rights to columns, so its writer can
/// read. "SHA256_OF_PASSWORD" is where that belongs.
[[nodiscard]] std::string users_file(const StorePlace& place = {});
/// "time, host, device ...": the names of a table's columns.
[[nodiscard]] std::string column_names(const StoreTable& table);
/// "DateTime", "UInt64" ... of ClickHouse; "INTEGER" ... of SQLite.
[[nodiscard]] std::string_view type_name(StoreEngine engine, StoreType type);
/// Whether a cell of that type is a number, other than of a floating point.
[[nodiscard]] bool is_integer(StoreType type) noexcept;
[[nodiscard]] bool is_array(StoreType type) noexcept;

}  // namespace roce::analyze
