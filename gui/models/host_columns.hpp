// SPDX-License-Identifier: Apache-2.0
// Hosts and their columns, the same as in reports.
#pragma once

#include "analyze/results/host_columns.hpp"

namespace roce::gui {

using Host = analyze::HostRow;
using analyze::host_columns;
[[nodiscard]] inline std::vector<Host> hosts_of(const analyze::Snapshot& snapshot) {
  return analyze::host_rows(snapshot);
}

}  // namespace roce::gui
