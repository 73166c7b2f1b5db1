// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/latency_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numeric>

#include "gui/charts/timeline_geometry.hpp"

namespace roce::gui {
namespace {

using analyze::OperationKind;
using analyze::TracedOperation;

/// A logarithmic axis has no 0: latencies below the clock's resolution are drawn at a nanosecond.
constexpr double shortest = 1e-9;

/// Pixels from the left and from the top.
struct Pixel {
  double x = 0, y = 0;
};
Pixel pixel_of(const LatencyView& view, double seconds, double latency) {
  const double share = std::log(latency / view.least) / std::log(view.most / view.least);
  return {(seconds - view.from) / (view.to - view.from) * view.width, (1 - share) * view.height};
}

bool is_drawable(const LatencyView& view) {
  return view.to > view.from && view.least > 0 && view.most > view.least && view.width > 0 && view.height > 0;
}

std::pair<std::size_t, std::size_t> latency_between(const LatencySeries& s, double from, double to) {
  const auto begin = std::lower_bound(s.seconds.begin(), s.seconds.end(), from);
  const auto end = std::upper_bound(begin, s.seconds.end(), to);
  return {static_cast<std::size_t>(begin - s.seconds.begin()),
          static_cast<std::size_t>(end - s.seconds.begin())};
}

}  // namespace

std::vector<LatencySeries> latency_series(const analyze::ConnectionTrace& trace, unsigned side,
                                          std::int64_t origin_ns) {
  std::vector<LatencySeries> all;
  std::vector<std::uint32_t> order(trace.operations.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    const TracedOperation &one = trace.operations[a], &other = trace.operations[b];
    return one.start_ns != other.start_ns ? one.start_ns < other.start_ns : one.request < other.request;
  });
  for (std::size_t k = 0; k < analyze::operation_kind_count; ++k) {
    LatencySeries series;
    series.kind = static_cast<OperationKind>(k);
    for (const std::uint32_t i : order) {
      const TracedOperation& operation = trace.operations[i];
      if (operation.kind != series.kind || operation.side != side) continue;
      series.seconds.push_back(seconds_of(origin_ns, operation.start_ns));
      series.latency.push_back(std::max(shortest, static_cast<double>(operation.latency_ns) * 1e-9));
      series.operation.push_back(i);
    }
    if (!series.seconds.empty()) all.push_back(std::move(series));
  }
  return all;
}

std::vector<LatencyCell> latency_cells(const LatencySeries& series, const LatencyView& view) {
  std::vector<LatencyCell> cells;
  if (!is_drawable(view)) return cells;
  const auto columns = static_cast<std::size_t>(view.width / latency_cell + 1);
  const auto rows = static_cast<std::size_t>(view.height / latency_cell + 1);
  constexpr std::uint32_t nothing = 0xffffffff;
  std::vector<std::uint32_t> taken(columns * rows, nothing);
  const auto [begin, end] = latency_between(series, view.from, view.to);
  for (std::size_t i = begin; i < end; ++i) {
    const Pixel at = pixel_of(view, series.seconds[i], series.latency[i]);
    if (!(at.y >= 0 && at.y <= view.height)) continue;
    const std::size_t column = std::min(columns - 1, static_cast<std::size_t>(at.x) / latency_cell);
    const std::size_t row = std::min(rows - 1, static_cast<std::size_t>(at.y) / latency_cell);
    std::uint32_t& cell = taken[row * columns + column];
    if (cell == nothing) {
      cell = static_cast<std::uint32_t>(cells.size());
      cells.push_back({series.seconds[i], series.latency[i], series.operation[i], 0});
    }
    ++cells[cell].operations;
  }
  return cells;
}

std::optional<std::uint32_t> operation_near(const LatencySeries& series, const LatencyView& view,
                                            double seconds, double latency, double pixels) {
  if (!is_drawable(view) || latency <= 0) return std::nullopt;
  const Pixel wanted = pixel_of(view, seconds, latency);
  const double reach = pixels * (view.to - view.from) / view.width;
  const auto [begin, end] = latency_between(series, seconds - reach, seconds + reach);
  std::optional<std::uint32_t> best;
  double nearest = pixels;
  for (std::size_t i = begin; i < end; ++i) {
    const Pixel at = pixel_of(view, series.seconds[i], series.latency[i]);
    const double distance = std::hypot(at.x - wanted.x, at.y - wanted.y);
    if (distance >= nearest) continue;
    nearest = distance;
    best = series.operation[i];
  }
  return best;
}

std::vector<LatencyShare> latency_shares(const LatencySeries& series, std::size_t most) {
  std::vector<double> sorted = series.latency;
  std::sort(sorted.begin(), sorted.end());
  const std::size_t count = sorted.size(), steps = std::min(count, most);
  std::vector<LatencyShare> shares;
  shares.reserve(steps);
  for (std::size_t step = 1; step <= steps; ++step) {
    const std::size_t rank = count * step / steps;  // of the last operation that the step includes, from 1
    shares.push_back({sorted[rank - 1], static_cast<double>(rank) / static_cast<double>(count)});
  }
  return shares;
}

double share_within(const std::vector<LatencyShare>& shares, double latency) noexcept {
  const auto beyond = std::upper_bound(shares.begin(), shares.end(), latency,
                                       [](double l, const LatencyShare& s) { return l < s.latency; });
  return beyond == shares.begin() ? 0 : std::prev(beyond)->share;
}

std::vector<LatencyBin> latency_bins(const LatencySeries& series) {
  std::vector<LatencyBin> bins;
  if (series.latency.empty()) return bins;
  constexpr double a_decade = 10;
  const auto bin_of = [](double latency) {
    return static_cast<std::ptrdiff_t>(std::floor(std::log10(latency) * a_decade));
  };
  const auto [least, most] = std::minmax_element(series.latency.begin(), series.latency.end());
  const std::ptrdiff_t first = bin_of(*least);
  bins.resize(static_cast<std::size_t>(bin_of(*most) - first) + 1);
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double at = static_cast<double>(first + static_cast<std::ptrdiff_t>(i));
    bins[i].from = std::pow(10.0, at / a_decade);
    bins[i].to = std::pow(10.0, (at + 1) / a_decade);
  }
  for (const double latency : series.latency)
    ++bins[static_cast<std::size_t>(bin_of(latency) - first)].operations;
  return bins;
}

}  // namespace roce::gui
