// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/finding.hpp"

namespace roce::analyze {

/// A finding about a host. Unlike Finding, its evidence is in the host's files and counters, not in packets.
/// docs/host.md describes each.
struct HostFinding {
  std::string_view id;  ///< "host_...", stable
  Severity severity = Severity::info;
  std::string subject;                ///< "mlx5_0 port 1", "eth0"
  std::string explanation;            ///< what was found, with figures
  std::string advice;                 ///< what to do next, with the command
  std::vector<std::string> evidence;  ///< files, counters with their values
};

/// Sorts by severity, most severe first; stable.
void sort_findings(std::vector<HostFinding>& findings);

}  // namespace roce::analyze
