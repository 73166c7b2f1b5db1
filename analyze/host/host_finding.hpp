// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/finding.hpp"

namespace roce::analyze {

/// Something an engineer should know of a host. Its evidence is what the host says, not packets, so it is of
/// another kind than Finding; docs/host.md describes each.
struct HostFinding {
  std::string_view id;  ///< "host_...", stable
  Severity severity = Severity::info;
  std::string subject;                ///< "mlx5_0 port 1", "eth0"
  std::string explanation;            ///< what was seen, with its figures
  std::string advice;                 ///< what to do next, with the command
  std::vector<std::string> evidence;  ///< where it stands: files, counters with their values
};

/// Most severe first, then as they came.
void sort_findings(std::vector<HostFinding>& findings);

}  // namespace roce::analyze
