// SPDX-License-Identifier: Apache-2.0
#include "cli/store/store_status.hpp"

#include "analyze/report/json/json_report.hpp"

namespace roce::cli {
namespace {

using analyze::JsonObject;

const JsonObject<analyze::StoreTableStatus>& store_table_object() {
  using analyze::StoreTableStatus;
  static const auto object = [] {
    JsonObject<StoreTableStatus> o("store_table");
    o.key("name", "name of the table", &StoreTableStatus::table);
    o.key("rows", "its rows", &StoreTableStatus::rows);
    o.key("first", "time of the first row; 0: no rows, or it has no time", &StoreTableStatus::first_time)
        .in("s since 1970");
    o.key("last", "time of the last row; 0: no rows, or it has no time", &StoreTableStatus::last_time)
        .in("s since 1970");
    return o;
  }();
  return object;
}

}  // namespace

const JsonObject<StoreStatus>& store_status_object() {
  static const auto object = [] {
    JsonObject<StoreStatus> o("store_status");
    o.key("schema", "name of this schema", [](const StoreStatus&) {
       return analyze::report_schema;
     }).of({analyze::report_schema});
    o.key("version", "version of the store", &StoreStatus::version);
    o.list(
        "tables", "its tables", store_table_object(),
        [](const StoreStatus& status) -> const auto& { return status.tables; });
    return o;
  }();
  return object;
}

}  // namespace roce::cli
