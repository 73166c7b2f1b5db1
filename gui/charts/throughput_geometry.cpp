// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/throughput_geometry.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "gui/charts/timeline_geometry.hpp"

namespace roce::gui {
namespace {

using analyze::ConnectionTrace;
using analyze::Series;
using analyze::TracePoint;
using analyze::Verdict;

ThroughputLines of_series(const Series& series, std::int64_t origin_ns) {
  ThroughputLines lines;
  TimelineLines counted = timeline_lines(series, origin_ns);
  lines.seconds = std::move(counted.times);
  lines.throughput = std::move(counted.throughput);
  lines.goodput = std::move(counted.goodput);
  lines.step_seconds = counted.bucket_seconds;
  for (const Series::Bucket& bucket : series.buckets()) lines.in_flight << bucket.in_flight_max;
  if (!lines.in_flight.isEmpty()) lines.in_flight << lines.in_flight.back();
  return lines;
}

/// The step length: 1, 2 or 5 times a power of ten, so that at least `steps` fit into `span`.
double round_step(double span, int steps) {
  const double exact = span / steps;
  const double power = std::pow(10.0, std::floor(std::log10(exact)));
  for (const double factor : {5.0, 2.0}) {
    if (factor * power <= exact) return factor * power;
  }
  return power;
}

}  // namespace

ThroughputLines throughput_lines(const ConnectionTrace& trace, unsigned side, std::int64_t origin_ns,
                                 double from, double to, int steps) {
  if (!trace.timed || trace.points.empty() || !(to > from) || steps < 1) return {};
  if (!trace.complete()) {
    const Series& sent = trace.sent[side];
    const double first = seconds_of(origin_ns, sent.start_ns());
    const double whole =
        static_cast<double>(sent.buckets().size()) * static_cast<double>(sent.width_ns()) / 1e9;
    const double shown = std::min(to, first + whole) - std::max(from, first);
    const double step_ns = std::clamp(shown / steps * 1e9, 1.0, 1e18);
    return of_series(sent.of_width(static_cast<std::int64_t>(step_ns)), origin_ns);
  }
  // Only where there are packets, and no step shorter than a nanosecond.
  from = std::max(from, seconds_of(origin_ns, trace.points.front().time_ns));
  to = std::max(from, std::min(to, seconds_of(origin_ns, trace.points.back().time_ns)));
  ThroughputLines lines;
  lines.step_seconds = round_step(std::max(to - from, 1e-6), steps);
  const double first = std::floor(from / lines.step_seconds);
  const auto count = static_cast<std::size_t>(std::floor(to / lines.step_seconds) - first) + 1;
  std::vector<Series::Bucket> buckets(count);
  const auto begin =
      std::lower_bound(trace.points.begin(), trace.points.end(), first * lines.step_seconds,
                       [&](const TracePoint& p, double s) { return seconds_of(origin_ns, p.time_ns) < s; });
  // What was outstanding when the visible part began.
  analyze::PsnsInFlight in_flight;
  const auto told = std::find_if(
      std::make_reverse_iterator(begin), trace.points.rend(),
      [side](const TracePoint& p) { return p.verdict.has(Verdict::in_flight_known) && p.space() == side; });
  if (told != trace.points.rend()) {
    for (auto p = told.base() - 1; p != begin; ++p) {
      if (p->space() == side) in_flight.see(*p);
    }
  }
  std::size_t held = 0;
  const auto hold_to = [&](std::size_t end) {
    for (; held < end; ++held)
      buckets[held].in_flight_max = std::max(buckets[held].in_flight_max, in_flight.psns());
  };
  for (auto p = begin; p != trace.points.end(); ++p) {
    const double step = std::floor(seconds_of(origin_ns, p->time_ns) / lines.step_seconds) - first;
    if (step < 0) continue;
    if (step >= static_cast<double>(count)) break;
    if (p->is_copy()) continue;
    Series::Bucket& bucket = buckets[static_cast<std::size_t>(step)];
    const Verdict& v = p->verdict;
    hold_to(static_cast<std::size_t>(step) + 1);
    if (p->space() == side) {
      in_flight.see(*p);
      bucket.in_flight_max = std::max(bucket.in_flight_max, in_flight.psns());
    }
    if (p->side() != side) continue;
    bucket.bytes += p->wire;
    const bool again = v.has(Verdict::retransmission) || v.has(Verdict::duplicate_network);
    if (!again && !p->has(TracePoint::damaged)) bucket.goodput_bytes += p->bytes;
  }
  hold_to(count);
  const auto rate = [&](std::uint64_t bytes) { return static_cast<double>(bytes) * 8 / lines.step_seconds; };
  for (std::size_t i = 0; i <= count; ++i) {
    const Series::Bucket& bucket = buckets[std::min(i, count - 1)];
    lines.seconds << (first + static_cast<double>(i)) * lines.step_seconds;
    lines.throughput << rate(bucket.bytes);
    lines.goodput << rate(bucket.goodput_bytes);
    lines.in_flight << bucket.in_flight_max;
  }
  return lines;
}

}  // namespace roce::gui
