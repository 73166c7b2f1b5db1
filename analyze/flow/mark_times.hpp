// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyze/flow/flow.hpp"
#include "analyze/flow/marking.hpp"

namespace roce::analyze {

/// When the last packet of a flow's row may have been, at the latest: rows know the time of their first packet
/// alone, flows that of their last. capture::no_time where there is none.
[[nodiscard]] inline std::int64_t latest_time(const Flow& flow, const MarkRow& row) noexcept {
  return row.packets > 1 && flow.any_time ? flow.last_time_ns : row.first_time_ns;
}

}  // namespace roce::analyze
