// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

/// TOS with the ECN that a sender of such packets would set.
unsigned tos_for_dscp(const MarkRule& marks) {
  constexpr unsigned ect0 = 2, ect1 = 1;
  const unsigned ecn = !marks.ecn || marks.ecn->contains(ect0) ? ect0 : marks.ecn->contains(ect1) ? ect1 : 0;
  return first_of(marks.dscp).value_or(0) << 2U | ecn;
}

/// Where the DSCP of a class is set.
std::string dscp_advice(const PolicyModel& policy, const RuleViolation& violation) {
  const MarkRule marks = wanted_marks(policy, violation);
  const unsigned dscp = first_of(marks.dscp).value_or(0);
  const unsigned tos = tos_for_dscp(marks);
  constexpr std::string_view rewritten =
      "If the host sends it correctly, a switch rewrites it: check its class map and the trust mode of the "
      "port.";
  switch (violation.example.traffic_class) {
    case TrafficClass::cnp:
      return fmt::format(
          "Set the DSCP of CNPs on the host that sends them: echo {} > "
          "/sys/class/net/NETDEV/ecn/roce_np/cnp_dscp. {}",
          dscp, rewritten);
    case TrafficClass::cm:
      return fmt::format("Set the ToS of RDMA-CM on the sender: cma_roce_tos -d DEV -t {}. {}", tos,
                         rewritten);
    default:
      return fmt::format(
          "Set the traffic class on the sender, {} for DSCP {}: echo {} > "
          "/sys/class/infiniband/DEV/tc/PORT/traffic_class for all queue pairs, cma_roce_tos -d DEV -t {} "
          "for those of RDMA-CM, or the application's own setting (NCCL_IB_TC, UCX_IB_TRAFFIC_CLASS, "
          "--tclass). {}",
          tos, dscp, tos, tos, rewritten);
  }
}

}  // namespace

void find_policy_dscp(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::dscp}, Severity::warning, dscp_advice);
}

}  // namespace roce::analyze
