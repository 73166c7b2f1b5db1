// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

std::string vlan_advice(const PolicyModel&, const RuleViolation& violation) {
  return violation.example.marks.vlan
             ? "The queue pair uses a GID of another VLAN interface: show_gids lists which GID index belongs "
               "to which interface; give the application that of the right one (ib_write_bw -x N, "
               "NCCL_IB_GID_INDEX). A tag that the host does not set comes from the switch port: check "
               "whether it should be an access port of that VLAN."
             : "The queue pair uses a GID of the untagged interface: show_gids lists which GID index belongs "
               "to which interface; give the application that of the VLAN interface (ib_write_bw -x N, "
               "NCCL_IB_GID_INDEX). If the capture point is downstream of an access port, the switch has "
               "removed the tag: capture upstream of it.";
}

}  // namespace

void find_policy_vlan(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::vlan}, Severity::warning, vlan_advice);
}

}  // namespace roce::analyze
