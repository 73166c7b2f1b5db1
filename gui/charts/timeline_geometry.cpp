// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/timeline_geometry.hpp"

#include <algorithm>
#include <cmath>

namespace roce::gui {
namespace {

constexpr double second_ns = 1e9;

double length_of(const analyze::Series& series) {
  return static_cast<double>(series.width_ns()) * static_cast<double>(series.buckets().size()) / second_ns;
}

}  // namespace

TimelineLines timeline_lines(const analyze::Series& series, std::int64_t origin_ns) {
  TimelineLines lines;
  const auto& buckets = series.buckets();
  lines.bucket_seconds = static_cast<double>(series.width_ns()) / second_ns;
  if (buckets.empty()) return lines;
  const double start = seconds_of(origin_ns, series.start_ns());
  const auto add = [&lines](double time, const analyze::Series::Bucket& bucket) {
    const auto rate = [&lines](std::uint64_t bytes) {
      return static_cast<double>(bytes) * 8 / lines.bucket_seconds;
    };
    lines.times << time;
    lines.throughput << rate(bucket.bytes);
    lines.goodput << rate(bucket.goodput_bytes);
    lines.retransmitted << static_cast<double>(bucket.retransmitted);
    lines.lost << static_cast<double>(bucket.lost);
    lines.ce << static_cast<double>(bucket.ce);
    lines.cnps << static_cast<double>(bucket.cnps);
  };
  for (std::size_t i = 0; i < buckets.size(); ++i)
    add(start + static_cast<double>(i) * lines.bucket_seconds, buckets[i]);
  add(start + length_of(series), buckets.back());
  return lines;
}

int step_at(const TimelineLines& lines, double seconds) noexcept {
  if (lines.times.size() < 2 || !(seconds >= lines.times.front()) || !(seconds < lines.times.back()))
    return -1;
  return static_cast<int>(std::upper_bound(lines.times.begin(), lines.times.end(), seconds) -
                          lines.times.begin()) -
         1;
}

RateUnit rate_unit(double most) noexcept {
  constexpr RateUnit units[] = {{1e9, "Gb/s"}, {1e6, "Mb/s"}, {1e3, "kb/s"}};
  const auto* found =
      std::find_if(std::begin(units), std::end(units), [most](RateUnit u) { return most >= u.bits; });
  return found != std::end(units) ? *found : RateUnit{};
}

std::optional<TimeSpan> span_between(const analyze::Series& series, std::int64_t origin_ns, double one,
                                     double other) noexcept {
  if (!std::isfinite(one) || !std::isfinite(other)) return std::nullopt;
  const double length = length_of(series);
  const double start = seconds_of(origin_ns, series.start_ns());
  const double from = std::clamp(std::min(one, other) - start, 0.0, length);
  const double to = std::clamp(std::max(one, other) - start, 0.0, length);
  const TimeSpan span{series.start_ns() + std::llround(from * second_ns),
                      series.start_ns() + std::llround(to * second_ns)};
  return span.from < span.to ? std::optional(span) : std::nullopt;
}

double seconds_of(std::int64_t origin_ns, std::int64_t time_ns) noexcept {
  // As integers first: a double does not hold nanoseconds since the epoch.
  return static_cast<double>(static_cast<std::int64_t>(static_cast<std::uint64_t>(time_ns) -
                                                       static_cast<std::uint64_t>(origin_ns))) /
         second_ns;
}

}  // namespace roce::gui
