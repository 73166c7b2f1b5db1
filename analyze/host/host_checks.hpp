// SPDX-License-Identifier: Apache-2.0
// Checks of a host's settings, alone and against a policy.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/host/host_finding.hpp"
#include "analyze/policy/policy_model.hpp"
#include "capture/host/facts.hpp"

namespace roce::analyze {

/// Checks that need no policy.
[[nodiscard]] std::vector<HostFinding> check_host(const capture::HostFacts& host);
/// Trust, PFC, DSCP map, ToS and priorities against the policy, for every RoCE port.
[[nodiscard]] std::vector<HostFinding> check_host_policy(const capture::HostFacts& host,
                                                         const PolicyModel& policy);

/// The physical interfaces of an interface: the parent of a VLAN, the members of a bond; itself if it is
/// neither.
[[nodiscard]] std::vector<const capture::Netdev*> lowest_of(const capture::HostFacts& host,
                                                            std::string_view name);
/// The marking by which the NIC determines the priority; absent if its driver does not report it.
[[nodiscard]] std::optional<Trust> trust_of(const capture::DcbFacts& dcb) noexcept;

}  // namespace roce::analyze
