// SPDX-License-Identifier: Apache-2.0
// Snapshots as text, tables and CSV; JSON is in analyze/report.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "analyze/results/snapshot.hpp"
#include "cli/core/listing.hpp"
#include "cli/core/page.hpp"

namespace roce::cli {

/// What is incomplete or limited, and the diagnoses: the first in full, further ones up to `in_full` of them
/// as long as the page has at most `lines`, and some more by their sentence.
void write_what_is_wrong(Page& page, const analyze::Snapshot& snapshot, std::size_t in_full,
                         std::size_t lines);
/// The same, the verdict and the findings, most severe first; or that nothing wrong was found.
void write_verdict(Page& page, const analyze::Snapshot& snapshot);

/// What was skipped or could not be used; nothing without diagnostics.
void write_diagnostics(Page& page, const analyze::Snapshot& snapshot);

/// The whole text report.
[[nodiscard]] std::string report_text(const analyze::Snapshot& snapshot, const ReportStyle& style);

/// Writes the HTML report to standard output, with at most `top` rows of each table (none: the default);
/// returns the exit status, see Output::finish().
[[nodiscard]] int print_html(const analyze::Snapshot& snapshot, std::optional<std::size_t> top, int status);

// The tables of the commands: as text of at most `width` display columns (0 = no limit), and as CSV.
[[nodiscard]] std::string flows_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                     std::size_t width);
[[nodiscard]] std::string flows_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string markings_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                        std::size_t width);
[[nodiscard]] std::string markings_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string connections_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                           std::size_t width);
[[nodiscard]] std::string connections_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string incidents_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                         std::size_t width);
[[nodiscard]] std::string incidents_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string paths_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                     std::size_t width);
[[nodiscard]] std::string paths_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string pairs_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                     std::size_t width);
[[nodiscard]] std::string pairs_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string pauses_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                      std::size_t width);
[[nodiscard]] std::string pauses_csv(const analyze::Snapshot& snapshot, const Listing& listing);

[[nodiscard]] std::string dcbx_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                    std::size_t width);
[[nodiscard]] std::string dcbx_csv(const analyze::Snapshot& snapshot, const Listing& listing);

}  // namespace roce::cli
