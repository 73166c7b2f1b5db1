// SPDX-License-Identifier: Apache-2.0
// Retry chains in words: resends of one PSN after silence, and what timer they show.
#pragma once

#include <string>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

/// "RDMA WRITE Only with PSN 4711 was sent 8 times (from packet 120 to 180), 67.1 ms to 71.0 ms apart: a
/// local ACK timeout of 14 (4.096 µs · 2^14 = 67.1 ms); the CM agreed on 18 (1.07 s)". No full stop. Empty
/// without a chain.
[[nodiscard]] std::string chain_text(const Snapshot& snapshot, const Connection& connection, unsigned side);
/// " Each time PSN 263 before it was missing: ...", where the responder cannot answer; else nothing.
[[nodiscard]] std::string missing_text(const Connection& connection, unsigned side);

/// Whether a side's requester gave up for silence. One resend without an answer may as well be the end of
/// a program that did not wait for its last acknowledgement, unless the CM agreed on so few.
[[nodiscard]] bool gave_up(const Snapshot& snapshot, const Connection& connection, unsigned side) noexcept;

}  // namespace roce::analyze
