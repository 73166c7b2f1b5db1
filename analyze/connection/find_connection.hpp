// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analyze/connection/connection.hpp"

namespace roce::analyze {

/// The connection of that id, or null. `connections` are by id; ids have holes where flows were evicted.
[[nodiscard]] inline const Connection* find_connection(const std::vector<Connection>& connections,
                                                       std::uint64_t id) noexcept {
  const auto found =
      std::lower_bound(connections.begin(), connections.end(), id,
                       [](const Connection& each, std::uint64_t wanted) { return each.id < wanted; });
  return found == connections.end() || found->id != id ? nullptr : &*found;
}

}  // namespace roce::analyze
