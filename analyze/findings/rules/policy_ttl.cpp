// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

std::string ttl_advice(const PolicyModel& policy, const RuleViolation& violation) {
  const unsigned ttl = first_of(wanted_marks(policy, violation).ttl).value_or(64);
  return fmt::format(
      "Set the hop limit on the sender: echo {} > /sys/class/infiniband/DEV/ttl/PORT/ttl (MLNX_OFED), or the "
      "hop limit of the address handle in the application. Each router on the path decrements it: if it is "
      "lower by a few, the packets were routed where the policy expects no router.",
      ttl);
}

}  // namespace

void find_policy_ttl(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::ttl}, Severity::warning, ttl_advice);
}

}  // namespace roce::analyze
