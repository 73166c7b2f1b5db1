// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "dissect/header_id.hpp"

namespace roce::dissect {

/// All headers, indexed by HeaderId. Constant, for all threads.
[[nodiscard]] std::span<const HeaderInfo> header_table() noexcept;
[[nodiscard]] const HeaderInfo& header_info(HeaderId id) noexcept;

}  // namespace roce::dissect
