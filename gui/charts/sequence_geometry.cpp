// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/sequence_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gui/charts/timeline_geometry.hpp"

namespace roce::gui {
namespace {

using analyze::ConnectionTrace;
using analyze::TracePoint;
using Form = TraceMarkLook::Form;

/// PSNs that a mark of that packet covers: [from, to).
std::pair<std::int64_t, std::int64_t> extent(const TracePoint& p, TraceMark mark) noexcept {
  if (mark == TraceMark::acknowledge) return {p.acknowledged(), p.acknowledged()};
  if (mark == TraceMark::nak || mark == TraceMark::rnr_nak) return {p.psn, p.psn};
  if (mark == TraceMark::lost_before && p.verdict.gap != 0)
    return {p.psn - std::int64_t{p.verdict.gap}, p.psn};
  return {p.psn, p.psn + std::max<std::int64_t>(1, p.psns)};
}

/// Indices of a series with times in [from, to].
std::pair<std::size_t, std::size_t> between(const SequenceSeries& s, double from, double to) {
  const auto begin = std::lower_bound(s.seconds.begin(), s.seconds.end(), from);
  const auto end = std::upper_bound(begin, s.seconds.end(), to);
  return {static_cast<std::size_t>(begin - s.seconds.begin()),
          static_cast<std::size_t>(end - s.seconds.begin())};
}

SequencePiece piece_of(const SequenceSeries& s, std::size_t i) {
  return {s.seconds[i], s.seconds[i], s.low[i], s.high[i], s.point[i], 1};
}

void extend(SequencePiece& piece, const SequenceSeries& s, std::size_t i) {
  piece.last_seconds = s.seconds[i];
  piece.low = std::min(piece.low, s.low[i]);
  piece.high = std::max(piece.high, s.high[i]);
  ++piece.packets;
}

int column_of(double seconds, double from, double to, int columns) {
  return static_cast<int>((seconds - from) / (to - from) * columns);
}

}  // namespace

bool SequenceLines::empty() const noexcept {
  return std::all_of(series.begin(), series.end(), [](const SequenceSeries& s) { return s.seconds.empty(); });
}

double axis_seconds(const ConnectionTrace& trace, const TracePoint& point, std::int64_t origin_ns) noexcept {
  return trace.timed ? seconds_of(origin_ns, point.time_ns) : static_cast<double>(point.packet);
}

SequenceLines sequence_lines(const ConnectionTrace& trace, unsigned side, std::int64_t origin_ns) {
  SequenceLines lines;
  lines.lowest = std::numeric_limits<std::int64_t>::max();
  lines.highest = std::numeric_limits<std::int64_t>::min();
  std::int64_t acknowledged = std::numeric_limits<std::int64_t>::min();
  bool any = false;
  for (std::size_t i = 0; i < trace.points.size(); ++i) {
    const TracePoint& p = trace.points[i];
    const bool cnp = p.kind == TracePoint::Kind::cnp;
    if (p.is_copy() || (!cnp && (p.has(TracePoint::no_psn) || p.space() != side))) continue;
    const double seconds = axis_seconds(trace, p, origin_ns);
    lines.first = any ? std::min(lines.first, seconds) : seconds;
    lines.last = any ? std::max(lines.last, seconds) : seconds;
    any = true;
    // Most packets have no other mark.
    constexpr auto plain_marks = static_cast<std::size_t>(TraceMark::response) + 1;
    const std::size_t marks = p.remarkable() ? trace_mark_count : plain_marks;
    for (std::size_t m = 0; m < marks; ++m) {
      const auto mark = static_cast<TraceMark>(m);
      if (!has_mark(p, mark)) continue;
      auto [low, high] = extent(p, mark);
      if (mark == TraceMark::acknowledge) {
        // The step line only rises.
        if (low <= acknowledged) continue;
        acknowledged = low;
      }
      SequenceSeries& s = lines.series[m];
      s.seconds.push_back(seconds);
      s.low.push_back(low);
      s.high.push_back(high);
      s.point.push_back(static_cast<std::uint32_t>(i));
      // The PSN of a damaged packet may be wrong.
      if (cnp || p.has(TracePoint::damaged)) continue;
      lines.lowest = std::min(lines.lowest, low);
      lines.highest = std::max(lines.highest, high);
    }
  }
  if (lines.lowest > lines.highest) lines.lowest = lines.highest = 0;
  return lines;
}

std::optional<std::pair<std::int64_t, std::int64_t>> psns_between(const SequenceLines& lines, double from,
                                                                  double to) {
  std::optional<std::pair<std::int64_t, std::int64_t>> found;
  for (std::size_t m = 0; m < trace_mark_count; ++m) {
    const auto mark = static_cast<TraceMark>(m);
    const Form form = trace_mark_look(mark).form;
    if (form == Form::foot || form == Form::head || mark == TraceMark::damaged) continue;
    const SequenceSeries& s = lines.series[m];
    const auto [begin, end] = between(s, from, to);
    for (std::size_t i = begin; i < end; ++i) {
      if (!found) found = {s.low[i], s.high[i]};
      found = {std::min(found->first, s.low[i]), std::max(found->second, s.high[i])};
    }
  }
  return found;
}

std::vector<SequencePiece> sequence_pieces(const SequenceSeries& s, double from, double to, int columns,
                                           double psn_gap) {
  std::vector<SequencePiece> pieces;
  if (!(to > from) || columns < 1) return pieces;
  const auto [begin, end] = between(s, from, to);
  int column = -1;
  std::size_t first_of_column = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const int here = column_of(s.seconds[i], from, to, columns);
    if (here != column) {
      column = here;
      first_of_column = pieces.size();
      pieces.push_back(piece_of(s, i));
      continue;
    }
    SequencePiece* near = nullptr;
    for (std::size_t k = pieces.size(); k-- > first_of_column && near == nullptr;) {
      const double above = static_cast<double>(s.low[i] - pieces[k].high);
      const double below = static_cast<double>(pieces[k].low - s.high[i]);
      if (above <= psn_gap && below <= psn_gap) near = &pieces[k];
    }
    const bool full = pieces.size() - first_of_column >= static_cast<std::size_t>(pieces_per_column);
    if (near != nullptr || full) {
      extend(near != nullptr ? *near : pieces.back(), s, i);
    } else {
      pieces.push_back(piece_of(s, i));
    }
  }
  return pieces;
}

std::vector<SequencePiece> step_pieces(const SequenceSeries& s, double from, double to, int columns) {
  std::vector<SequencePiece> pieces;
  if (!(to > from) || columns < 1) return pieces;
  auto [begin, end] = between(s, from, to);
  if (begin > 0) pieces.push_back(piece_of(s, begin - 1));
  int column = -1;
  for (std::size_t i = begin; i < end; ++i) {
    const int here = column_of(s.seconds[i], from, to, columns);
    if (here != column) {
      pieces.push_back(piece_of(s, i));
      column = here;
    } else {
      extend(pieces.back(), s, i);
    }
  }
  return pieces;
}

std::optional<std::uint32_t> point_near(const SequenceLines& lines, const SequencePlace& place, Form edge) {
  std::optional<std::uint32_t> best;
  double nearest = place.pixels;
  for (std::size_t m = trace_mark_count; m-- > 0;) {
    const Form form = trace_mark_look(static_cast<TraceMark>(m)).form;
    const bool at_edge = form == Form::foot || form == Form::head;
    if (at_edge ? form != edge : form == Form::steps && edge != Form::bar) continue;
    const SequenceSeries& s = lines.series[m];
    const double reach = place.pixels * place.seconds_per_pixel;
    const auto [begin, end] = between(s, place.seconds - reach, place.seconds + reach);
    for (std::size_t i = begin; i < end; ++i) {
      const double across = (s.seconds[i] - place.seconds) / place.seconds_per_pixel;
      const double over = std::max(
          {0.0, static_cast<double>(s.low[i]) - place.psn, place.psn - static_cast<double>(s.high[i])});
      const double distance = at_edge ? std::abs(across) : std::hypot(across, over / place.psn_per_pixel);
      if (distance >= nearest) continue;
      nearest = distance;
      best = s.point[i];
    }
  }
  return best;
}

SequenceDistance sequence_distance(double from_seconds, double from_psn, double to_seconds,
                                   double to_psn) noexcept {
  SequenceDistance d{to_seconds - from_seconds, to_psn - from_psn, 0};
  if (d.seconds != 0) d.psns_per_second = d.psns / d.seconds;
  return d;
}

}  // namespace roce::gui
