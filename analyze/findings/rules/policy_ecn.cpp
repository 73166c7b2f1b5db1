// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

std::string ecn_advice(const PolicyModel& policy, const RuleViolation& violation) {
  constexpr unsigned ce = 3;
  if (violation.example.marks.ecn == ce) {
    return "A switch on the path marks them: remove the queue of these packets from its ECN (WRED) profile, "
           "or map them to a queue without one; only data should be marked CE.";
  }
  const MarkRule marks = wanted_marks(policy, violation);
  constexpr unsigned ect0 = 2, ect1 = 1;
  const unsigned ecn = marks.ecn && marks.ecn->contains(ect0)   ? ect0
                       : marks.ecn && marks.ecn->contains(ect1) ? ect1
                                                                : 0;
  const unsigned dscp = first_of(marks.dscp).value_or(violation.example.marks.dscp);
  const unsigned priority =
      first_of(marks.priority).value_or(priority_of_dscp(policy, static_cast<std::uint8_t>(dscp)));
  return fmt::format(
      "Switch {} ECN for the priority on the sender's NIC: echo {} > "
      "/sys/class/net/NETDEV/ecn/roce_rp/enable/{} and the same in roce_np; where the traffic class decides, "
      "its two lowest bits: echo {} > /sys/class/infiniband/DEV/tc/PORT/traffic_class. If the host sends it "
      "correctly, a switch or tunnel changes it.",
      ecn != 0 ? "on" : "off", ecn != 0 ? 1 : 0, priority, dscp << 2U | ecn);
}

}  // namespace

void find_policy_ecn(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::ecn}, Severity::warning, ecn_advice);
}

}  // namespace roce::analyze
