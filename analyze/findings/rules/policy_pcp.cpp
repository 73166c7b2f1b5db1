// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <string>

#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

/// The PCP that the policy expects.
unsigned wanted_pcp(const PolicyModel& policy, const RuleViolation& violation) {
  const std::uint8_t dscp = violation.example.marks.dscp;
  if (violation.check == MarkCheck::pcp_from_tos) return dscp >> 3U;
  if (violation.check == MarkCheck::pcp_from_dscp) return priority_of_dscp(policy, dscp);
  return first_of(wanted_marks(policy, violation).pcp).value_or(0);
}

/// A ToS with that service level (ToS >> 5) whose DSCP and ECN match the policy: if possible that of the
/// packets, as another one would fix the tag and break the DSCP. Nothing if no DSCP of the policy matches.
std::optional<unsigned> tos_for_pcp(const PolicyModel& policy, const RuleViolation& violation, unsigned pcp) {
  constexpr unsigned ect0 = 2, ect1 = 1, ce = 3;
  const MarkRule marks = wanted_marks(policy, violation);
  // The network sets CE, no sender.
  unsigned ecn = violation.example.marks.ecn == ce ? ect0 : violation.example.marks.ecn;
  if (marks.ecn && !marks.ecn->contains(ecn))
    ecn = marks.ecn->contains(ect0) ? ect0 : marks.ecn->contains(ect1) ? ect1 : 0U;
  const auto fits = [&](unsigned dscp) {
    return dscp >> 3U == pcp && (!marks.dscp || marks.dscp->contains(dscp));
  };
  const unsigned own = violation.example.marks.dscp;
  if (fits(own)) return own << 2U | ecn;
  for (unsigned dscp = 0; dscp < DscpSet::limit; ++dscp) {
    if (fits(dscp)) return dscp << 2U | ecn;
  }
  return std::nullopt;
}

/// How to set the service level by the ToS of RDMA-CM, if the policy allows one that matches.
std::string tos_advice(const PolicyModel& policy, const RuleViolation& violation, unsigned pcp) {
  const auto tos = tos_for_pcp(policy, violation, pcp);
  if (!tos) return "(RDMA-CM takes it from ToS >> 5, and no DSCP of the policy yields that)";
  return fmt::format("or, with RDMA-CM, by a ToS of {} (cma_roce_tos -d DEV -t {}; SL is ToS >> 5)", *tos,
                     *tos);
}

std::string pcp_advice(const PolicyModel& policy, const RuleViolation& violation) {
  const unsigned pcp = wanted_pcp(policy, violation);
  if (violation.example.traffic_class == TrafficClass::cnp) {
    return fmt::format(
        "Set the priority of CNPs on the host that sends them: echo {} > "
        "/sys/class/net/NETDEV/ecn/roce_np/cnp_802p_prio.",
        pcp);
  }
  return fmt::format(
      "The NIC takes PCP from the service level (SL & 7): set SL {} in the application (--sl, NCCL_IB_SL, "
      "UCX_IB_SL) {} and, where the kernel maps socket priorities, ip link set VLANDEV type vlan egress "
      "{}:{}. If the host sends it correctly, the switch's priority map rewrites it.",
      pcp, tos_advice(policy, violation, pcp), pcp, pcp);
}

}  // namespace

void find_policy_pcp(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::pcp, MarkCheck::pcp_from_tos, MarkCheck::pcp_from_dscp},
                    Severity::warning, pcp_advice);
}

}  // namespace roce::analyze
