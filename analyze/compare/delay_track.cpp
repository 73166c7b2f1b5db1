// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/delay_track.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace roce::analyze {
namespace {

double drift_of(double drift, std::int64_t time_ns, std::int64_t since_ns) noexcept {
  return drift * static_cast<double>(time_ns - since_ns);
}

std::int64_t middle_of(std::int64_t x, std::int64_t y) noexcept {
  return x + (y - x) / 2;
}

}  // namespace

void DelaySamples::add(std::int64_t time_ns, std::int64_t difference_ns) {
  if (count_ % step_ == 0) {
    if (samples_.size() >= most_) {
      for (std::size_t i = 0; i < samples_.size() / 2; ++i) samples_[i] = samples_[2 * i];
      samples_.resize(samples_.size() / 2);
      step_ *= 2;
    }
    if (count_ % step_ == 0) samples_.push_back({time_ns, difference_ns});
  }
  ++count_;
}

DelayStats DelaySamples::stats(int sign, std::int64_t offset_ns, double drift, std::int64_t since_ns) const {
  DelayStats stats;
  stats.count = count_;
  if (count_ == 0) return stats;
  std::vector<std::int64_t> values;
  values.reserve(samples_.size());
  for (const DelayPoint& p : samples_) {
    values.push_back(sign *
                     (p.difference_ns - offset_ns - std::llround(drift_of(drift, p.time_ns, since_ns))));
  }
  const auto percentile = [&values](std::size_t percent) {
    const std::size_t rank = (values.size() * percent + 99) / 100;
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
    std::nth_element(values.begin(), at, values.end());
    return *at;
  };
  stats.p50 = percentile(50);
  stats.p90 = percentile(90);
  stats.p99 = percentile(99);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  stats.min = *low;
  stats.max = *high;
  return stats;
}

void DelayTrack::extend(std::vector<Point>& hull, Point point, int sign) {
  // Points whose time goes backwards are left out of the hull.
  if (!hull.empty() && point.time_ns <= hull.back().time_ns) {
    if (point.time_ns < hull.back().time_ns) return;
    if (sign * (point.difference_ns - hull.back().difference_ns) >= 0) return;
    hull.pop_back();
  }
  while (hull.size() >= 2) {
    const Point& p = hull[hull.size() - 2];
    const Point& q = hull.back();
    const double before = static_cast<double>(q.difference_ns - p.difference_ns) *
                          static_cast<double>(point.time_ns - q.time_ns);
    const double behind = static_cast<double>(point.difference_ns - q.difference_ns) *
                          static_cast<double>(q.time_ns - p.time_ns);
    if (sign * (behind - before) > 0) break;
    hull.pop_back();
  }
  // A hull with so many corners is nearly a curve: every second corner is enough.
  if (hull.size() >= most_corners) {
    std::size_t kept = 1;
    for (std::size_t i = 2; i < hull.size(); i += 2) hull[kept++] = hull[i];
    hull.resize(kept);
  }
  hull.push_back(point);
}

void DelayTrack::add(std::int64_t time_ns, std::int64_t difference_ns) {
  const Point point{time_ns, difference_ns};
  if (count() == 0) {
    first_ns_ = last_ns_ = time_ns;
    least_ = largest_ = difference_ns;
  }
  least_ = std::min(least_, difference_ns);
  largest_ = std::max(largest_, difference_ns);
  last_ns_ = std::max(last_ns_, time_ns);
  samples_.add(time_ns, difference_ns);
  extend(lower_, point, 1);
  extend(upper_, point, -1);
}

std::int64_t DelayTrack::least(double drift, std::int64_t since_ns) const noexcept {
  if (drift == 0) return least_;
  double best = INFINITY;
  for (const Point& p : lower_)
    best = std::min(best, static_cast<double>(p.difference_ns) - drift_of(drift, p.time_ns, since_ns));
  return lower_.empty() ? 0 : std::llround(best);
}

std::int64_t DelayTrack::largest(double drift, std::int64_t since_ns) const noexcept {
  if (drift == 0) return largest_;
  double best = -INFINITY;
  for (const Point& p : upper_)
    best = std::max(best, static_cast<double>(p.difference_ns) - drift_of(drift, p.time_ns, since_ns));
  return upper_.empty() ? 0 : std::llround(best);
}

std::optional<double> DelayTrack::slope(bool from_below) const noexcept {
  const std::vector<Point>& hull = from_below ? lower_ : upper_;
  if (hull.size() < 2) return std::nullopt;
  const std::int64_t middle = middle_of(first_ns_, last_ns_);
  std::size_t i = 1;
  while (i + 1 < hull.size() && hull[i].time_ns < middle) ++i;
  const Point& p = hull[i - 1];
  const Point& q = hull[i];
  return static_cast<double>(q.difference_ns - p.difference_ns) / static_cast<double>(q.time_ns - p.time_ns);
}

double DelayTrack::seconds() const noexcept {
  return static_cast<double>(last_ns_ - first_ns_) * 1e-9;
}

DelayStats DelayTrack::delays(int sign, std::int64_t offset_ns, double drift, std::int64_t since_ns) const {
  DelayStats stats = samples_.stats(sign, offset_ns, drift, since_ns);
  if (stats.count == 0) return stats;
  const std::int64_t least_delay = least(drift, since_ns) - offset_ns;
  const std::int64_t largest_delay = largest(drift, since_ns) - offset_ns;
  stats.min = std::min(stats.min, sign > 0 ? least_delay : -largest_delay);
  stats.max = std::max(stats.max, sign > 0 ? largest_delay : -least_delay);
  return stats;
}

namespace {

/// The clock drift if both directions agree on it: queues cause slopes too, but not the same in both
/// directions. Absent if it is too small to be visible.
std::optional<double> visible_drift(const DelayTrack& a_to_b, const DelayTrack& b_to_a) {
  constexpr double shortest_seconds = 0.1;
  constexpr double largest_drift = 0.01;  // 1 %: more than any clock
  constexpr double least_change_ns = 2000;
  if (a_to_b.seconds() < shortest_seconds || b_to_a.seconds() < shortest_seconds) return std::nullopt;
  const std::optional<double> there = a_to_b.slope(true), back = b_to_a.slope(false);
  if (!there || !back) return std::nullopt;
  const double drift = (*there + *back) / 2;
  const double seconds = std::min(a_to_b.seconds(), b_to_a.seconds());
  if (std::abs(drift) > largest_drift || std::abs(drift) * seconds * 1e9 < least_change_ns)
    return std::nullopt;
  if (std::abs(*there - *back) > std::abs(drift) / 4) return std::nullopt;
  return drift;
}

}  // namespace

ClockEstimate estimate_clocks(const DelayTrack& a_to_b, const DelayTrack& b_to_a) {
  ClockEstimate clocks;
  if (a_to_b.count() != 0) clocks.since_ns = a_to_b.first_time_ns();
  if (b_to_a.count() != 0)
    clocks.since_ns =
        a_to_b.count() != 0 ? std::min(clocks.since_ns, b_to_a.first_time_ns()) : b_to_a.first_time_ns();
  if (a_to_b.count() == 0 || b_to_a.count() == 0) return clocks;
  if (const std::optional<double> drift = visible_drift(a_to_b, b_to_a)) {
    clocks.drift = *drift;
    clocks.drift_ppm = *drift * 1e6;
  }
  const std::int64_t there = a_to_b.least(clocks.drift, clocks.since_ns);
  const std::int64_t back = b_to_a.largest(clocks.drift, clocks.since_ns);
  clocks.offset_ns = middle_of(back, there);
  clocks.error_ns = (std::abs(there - back) + 1) / 2;
  return clocks;
}

void ClockShift::add(unsigned direction, std::int64_t difference_ns) noexcept {
  if (direction == 0) {
    if (!current_.least || difference_ns < *current_.least) current_.least = difference_ns;
  } else if (!current_.largest || difference_ns > *current_.largest) {
    current_.largest = difference_ns;
  }
  constexpr unsigned beginning = 64;
  if (++counted_ % epoch != 0 && (sure_ || counted_ > beginning)) return;
  Bounds both = current_;
  if (previous_.least && (!both.least || *previous_.least < *both.least)) both.least = previous_.least;
  if (previous_.largest && (!both.largest || *previous_.largest > *both.largest))
    both.largest = previous_.largest;
  if (both.least && both.largest) {
    shift_ = middle_of(*both.largest, *both.least);
  } else {
    shift_ = both.least ? *both.least : *both.largest;
  }
  if (counted_ % epoch == 0) {
    previous_ = current_;
    current_ = {};
  }
}

}  // namespace roce::analyze
