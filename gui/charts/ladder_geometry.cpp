// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/ladder_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace roce::gui {

using analyze::ConnectionTrace;
using analyze::TracePoint;

std::vector<LadderRow> ladder_rows(const ConnectionTrace& trace) {
  std::vector<LadderRow> rows;
  rows.reserve(trace.points.size());
  for (std::size_t i = 0; i < trace.points.size(); ++i) {
    const auto point = static_cast<std::uint32_t>(i);
    if (trace.points[i].verdict.lost_before != 0) rows.push_back({point, true});
    rows.push_back({point, false});
  }
  return rows;
}

std::vector<LadderRow> folded_rows(const analyze::ConnectionTrace& trace,
                                   const std::vector<LadderRow>& rows) {
  const auto alike = [&](const LadderRow& a, const LadderRow& b) {
    const TracePoint& p = trace.points[a.point];
    const TracePoint& q = trace.points[b.point];
    const auto plain = [](const TracePoint& point) {
      return !point.verdict.any_lost() && point.verdict.gap == 0;
    };
    return !a.lost_before && !b.lost_before && plain(p) && plain(q) && p.side() == q.side() &&
           p.kind == q.kind && p.verdict.flags == q.verdict.flags && p.verdict.cause == q.verdict.cause &&
           p.verdict.rule == q.verdict.rule && p.has(TracePoint::damaged) == q.has(TracePoint::damaged) &&
           p.has(TracePoint::lost_behind) == q.has(TracePoint::lost_behind);
  };
  constexpr std::size_t least = 4;
  std::vector<LadderRow> folded;
  for (std::size_t from = 0; from < rows.size();) {
    std::size_t end = from + 1;
    while (end < rows.size() && alike(rows[from], rows[end])) ++end;
    if (end - from < least) {
      folded.insert(folded.end(), rows.begin() + static_cast<std::ptrdiff_t>(from),
                    rows.begin() + static_cast<std::ptrdiff_t>(end));
    } else {
      folded.push_back(rows[from]);
      folded.back().more = static_cast<std::uint32_t>(end - from - 2);
      folded.push_back(rows[end - 1]);
    }
    from = end;
  }
  return folded;
}

std::optional<std::size_t> ladder_row_of(const ConnectionTrace& trace, const std::vector<LadderRow>& rows,
                                         std::uint64_t packet) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].lost_before) continue;
    // What is folded away behind a row: the points behind its own.
    const std::size_t first = rows[i].point, last = first + rows[i].more;
    for (std::size_t point = first; point <= last; ++point) {
      if (trace.points[point].packet == packet) return i;
    }
  }
  return std::nullopt;
}

double gap_share(std::int64_t gap_ns) noexcept {
  constexpr double shortest_ns = 1e3, decades = 6;
  if (gap_ns <= 0) return 0;
  return std::clamp(std::log10(static_cast<double>(gap_ns) / shortest_ns) / decades, 0.0, 1.0);
}

std::size_t ladder_row_at(const ConnectionTrace& trace, const std::vector<LadderRow>& rows,
                          std::int64_t time_ns) {
  const auto found = std::lower_bound(
      rows.begin(), rows.end(), time_ns,
      [&](const LadderRow& row, std::int64_t ns) { return trace.points[row.point].time_ns < ns; });
  if (rows.empty()) return 0;
  return std::min(rows.size() - 1, static_cast<std::size_t>(found - rows.begin()));
}

std::optional<std::size_t> next_remarkable(const ConnectionTrace& trace, const std::vector<LadderRow>& rows,
                                           std::size_t from, bool forward) {
  for (std::size_t i = forward ? from + 1 : from - 1; i < rows.size(); forward ? ++i : --i) {
    if (!rows[i].lost_before && trace.points[rows[i].point].remarkable()) return i;
  }
  return std::nullopt;
}

LadderColumns ladder_columns(double width, double letter_width, bool explained) noexcept {
  LadderColumns columns;
  columns.number = 10 * letter_width;
  columns.time = columns.number + 17 * letter_width;
  columns.a = columns.time + 4 * letter_width;
  // Remarks get a part of what is left, and no more than they need.
  const double left = std::max(width - columns.a, 20 * letter_width);
  const double remarks =
      explained ? std::min(left * 0.58, 100 * letter_width) : std::min(left * 0.4, 62 * letter_width);
  columns.b = columns.a + left - remarks;
  columns.remarks = columns.b + 2 * letter_width;
  return columns;
}

LadderArrow ladder_arrow(const TracePoint& point, bool lost_before, const LadderColumns& columns, double top,
                         double height) noexcept {
  LadderArrow arrow;
  arrow.captured = !lost_before;
  arrow.arrives = !lost_before && !point.has(TracePoint::lost_behind) && !point.has(TracePoint::damaged);
  const bool from_a = point.side() == 0;
  const double from = from_a ? columns.a : columns.b;
  const double to = from_a ? columns.b : columns.a;
  // A packet lost upstream of the capture point gets less far than one lost downstream.
  const double way = arrow.arrives ? 1 : lost_before ? 0.4 : 0.6;
  const double begin = top + 0.62 * height, fall = 0.3 * height;
  arrow.line = QLineF(from, begin, from + way * (to - from), begin + way * fall);
  return arrow;
}

LadderSpan visible_rows(std::size_t rows, std::size_t first, double row_height, double height) noexcept {
  if (row_height <= 0 || height <= 0) return {};
  const auto fit = static_cast<std::size_t>(std::ceil(height / row_height));
  const std::size_t from = std::min(first, rows);
  return {from, from + std::min(fit, rows - from)};
}

}  // namespace roce::gui
