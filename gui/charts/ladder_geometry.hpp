// SPDX-License-Identifier: Apache-2.0
// Geometry of the ladder diagram, as plain functions.
#pragma once

#include <QLineF>
#include <QRectF>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyze/trace/connection_trace.hpp"

namespace roce::gui {

/// One row of the ladder.
struct LadderRow {
  std::uint32_t point = 0;  ///< index in ConnectionTrace::points
  /// Not the packet itself, but a loss upstream of the capture point that this packet reveals.
  bool lost_before = false;
  std::uint32_t more = 0;  ///< packets alike that are left out behind it
};
/// A row for each packet, by time, and one before each packet that reveals an upstream loss.
[[nodiscard]] std::vector<LadderRow> ladder_rows(const analyze::ConnectionTrace& trace);
/// The same rows, of four or more alike in a row only the first and the last.
[[nodiscard]] std::vector<LadderRow> folded_rows(const analyze::ConnectionTrace& trace,
                                                 const std::vector<LadderRow>& rows);
/// The row of that packet, of one that is folded away the row that it follows; nullopt: there is none.
[[nodiscard]] std::optional<std::size_t> ladder_row_of(const analyze::ConnectionTrace& trace,
                                                       const std::vector<LadderRow>& rows,
                                                       std::uint64_t packet);
/// The first row at that time or later; the last row if there is none.
[[nodiscard]] std::size_t ladder_row_at(const analyze::ConnectionTrace& trace,
                                        const std::vector<LadderRow>& rows, std::int64_t time_ns);
/// The nearest notable row after `from` (`forward`) or before it; nullopt: there is none.
[[nodiscard]] std::optional<std::size_t> next_remarkable(const analyze::ConnectionTrace& trace,
                                                         const std::vector<LadderRow>& rows, std::size_t from,
                                                         bool forward);

/// How long a bar shows the time since the row before, 0 to 1: logarithmic from a microsecond to a second, so
/// that a timer stands out beside packets back to back.
[[nodiscard]] double gap_share(std::int64_t gap_ns) noexcept;

/// Positions of the columns, in pixels.
struct LadderColumns {
  double number = 0;    ///< right edge of packet numbers
  double time = 0;      ///< right edge of times
  double a = 0, b = 0;  ///< the vertical lines of the two ends
  double remarks = 0;   ///< left edge
};
/// `explained`: remarks are whole sentences, and get more of the width.
[[nodiscard]] LadderColumns ladder_columns(double width, double letter_width,
                                           bool explained = false) noexcept;

struct LadderArrow {
  QLineF line;           ///< from the sender; slopes downwards, as time passes on the way
  bool arrives = true;   ///< false: lost, ends halfway
  bool captured = true;  ///< false: lost upstream of the capture point
};
[[nodiscard]] LadderArrow ladder_arrow(const analyze::TracePoint& point, bool lost_before,
                                       const LadderColumns& columns, double top, double height) noexcept;

/// The rows to paint: [from, to).
struct LadderSpan {
  std::size_t from = 0, to = 0;
};
[[nodiscard]] LadderSpan visible_rows(std::size_t rows, std::size_t first, double row_height,
                                      double height) noexcept;

}  // namespace roce::gui
