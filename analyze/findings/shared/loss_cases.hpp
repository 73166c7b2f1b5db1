// SPDX-License-Identifier: Apache-2.0
// What the rules on lost packets have in common.
#pragma once

#include <string>
#include <vector>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

/// One case a direction that lost packets; a part of the packets that were sent, whether or not they
/// were captured.
[[nodiscard]] std::vector<Case> loss_cases(const Snapshot& snapshot, Event lost);

/// Packets known to be lost, wherever.
[[nodiscard]] std::uint64_t losses_of(const Events& sent) noexcept;
/// The other side sends far more sequence NAKs than packets were lost, and packets are late: it takes
/// late ones for lost ones.
[[nodiscard]] bool late_taken_for_lost(const Events& sent, const Events& answered) noexcept;

/// READs of which a response was missing and asked for again.
[[nodiscard]] std::uint64_t reads_asked_again(const Requester& requester) noexcept;
/// The same for READ responses, which no NAK asks for: far more READs are asked again than responses were
/// lost, and responses are late.
[[nodiscard]] bool late_responses_taken_for_lost(const Connection& connection, unsigned responder) noexcept;

/// RoCE networks are built to lose nothing: one in ten thousand already costs. One or two packets may be
/// lost for any reason.
[[nodiscard]] Severity loss_severity(const Group& group) noexcept;

/// " 212 packets (0.8 MB) arrived behind a missing one and were thrown away.", or nothing.
[[nodiscard]] std::string waste_text(const Snapshot& snapshot, const Group& group);
/// " 40 packets sent again: 37 after a sequence NAK, 3 after a timeout.", what was wasted, and goodput.
[[nodiscard]] std::string repair_text(const Snapshot& snapshot, const Group& group);

}  // namespace roce::analyze
