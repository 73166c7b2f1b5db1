// SPDX-License-Identifier: Apache-2.0
// Hosts, as the reports have them.
#pragma once

#include "analyze/results/host_columns.hpp"

namespace roce::gui {

using Host = analyze::HostRow;
using analyze::host_columns;
[[nodiscard]] inline std::vector<Host> hosts_of(const analyze::Snapshot& snapshot) {
  return analyze::host_rows(snapshot);
}

}  // namespace roce::gui
