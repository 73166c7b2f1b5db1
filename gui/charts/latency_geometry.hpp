// SPDX-License-Identifier: Apache-2.0
// Geometry of the latency graph, as plain functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/trace/connection_trace.hpp"

namespace roce::gui {

/// Operations of one kind, by start time.
struct LatencySeries {
  analyze::OperationKind kind = analyze::OperationKind::send;
  std::vector<double> seconds;           ///< after the origin
  std::vector<double> latency;           ///< seconds
  std::vector<std::uint32_t> operation;  ///< index in ConnectionTrace::operations
};
/// One series for each kind of operation that occurs.
[[nodiscard]] std::vector<LatencySeries> latency_series(const analyze::ConnectionTrace& trace, unsigned side,
                                                        std::int64_t origin_ns);

/// The visible part of the graph: start times and latencies in seconds (latencies above 0, logarithmic axis),
/// size in pixels.
struct LatencyView {
  double from = 0, to = 1;
  double least = 1e-6, most = 1;
  int width = 1, height = 1;
};
/// A small square of pixels that contains at least one operation.
struct LatencyCell {
  double seconds = 0, latency = 0;  ///< of the first one
  std::uint32_t operation = 0;
  std::uint32_t operations = 0;
};
/// Side length of a cell in pixels.
inline constexpr int latency_cell = 3;
/// At most one entry per cell, however many operations there are.
[[nodiscard]] std::vector<LatencyCell> latency_cells(const LatencySeries& series, const LatencyView& view);
/// The operation nearest to a place of the graph, at most `pixels` away; nullopt: there is none.
[[nodiscard]] std::optional<std::uint32_t> operation_near(const LatencySeries& series,
                                                          const LatencyView& view, double seconds,
                                                          double latency, double pixels = 8);

/// A step of the cumulative distribution: so large a share of the operations took at most so long.
struct LatencyShare {
  double latency = 0;  ///< seconds
  double share = 0;    ///< above 0, at most 1
};
/// All latencies where they are at most `most`, else so many of them that steps are of equal height; the
/// longest one always.
[[nodiscard]] std::vector<LatencyShare> latency_shares(const LatencySeries& series, std::size_t most = 2000);
/// The share of the operations that took at most so long.
[[nodiscard]] double share_within(const std::vector<LatencyShare>& shares, double latency) noexcept;

/// Operations whose latency is at least `from` and less than `to`.
struct LatencyBin {
  double from = 0, to = 0;  ///< seconds
  std::size_t operations = 0;
};
/// Bins of equal width on a logarithmic axis, ten to a decade, from the first to the last with operations.
[[nodiscard]] std::vector<LatencyBin> latency_bins(const LatencySeries& series);

}  // namespace roce::gui
