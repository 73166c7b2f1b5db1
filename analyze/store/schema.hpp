// SPDX-License-Identifier: Apache-2.0
// The tables of the store. A table is rows of {name, type, help}; statements that make it, blocks that fill
// it and its documentation come from these.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace roce::analyze {

/// Only what the ClickHouse of Debian 12 (18.16) knows as well. Not known is 0 or '', never NULL.
enum class StoreType : std::uint8_t {
  time,  ///< seconds since the epoch: DateTime
  text,
  u8,
  u16,
  u32,
  u64,
  i16,
  i64,
  f64,
  u16s,  ///< arrays; in SQLite a text, [1,2]
  u32s,
  u64s,
  count_
};

struct StoreColumn {
  std::string_view name;  ///< letters and underscores: no statement needs to quote it
  StoreType type = StoreType::text;
  std::string_view help;
};

struct StoreTable {
  std::string_view name;
  std::string_view help;
  std::span<const StoreColumn> columns;
  // ClickHouse.
  std::string_view partition;  ///< empty: none
  std::string_view order;      ///< the key of the table
  std::string_view version;    ///< of rows with the same key the one with the largest stays; empty: any
  std::string_view shard;      ///< key of the distributed table; empty: every server has all rows
  // SQLite.
  std::string_view index;  ///< columns of an index; empty: none
};

/// Of everything in store_tables(). Columns are only added, and none changes its meaning: each addition is a
/// new version. 2: counts are signed, as rows take back what earlier ones told.
inline constexpr std::uint32_t store_schema_version = 2;

/// All tables, `heartbeats` last: it tells that a batch is there as a whole.
[[nodiscard]] std::span<const StoreTable> store_tables();
/// The table of that name, or nullptr.
[[nodiscard]] const StoreTable* find_store_table(std::string_view name);

}  // namespace roce::analyze
