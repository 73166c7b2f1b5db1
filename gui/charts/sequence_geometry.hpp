// SPDX-License-Identifier: Apache-2.0
// What the sequence graph draws, as plain numbers.
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

/// All packets of a direction with one mark, by time.
struct SequenceSeries {
  std::vector<double> seconds;
  std::vector<std::int64_t> low, high;  ///< PSNs from `low` to before `high`
  std::vector<std::uint32_t> point;     ///< index in ConnectionTrace::points
};

/// The requests of one side and what answers them.
struct SequenceLines {
  std::array<SequenceSeries, trace_mark_count> series;
  std::int64_t lowest = 0, highest = 0;  ///< PSNs
  double first = 0, last = 0;            ///< seconds
  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] const SequenceSeries& of(TraceMark mark) const noexcept {
    return series[static_cast<std::size_t>(mark)];
  }
};
/// Times are seconds after `origin_ns`; where packets have none, their number stands for it. CNPs have no
/// PSN: those of both directions are there, for each side may slow down.
[[nodiscard]] SequenceLines sequence_lines(const analyze::ConnectionTrace& trace, unsigned side,
                                           std::int64_t origin_ns);
/// The place of a point on the time axis.
[[nodiscard]] double axis_seconds(const analyze::ConnectionTrace& trace, const analyze::TracePoint& point,
                                  std::int64_t origin_ns) noexcept;

/// The lowest PSN that anything between two times has, and the one behind the highest; nullopt: nothing is
/// there.
[[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>> psns_between(const SequenceLines& lines,
                                                                                double from, double to);

/// Several packets of a series that are drawn as one, for they fall into one column of pixels.
struct SequencePiece {
  double seconds = 0;  ///< of the first
  double last_seconds = 0;
  std::int64_t low = 0, high = 0;
  std::uint32_t point = 0;  ///< the first
  std::uint32_t packets = 0;
};
/// No more than so many of a series are drawn in a column of pixels.
inline constexpr int pieces_per_column = 4;
/// What is to be drawn of a series between two times, on so many columns. Packets of one column whose PSNs
/// are closer than `psn_gap` are one piece.
[[nodiscard]] std::vector<SequencePiece> sequence_pieces(const SequenceSeries& series, double from, double to,
                                                         int columns, double psn_gap);
/// The same of steps: only the lowest and the highest in a column matter; the last one before `from` is
/// there.
[[nodiscard]] std::vector<SequencePiece> step_pieces(const SequenceSeries& series, double from, double to,
                                                     int columns);

/// Where one looks for a packet: a place, and how far around it.
struct SequencePlace {
  double seconds = 0, psn = 0;
  double seconds_per_pixel = 0, psn_per_pixel = 0;
  double pixels = 8;
};
/// The nearest packet there, by pixels; marks that matter more go first where several are as near. Ticks at
/// the edges are found by time alone where `edge` says so.
[[nodiscard]] std::optional<std::uint32_t> point_near(const SequenceLines& lines, const SequencePlace& place,
                                                      TraceMarkLook::Form edge = TraceMarkLook::Form::bar);

/// From one place of the graph to another.
struct SequenceDistance {
  double seconds = 0;
  double psns = 0;
  double psns_per_second = 0;  ///< 0 where no time lies between
};
[[nodiscard]] SequenceDistance sequence_distance(double from_seconds, double from_psn, double to_seconds,
                                                 double to_psn) noexcept;

}  // namespace roce::gui
