// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

/// The priority that the packets should get; the first that fits.
std::optional<unsigned> wanted_priority(const PolicyModel& policy, const RuleViolation& violation) {
  const MarkRule marks = wanted_marks(policy, violation);
  if (const auto priority = first_of(marks.priority)) return priority;
  return marks.lossless.value_or(false) ? first_of(policy.lossless) : std::nullopt;
}

std::string priority_advice(const PolicyModel& policy, const RuleViolation& violation) {
  const std::optional<unsigned> priority = wanted_priority(policy, violation);
  const std::string pfc = policy.lossless
                              ? fmt::format("; lossless: mlnx_qos -i NETDEV --pfc {}", pfc_list(policy))
                              : std::string();
  if (policy.trust == Trust::pcp) {
    return fmt::format(
        "The policy trusts PCP, so the tag decides{}: send tagged, with a GID of a VLAN interface "
        "(show_gids), and with that service level (--sl, NCCL_IB_SL, UCX_IB_SL){}.",
        priority ? fmt::format(", and should carry {}", *priority) : std::string(), pfc);
  }
  const unsigned dscp = violation.example.marks.dscp;
  if (!priority) {
    return fmt::format(
        "Give these packets a DSCP that maps elsewhere, or map DSCP {} to another priority on NICs and "
        "switches alike: mlnx_qos -i NETDEV --dscp2prio set,{},PRIORITY{}.",
        dscp, dscp, pfc);
  }
  return fmt::format(
      "Give these packets a DSCP that maps to priority {}, or map DSCP {} to it on NICs and switches alike: "
      "mlnx_qos -i NETDEV --trust dscp --dscp2prio set,{},{} (or dcb app add dev NETDEV dscp-prio {}:{}){}.",
      *priority, dscp, dscp, *priority, dscp, *priority, pfc);
}

}  // namespace

void find_policy_priority(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::priority, MarkCheck::lossless}, Severity::warning,
                    priority_advice);
}

}  // namespace roce::analyze
