// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/policy_breach.hpp"

namespace roce::analyze {
namespace {

/// The priority that the tag should have.
unsigned wanted_pcp(const PolicyModel& policy, const RuleBreach& breach) {
  const std::uint8_t dscp = breach.example.marks.dscp;
  if (breach.check == MarkCheck::pcp_from_tos) return dscp >> 3U;
  if (breach.check == MarkCheck::pcp_from_dscp) return priority_of_dscp(policy, dscp);
  return first_of(wanted_marks(policy, breach).pcp).value_or(0);
}

std::string advice(const PolicyModel& policy, const RuleBreach& breach) {
  const unsigned pcp = wanted_pcp(policy, breach);
  if (breach.example.traffic_class == TrafficClass::cnp) {
    return fmt::format(
        "Set the priority of CNPs on the host that sends them: echo {} > "
        "/sys/class/net/NETDEV/ecn/roce_np/cnp_802p_prio.",
        pcp);
  }
  return fmt::format(
      "The NIC takes PCP from the service level (SL & 7): ask for SL {} in the application (--sl, "
      "NCCL_IB_SL, "
      "UCX_IB_SL) or, with RDMA-CM, by a ToS of {} (cma_roce_tos -d DEV -t {}; SL is ToS >> 5) and, where "
      "the "
      "kernel maps socket priorities, ip link set VLANDEV type vlan egress {}:{}. If the host sends it "
      "right, the "
      "switch's priority map rewrites it.",
      pcp, pcp << 5U, pcp << 5U, pcp, pcp);
}

}  // namespace

void find_policy_pcp(const Snapshot& snapshot, FindingSink& sink) {
  report_breaches(snapshot, sink, {MarkCheck::pcp, MarkCheck::pcp_from_tos, MarkCheck::pcp_from_dscp},
                  Severity::warning, advice);
}

}  // namespace roce::analyze
