// SPDX-License-Identifier: Apache-2.0
// A policy against what ports do and announce, where single packets have no say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyze/link/dcbx.hpp"
#include "analyze/link/priority_map.hpp"
#include "analyze/policy/policy_model.hpp"

namespace roce::analyze {

/// Which priority a packet takes where the policy holds.
[[nodiscard]] PriorityMap priority_map_of(const PolicyModel& policy) noexcept;
/// Bits of the priorities that are lossless; nothing where the policy does not say.
[[nodiscard]] std::optional<std::uint8_t> lossless_of(const PolicyModel& policy) noexcept;
/// Bits of the priorities that RoCE data may take: those the policy names, else those of its DSCPs; nothing
/// where it says neither.
[[nodiscard]] std::optional<std::uint8_t> data_priorities_of(const PolicyModel& policy) noexcept;

/// What a port announces otherwise than the policy has it, in words: "PFC on 4 instead of 3".
[[nodiscard]] std::vector<std::string> announced_against(const PolicyModel& policy,
                                                         const DcbxSettings& settings);

}  // namespace roce::analyze
