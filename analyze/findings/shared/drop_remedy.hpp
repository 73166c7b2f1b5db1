// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "analyze/exports/exports.hpp"

namespace roce::analyze {

/// What to look at where a switch dropped packets for that reason.
[[nodiscard]] std::string_view drop_remedy(const DropReason& reason) noexcept;

}  // namespace roce::analyze
