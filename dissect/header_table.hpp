// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "dissect/header_id.hpp"

namespace roce::dissect {

/// The one list of all headers, indexed by HeaderId.
[[nodiscard]] std::span<const HeaderInfo> header_table() noexcept;
[[nodiscard]] const HeaderInfo& header_info(HeaderId id) noexcept;

}  // namespace roce::dissect
