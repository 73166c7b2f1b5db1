// SPDX-License-Identifier: Apache-2.0
// A snapshot as text, JSON and tables.
#pragma once

#include <cstddef>
#include <string>

#include "analyze/snapshot.hpp"
#include "cli/listing.hpp"

namespace roce::cli {

struct ReportStyle {
  std::size_t width = 100;  ///< columns of the terminal
  bool color = false;
  std::size_t top = 20;  ///< connections and flows listed, the rest is counted; 0 = all
};

/// The report for people.
[[nodiscard]] std::string report_text(const analyze::Snapshot& snapshot, const ReportStyle& style);
/// The report as one JSON object, newline at its end ("roceanalyze/1").
[[nodiscard]] std::string report_json(const analyze::Snapshot& snapshot, bool pretty);

[[nodiscard]] std::string flows_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                     std::size_t width);
[[nodiscard]] std::string flows_csv(const analyze::Snapshot& snapshot, const Listing& listing);
/// One JSON object with the report's `flows` and `diagnostics`.
[[nodiscard]] std::string flows_json(const analyze::Snapshot& snapshot, const Listing& listing, bool pretty);

[[nodiscard]] std::string connections_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                           std::size_t width);
[[nodiscard]] std::string connections_csv(const analyze::Snapshot& snapshot, const Listing& listing);
/// One JSON object with the report's `connections`, `cm_exchanges` and `diagnostics`.
[[nodiscard]] std::string connections_json(const analyze::Snapshot& snapshot, const Listing& listing,
                                           bool pretty);

}  // namespace roce::cli
