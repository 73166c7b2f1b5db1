// SPDX-License-Identifier: Apache-2.0
// What is wrong with the settings of a host, by themselves and against a policy.
#pragma once

#include <string_view>
#include <vector>

#include "analyze/host/host_finding.hpp"
#include "analyze/policy/policy_model.hpp"
#include "capture/host/facts.hpp"

namespace roce::analyze {

/// What can be judged without knowing what was meant.
[[nodiscard]] std::vector<HostFinding> check_host(const capture::HostFacts& host);
/// Trust, PFC, DSCP map, ToS and priorities against the policy, for every RoCE port.
[[nodiscard]] std::vector<HostFinding> check_host_policy(const capture::HostFacts& host,
                                                         const PolicyModel& policy);

/// The interfaces at the bottom of one: what a VLAN sits on, the members of a bond; itself if it is neither.
[[nodiscard]] std::vector<const capture::Netdev*> lowest_of(const capture::HostFacts& host,
                                                            std::string_view name);
/// Which mark the NIC takes the priority from; nothing where its driver does not say.
[[nodiscard]] std::optional<Trust> trust_of(const capture::DcbFacts& dcb) noexcept;

}  // namespace roce::analyze
