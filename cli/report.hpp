// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyze/flow_columns.hpp"
#include "analyze/json_writer.hpp"
#include "analyze/snapshot.hpp"

namespace roce::cli {

struct ReportStyle {
  std::size_t width = 100;  ///< columns of the terminal
  bool color = false;
  std::size_t top = 20;  ///< flows listed; the rest is counted
};

/// The report for people.
[[nodiscard]] std::string report_text(const analyze::Snapshot& snapshot, const ReportStyle& style);
/// The report as one JSON object, newline at its end ("roceanalyze/1").
[[nodiscard]] std::string report_json(const analyze::Snapshot& snapshot, bool pretty);

struct FlowListing {
  std::string sort;  ///< a column's name, empty = by number
  bool reverse = false;
  std::size_t top = 0;  ///< 0 = all
};
/// The flows a listing asks for, in its order. An unknown sort column counts as none.
[[nodiscard]] std::vector<const analyze::Flow*> listed_flows(const analyze::Snapshot& snapshot,
                                                             const FlowListing& listing);
[[nodiscard]] std::string flows_text(const analyze::Snapshot& snapshot, const FlowListing& listing,
                                     std::size_t width);
[[nodiscard]] std::string flows_csv(const analyze::Snapshot& snapshot, const FlowListing& listing);
/// One JSON object with the report's `flows` and `diagnostics`.
[[nodiscard]] std::string flows_json(const analyze::Snapshot& snapshot, const FlowListing& listing,
                                     bool pretty);

}  // namespace roce::cli
