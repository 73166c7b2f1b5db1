// SPDX-License-Identifier: Apache-2.0
// The address of a ClickHouse: clickhouse[s]://[user@]host[:port]/database[?cluster=NAME]
#pragma once

#include <string>

#include "analyze/store/ddl.hpp"
#include "capture/core/error.hpp"

namespace roce::analyze {

struct ClickHouseAddress {
  std::string url;   ///< "http://host:8123/" or "https://host:8443/"
  std::string user;  ///< "default" unless it is named
  StorePlace place;  ///< cluster empty: one server
};

/// Errors: unsupported, without a password that stood in it.
[[nodiscard]] capture::Expected<ClickHouseAddress> parse_clickhouse_address(const std::string& text);

}  // namespace roce::analyze
