// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/base/json_object.hpp"
#include "analyze/store/store.hpp"

namespace roce::cli {

/// What `store status` says of a store.
struct StoreStatus {
  std::int64_t version = 0;
  const std::vector<analyze::StoreTableStatus>& tables;
};
/// The table that it is written from as JSON, for its schema.
[[nodiscard]] const analyze::JsonObject<StoreStatus>& store_status_object();

}  // namespace roce::cli
