// SPDX-License-Identifier: Apache-2.0
// What the latency graph draws, as plain numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/trace/connection_trace.hpp"

namespace roce::gui {

/// Operations of one kind, by the time when they began.
struct LatencySeries {
  analyze::OperationKind kind = analyze::OperationKind::send;
  std::vector<double> seconds;           ///< after the origin
  std::vector<double> latency;           ///< seconds
  std::vector<std::uint32_t> operation;  ///< index in ConnectionTrace::operations
};
/// Only kinds that occur.
[[nodiscard]] std::vector<LatencySeries> latency_series(const analyze::ConnectionTrace& trace, unsigned side,
                                                        std::int64_t origin_ns);

/// The visible part of a graph: times, latencies (above 0, on a logarithmic axis), pixels.
struct LatencyView {
  double from = 0, to = 1;
  double least = 1e-6, most = 1;
  int width = 1, height = 1;
};
/// A small square of pixels with at least one operation in it.
struct LatencyCell {
  double seconds = 0, latency = 0;  ///< of the first one
  std::uint32_t operation = 0;
  std::uint32_t operations = 0;
};
/// Pixels of a cell's side.
inline constexpr int latency_cell = 3;
/// So many at most as there are cells, whatever the number of operations.
[[nodiscard]] std::vector<LatencyCell> latency_cells(const LatencySeries& series, const LatencyView& view);
/// The nearest operation within so many pixels of a place of the graph.
[[nodiscard]] std::optional<std::uint32_t> operation_near(const LatencySeries& series,
                                                          const LatencyView& view, double seconds,
                                                          double latency, double pixels = 8);

}  // namespace roce::gui
