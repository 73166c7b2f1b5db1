// SPDX-License-Identifier: Apache-2.0
// Geometry of the sequence graph, as plain functions. PSNs are extended to 64 bits: they do not wrap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/trace/connection_trace.hpp"
#include "gui/charts/trace_marks.hpp"

namespace roce::gui {

/// All packets of a direction with one TraceMark, by time.
struct SequenceSeries {
  std::vector<double> seconds;
  std::vector<std::int64_t> low, high;  ///< PSNs [low, high)
  std::vector<std::uint32_t> point;     ///< index in ConnectionTrace::points
};

/// The requests of one side and the responses to them.
struct SequenceLines {
  std::array<SequenceSeries, trace_mark_count> series;
  std::int64_t lowest = 0, highest = 0;  ///< PSNs
  double first = 0, last = 0;            ///< seconds
  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] const SequenceSeries& of(TraceMark mark) const noexcept {
    return series[static_cast<std::size_t>(mark)];
  }
};
/// Times are seconds after `origin_ns`; packet numbers where packets have no times. CNPs carry no PSN: those
/// of both directions are included, as either side may reduce its rate.
[[nodiscard]] SequenceLines sequence_lines(const analyze::ConnectionTrace& trace, unsigned side,
                                           std::int64_t origin_ns);
/// Position of a point on the time axis.
[[nodiscard]] double axis_seconds(const analyze::ConnectionTrace& trace, const analyze::TracePoint& point,
                                  std::int64_t origin_ns) noexcept;

/// The range [lowest, highest + 1) of PSNs between two times; nullopt: there are none.
[[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> psns_between(const SequenceLines& lines,
                                                                                double from, double to);

/// Packets of a series that are drawn as one because they fall into the same column of pixels.
struct SequencePiece {
  double seconds = 0;  ///< of the first
  double last_seconds = 0;
  std::int64_t low = 0, high = 0;
  std::uint32_t point = 0;  ///< the first
  std::uint32_t packets = 0;
};
/// Maximum number of pieces of a series per column of pixels.
inline constexpr int pieces_per_column = 4;
/// The pieces to draw of a series between two times, on that many columns of pixels. Packets of one column
/// whose PSNs are closer than `psn_gap` are merged.
[[nodiscard]] std::vector<SequencePiece> sequence_pieces(const SequenceSeries& series, double from, double to,
                                                         int columns, double psn_gap);
/// The same for steps: only the lowest and highest of a column are kept; the last one before `from` is
/// included.
[[nodiscard]] std::vector<SequencePiece> step_pieces(const SequenceSeries& series, double from, double to,
                                                     int columns);

/// Where to look for a packet: a place of the graph and the tolerance around it.
struct SequencePlace {
  double seconds = 0, psn = 0;
  double seconds_per_pixel = 0, psn_per_pixel = 0;
  double pixels = 8;
};
/// The nearest packet in pixels; of several equally near ones, that with the more important mark. With `edge`
/// foot or head, ticks at that edge are found by time alone.
[[nodiscard]] std::optional<std::uint32_t> point_near(const SequenceLines& lines, const SequencePlace& place,
                                                      TraceMarkLook::Form edge = TraceMarkLook::Form::bar);

/// From one place of the graph to another.
struct SequenceDistance {
  double seconds = 0;
  double psns = 0;
  double psns_per_second = 0;  ///< 0 if both are at the same time
};
[[nodiscard]] SequenceDistance sequence_distance(double from_seconds, double from_psn, double to_seconds,
                                                 double to_psn) noexcept;

}  // namespace roce::gui
