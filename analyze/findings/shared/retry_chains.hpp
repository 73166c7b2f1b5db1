// SPDX-License-Identifier: Apache-2.0
// Texts on retry chains: retransmissions of one PSN without an answer, and the timer that they show.
#pragma once

#include <string>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

/// "RDMA WRITE Only with PSN 4711 was sent 8 times (from packet 120 to 180), 67.1 ms to 71.0 ms apart, which
/// matches local ACK timeout 14 (4.096 µs · 2^14 = 67.1 ms); the CM set 18 (...)". Of a READ whose rest was
/// requested: "RDMA READ Request with PSN 100 was reissued once from PSN 105 on (packets 20 and 34), ...". No
/// full stop. Empty without a chain.
[[nodiscard]] std::string chain_text(const Snapshot& snapshot, const Connection& connection, unsigned side);
/// " Each time PSN 263 before it, which ...", if the responder cannot answer for lack of it; else nothing.
[[nodiscard]] std::string missing_text(const Connection& connection, unsigned side);

/// Whether a side's requester gave up without an answer. A single retransmission may as well be the end of a
/// program that did not wait for its last acknowledgement, unless the CM negotiated so few.
[[nodiscard]] bool gave_up(const Connection& connection, unsigned side) noexcept;

/// Whether a side's requester has sent a request as often as a queue pair ever does, and no answer was
/// captured: unless one comes before its timer runs out once more, the queue pair ends.
[[nodiscard]] bool has_no_retry_left(const Connection& connection, unsigned side) noexcept;

/// Whether the responder answers, but only PSNs that nobody sent: both ends began with other PSNs.
[[nodiscard]] bool answers_other_psns(const Snapshot& snapshot, const Connection& connection,
                                      unsigned side) noexcept;

}  // namespace roce::analyze
