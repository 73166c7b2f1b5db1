// SPDX-License-Identifier: Apache-2.0
// Compares a policy with what ports do and announce (PFC, DCBX), independent of single packets.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/link/dcbx.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/policy/policy_model.hpp"

namespace roce::analyze {

/// The priorities of packets by the policy.
[[nodiscard]] PriorityMap priority_map_of(const PolicyModel& policy) noexcept;
/// Bits of the lossless priorities; absent if the policy does not define them.
[[nodiscard]] std::optional<std::uint8_t> lossless_of(const PolicyModel& policy) noexcept;
/// Bits of the priorities that RoCE data may have: those in the policy, else those of its DSCPs; absent if it
/// has neither.
[[nodiscard]] std::optional<std::uint8_t> data_priorities_of(const PolicyModel& policy) noexcept;

/// Differences between a port's announcement and the policy, as texts: "PFC on 4 instead of 3".
[[nodiscard]] std::vector<std::string> announced_against(const PolicyModel& policy,
                                                         const DcbxSettings& settings);

}  // namespace roce::analyze
