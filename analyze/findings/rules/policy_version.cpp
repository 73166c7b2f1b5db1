// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/findings/shared/policy_violation.hpp"

namespace roce::analyze {
namespace {

std::string version_advice(const PolicyModel& policy, const RuleViolation&) {
  const bool v1 = policy.versions == roce_v1_allowed;
  return fmt::format(
      "Programs choose the version by the GID index: show_gids lists them; take one of type {} (ib_write_bw "
      "-x N, NCCL_IB_GID_INDEX, UCX_IB_GID_INDEX). RDMA-CM uses the device's default mode: cma_roce_mode -d "
      "DEV -p PORT -m {}.",
      v1 ? "IB/RoCE v1" : "RoCE v2", v1 ? 1 : 2);
}

}  // namespace

void find_policy_version(const Snapshot& snapshot, FindingSink& sink) {
  report_violations(snapshot, sink, {MarkCheck::version}, Severity::warning, version_advice);
}

}  // namespace roce::analyze
