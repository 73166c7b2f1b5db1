// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/ddl.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dissect/enum_names.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t type_count = static_cast<std::size_t>(StoreType::count_);
constexpr EnumNames<StoreType, type_count> clickhouse_types({{StoreType::time, "DateTime"},
                                                             {StoreType::text, "String"},
                                                             {StoreType::u8, "UInt8"},
                                                             {StoreType::u16, "UInt16"},
                                                             {StoreType::u32, "UInt32"},
                                                             {StoreType::u64, "UInt64"},
                                                             {StoreType::i16, "Int16"},
                                                             {StoreType::i64, "Int64"},
                                                             {StoreType::f64, "Float64"},
                                                             {StoreType::u16s, "Array(UInt16)"},
                                                             {StoreType::u32s, "Array(UInt32)"},
                                                             {StoreType::u64s, "Array(UInt64)"}});

/// Of what a row does not tell; an array is one of no elements to ClickHouse, too.
std::string_view sqlite_default(const StoreColumn& column) {
  if (is_array(column.type)) return "'[]'";
  return column.type == StoreType::text ? "''" : "0";
}

std::string columns_of(StoreEngine engine, const StoreTable& table) {
  std::string text;
  for (const StoreColumn& column : table.columns) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", column.name, type_name(engine, column.type));
    if (engine == StoreEngine::sqlite) text += fmt::format(" NOT NULL DEFAULT {}", sqlite_default(column));
  }
  return text;
}

std::string keys_of(const StoreTable& table) {
  std::string text;
  if (!table.partition.empty()) text += fmt::format(" PARTITION BY {}", table.partition);
  return text + fmt::format(" ORDER BY ({})", table.order);
}

/// A table of which every server has all rows is small, and known everywhere.
bool is_everywhere(const StoreTable& table) {
  return table.shard.empty();
}

std::vector<std::string> alter_statements(StoreEngine engine, const StoreTable& table,
                                          const StorePlace& place, const std::string& what) {
  const auto alter = [&](std::string_view suffix) {
    return fmt::format("ALTER TABLE {}.{}{}{} {}", place.database, table.name, suffix,
                       engine == StoreEngine::cluster ? " ON CLUSTER " + place.cluster : "", what);
  };
  if (engine == StoreEngine::clickhouse || is_everywhere(table)) return {alter("")};
  return {alter("_local"), alter("")};
}

}  // namespace

bool is_array(StoreType type) noexcept {
  return type == StoreType::u16s || type == StoreType::u32s || type == StoreType::u64s;
}

bool is_integer(StoreType type) noexcept {
  return type != StoreType::text && type != StoreType::f64 && !is_array(type);
}

std::string_view type_name(StoreEngine engine, StoreType type) {
  if (engine != StoreEngine::sqlite) return clickhouse_types[type];
  if (is_integer(type)) return "INTEGER";
  return type == StoreType::f64 ? "REAL" : "TEXT";
}

std::string column_names(const StoreTable& table) {
  std::string text;
  for (const StoreColumn& column : table.columns)
    text += fmt::format("{}{}", text.empty() ? "" : ", ", column.name);
  return text;
}

std::vector<std::string> make_statements(StoreEngine engine, const StorePlace& place) {
  std::vector<std::string> all;
  const std::string& base = place.database;
  const std::string on_cluster = engine == StoreEngine::cluster ? " ON CLUSTER " + place.cluster : "";
  if (engine != StoreEngine::sqlite)
    all.push_back(fmt::format("CREATE DATABASE IF NOT EXISTS {}{}", base, on_cluster));
  for (const StoreTable& table : store_tables()) {
    const std::string columns = columns_of(engine, table);
    const std::string keys = keys_of(table);
    switch (engine) {
      case StoreEngine::sqlite:
        // A node and a version are known once; what else makes rows unique are their batches.
        all.push_back(fmt::format("CREATE TABLE IF NOT EXISTS {} ({}{})", table.name, columns,
                                  is_everywhere(table) ? fmt::format(", UNIQUE ({})", table.order) : ""));
        if (!table.index.empty())
          all.push_back(
              fmt::format("CREATE INDEX IF NOT EXISTS {0}_by ON {0} ({1})", table.name, table.index));
        break;
      case StoreEngine::clickhouse:
        all.push_back(fmt::format("CREATE TABLE IF NOT EXISTS {}.{} ({}) ENGINE = ReplacingMergeTree({}){}",
                                  base, table.name, columns, table.version, keys));
        break;
      case StoreEngine::cluster: {
        // One path for all shards makes a table of which every server has all rows.
        const std::string_view shard = is_everywhere(table) ? "all" : "{shard}";
        const std::string_view replica = is_everywhere(table) ? "{shard}-{replica}" : "{replica}";
        const std::string local = std::string(table.name) + (is_everywhere(table) ? "" : "_local");
        all.push_back(fmt::format(
            "CREATE TABLE IF NOT EXISTS {}.{}{} ({}) ENGINE = "
            "ReplicatedReplacingMergeTree('/clickhouse/tables/{}/{}/{}', '{}'{}){} SETTINGS "
            "replicated_deduplication_window = 20000, replicated_deduplication_window_seconds = 86400",
            base, local, on_cluster, columns, shard, base, table.name, replica,
            table.version.empty() ? "" : fmt::format(", {}", table.version), keys));
        if (!is_everywhere(table))
          all.push_back(
              fmt::format("CREATE TABLE IF NOT EXISTS {}.{}{} ({}) ENGINE = Distributed({}, {}, {}, {})",
                          base, table.name, on_cluster, columns, place.cluster, base, local, table.shard));
        break;
      }
    }
  }
  if (engine == StoreEngine::sqlite)
    all.emplace_back(
        "CREATE TABLE IF NOT EXISTS batches (run INTEGER NOT NULL, seq INTEGER NOT NULL, rows INTEGER NOT "
        "NULL, PRIMARY KEY (run, seq)) WITHOUT ROWID");
  return all;
}

std::vector<std::string> add_column_statements(StoreEngine engine, const StoreTable& table,
                                               const StoreColumn& column, const StorePlace& place) {
  const std::string_view type = type_name(engine, column.type);
  if (engine == StoreEngine::sqlite)
    return {fmt::format("ALTER TABLE {} ADD COLUMN {} {} NOT NULL DEFAULT {}", table.name, column.name, type,
                        sqlite_default(column))};
  return alter_statements(engine, table, place, fmt::format("ADD COLUMN {} {}", column.name, type));
}

std::vector<std::string> change_type_statements(StoreEngine engine, const StoreTable& table,
                                                const StoreColumn& column, std::string_view now,
                                                const StorePlace& place) {
  const std::string_view type = type_name(engine, column.type);
  // What is not of ours (LowCardinality, Nullable) somebody wanted so.
  const auto& ours = clickhouse_types.all();
  const bool is_ours = std::find(ours.begin(), ours.end(), now) != ours.end();
  if (engine == StoreEngine::sqlite || type == now || !is_ours) return {};
  return alter_statements(engine, table, place, fmt::format("MODIFY COLUMN {} {}", column.name, type));
}

std::vector<std::string> user_statements(const StorePlace& place) {
  const std::string& base = place.database;
  std::vector<std::string> all{
      "CREATE USER IF NOT EXISTS roce_writer IDENTIFIED WITH sha256_password BY 'PASSWORD'",
      fmt::format("GRANT INSERT ON {}.* TO roce_writer", base)};
  // Before it repeats something it asks what is there.
  for (const StoreTable& table : store_tables()) {
    if (!is_everywhere(table))
      all.push_back(fmt::format("GRANT SELECT(time, run, seq) ON {}.{} TO roce_writer", base, table.name));
  }
  all.push_back(fmt::format("GRANT SELECT(version) ON {}.schema TO roce_writer", base));
  all.emplace_back("GRANT SELECT(query_id) ON system.processes TO roce_writer");
  all.emplace_back(
      "CREATE USER IF NOT EXISTS roce_reader IDENTIFIED WITH sha256_password BY 'PASSWORD' SETTINGS readonly "
      "= 2");
  all.push_back(fmt::format("GRANT SELECT ON {}.* TO roce_reader", base));
  return all;
}

std::string users_file(const StorePlace& place) {
  const auto user = [&](std::string_view name, std::string_view profile) {
    return fmt::format(
        "    <{0}>\n"
        "      <password_sha256_hex>SHA256_OF_PASSWORD</password_sha256_hex>\n"
        "      <networks><ip>::/0</ip></networks>\n"
        "      <profile>{1}</profile>\n"
        "      <quota>default</quota>\n"
        "      <allow_databases><database>{2}</database></allow_databases>\n"
        "    </{0}>\n",
        name, profile, place.database);
  };
  return "<yandex>\n"
         "  <profiles>\n"
         "    <roce_writer><allow_ddl>0</allow_ddl></roce_writer>\n"
         "    <roce_reader><readonly>2</readonly><allow_ddl>0</allow_ddl></roce_reader>\n"
         "  </profiles>\n"
         "  <users>\n" +
         user("roce_writer", "roce_writer") + user("roce_reader", "roce_reader") + "  </users>\n</yandex>\n";
}

}  // namespace roce::analyze
