// SPDX-License-Identifier: Apache-2.0
// A snapshot as text, JSON and tables.
#pragma once

#include <cstddef>
#include <functional>
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

/// Where JSON goes: it may be larger than memory should be. `step` is called now and then and may take
/// out of `text` what is there.
struct JsonSink {
  std::string& text;
  std::function<void()> step;
};

/// The report as one JSON object, newline at its end ("roceanalyze/1").
void report_json(const analyze::Snapshot& snapshot, bool pretty, const JsonSink& sink);

[[nodiscard]] std::string flows_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                     std::size_t width);
[[nodiscard]] std::string flows_csv(const analyze::Snapshot& snapshot, const Listing& listing);
/// One JSON object with the report's `flows` and `diagnostics`.
void flows_json(const analyze::Snapshot& snapshot, const Listing& listing, bool pretty, const JsonSink& sink);

[[nodiscard]] std::string markings_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                        std::size_t width);
[[nodiscard]] std::string markings_csv(const analyze::Snapshot& snapshot, const Listing& listing);
/// One JSON object with the report's `markings` and `diagnostics`.
void markings_json(const analyze::Snapshot& snapshot, const Listing& listing, bool pretty,
                   const JsonSink& sink);

[[nodiscard]] std::string connections_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                           std::size_t width);
[[nodiscard]] std::string connections_csv(const analyze::Snapshot& snapshot, const Listing& listing);
/// One JSON object with the report's `connections`, `cm_exchanges` and `diagnostics`.
void connections_json(const analyze::Snapshot& snapshot, const Listing& listing, bool pretty,
                      const JsonSink& sink);

[[nodiscard]] std::string pauses_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                      std::size_t width);
[[nodiscard]] std::string pauses_csv(const analyze::Snapshot& snapshot, const Listing& listing);
/// One JSON object with what the report's `congestion` has of pauses, and `diagnostics`.
void pauses_json(const analyze::Snapshot& snapshot, const Listing& listing, bool pretty,
                 const JsonSink& sink);

[[nodiscard]] std::string dcbx_text(const analyze::Snapshot& snapshot, const Listing& listing,
                                    std::size_t width);
[[nodiscard]] std::string dcbx_csv(const analyze::Snapshot& snapshot, const Listing& listing);
/// One JSON object with the report's `dcbx` and `diagnostics`. Its links count the ports, so all of them are
/// there, in order of first appearance, whatever the listing.
void dcbx_json(const analyze::Snapshot& snapshot, const Listing& listing, bool pretty, const JsonSink& sink);

}  // namespace roce::cli
