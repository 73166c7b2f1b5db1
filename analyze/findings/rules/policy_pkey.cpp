// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

std::string pkey_advice(const PolicyModel&, const RuleViolation&) {
  return "Check which P_Keys the port has (cat /sys/class/infiniband/DEV/ports/PORT/pkeys/*) and which index "
         "the application uses (pkey_index, NCCL_IB_PKEY, UCX_IB_PKEY). On Ethernet no switch checks the "
         "P_Key: tenants are separated by VLANs or access lists.";
}

}  // namespace

void find_policy_pkey(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::p_key}, Severity::error, pkey_advice);
}

}  // namespace roce::analyze
