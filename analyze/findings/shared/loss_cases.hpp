// SPDX-License-Identifier: Apache-2.0
// What the rules on lost packets have in common.
#pragma once

#include <string>
#include <vector>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

/// One case per direction that lost packets, as a share of all packets sent, captured or not.
[[nodiscard]] std::vector<Case> loss_cases(const Snapshot& snapshot, Event lost);

/// Packets known to be lost, wherever.
[[nodiscard]] std::uint64_t losses_of(const Events& sent) noexcept;
/// The peer sends far more sequence NAKs than packets were lost, and packets are late: it treats late ones as
/// lost.
[[nodiscard]] bool late_taken_for_lost(const Events& sent, const Events& answered) noexcept;

/// READs that were retried because a response was missing.
[[nodiscard]] std::uint64_t reads_asked_again(const Requester& requester) noexcept;
/// The same for READ responses, which no NAK requests: far more READs are retried than responses were lost,
/// and responses are late.
[[nodiscard]] bool late_responses_taken_for_lost(const Connection& connection, unsigned responder) noexcept;

/// RoCE networks are built to lose nothing: one in ten thousand already costs. One or two packets may be
/// lost for any reason.
[[nodiscard]] Severity loss_severity(const Group& group) noexcept;
[[nodiscard]] Severity loss_severity(std::uint64_t lost, std::uint64_t of) noexcept;

/// " 46 losses in 22 incidents, median recovery ..."; empty without `incidents`: see incidents_text().
[[nodiscard]] std::string losses_in_text(std::uint64_t losses, const std::string& incidents);
/// " Up to 212 packets (0.8 MB) arrived out of sequence (after a gap) and were discarded.", or nothing.
[[nodiscard]] std::string waste_text(const Snapshot& snapshot, const Group& group);
/// " 40 packets retransmitted: 37 after a sequence NAK, 3 after a timeout.", what was discarded, and goodput.
[[nodiscard]] std::string repair_text(const Snapshot& snapshot, const Group& group);

}  // namespace roce::analyze
