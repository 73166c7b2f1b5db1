// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace roce::analyze {

/// NULL, or a value that a store answers.
using StoreCell = std::variant<std::monostate, std::int64_t, double, std::string>;
using StoreAnswer = std::vector<std::vector<StoreCell>>;

}  // namespace roce::analyze
