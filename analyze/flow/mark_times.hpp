// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyze/flow/flow.hpp"
#include "analyze/flow/marking.hpp"

namespace roce::analyze {

/// Upper bound for the time of a row's last packet: rows have only the time of their first packet, flows also
/// that of their last. capture::no_time if there is none.
[[nodiscard]] inline std::int64_t latest_time(const Flow& flow, const MarkRow& row) noexcept {
  return row.packets > 1 && flow.any_time ? flow.last_time_ns : row.first_time_ns;
}

}  // namespace roce::analyze
