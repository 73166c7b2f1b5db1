// SPDX-License-Identifier: Apache-2.0
// Retry chains in words: resends of one PSN after silence, and what timer they show.
#pragma once

#include <string>

#include "analyze/findings/common.hpp"

namespace roce::analyze {

/// "RDMA WRITE Only with PSN 4711 was sent 8 times (packets 120 to 180), 67.1 ms to 71.0 ms apart: a local
/// ACK timeout of 14 (4.096 µs · 2^14 = 67.1 ms); the CM agreed on 18 (1.07 s)". No full stop. Empty without
/// a chain.
[[nodiscard]] std::string chain_text(const Snapshot& snapshot, const Connection& connection, unsigned side);

}  // namespace roce::analyze
