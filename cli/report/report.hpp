// SPDX-License-Identifier: Apache-2.0
// A snapshot as text and tables; analyze/report/json/json_report.hpp has its JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analyze/results/snapshot.hpp"
#include "cli/core/listing.hpp"

namespace roce::cli {

struct ReportStyle {
  std::size_t width = 100;  ///< columns of the terminal
  bool color = false;
  std::size_t top = 20;  ///< connections and flows listed, the rest is counted; 0 = all
  /// What stands for FILE in commands; empty: FILE, nothing: the file that was read, where it is one.
  std::optional<std::string> file = std::nullopt;
};

/// The report for people.
[[nodiscard]] std::string report_text(const analyze::Snapshot& snapshot, const ReportStyle& style);

[[nodiscard]] std::string flows_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                     std::size_t width);
[[nodiscard]] std::string flows_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string markings_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                        std::size_t width);
[[nodiscard]] std::string markings_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string connections_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                           std::size_t width);
[[nodiscard]] std::string connections_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string pauses_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                      std::size_t width);
[[nodiscard]] std::string pauses_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string dcbx_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                    std::size_t width);
[[nodiscard]] std::string dcbx_csv(const analyze::Snapshot& snapshot, const Listing& listing);

}  // namespace roce::cli
