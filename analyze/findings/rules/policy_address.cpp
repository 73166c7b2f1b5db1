// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

std::string address_advice(const PolicyModel&, const RuleViolation&) {
  return "Find out whose address it is (ip neigh, the switch's MAC table). If it belongs there, add it to "
         "[allow] addresses; if not, block it with an access list for UDP 4791 on the switch.";
}

}  // namespace

void find_policy_address(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::address}, Severity::error, address_advice);
}

}  // namespace roce::analyze
