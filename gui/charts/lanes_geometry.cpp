// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/lanes_geometry.hpp"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <iterator>

#include "gui/charts/timeline_geometry.hpp"

namespace roce::gui {
namespace {

using analyze::Series;
using Bucket = Series::Bucket;

template <auto member>
double count_of(const Bucket& bucket, double) {
  return static_cast<double>(bucket.*member);
}
template <auto member>
double rate_of(const Bucket& bucket, double seconds) {
  return static_cast<double>(bucket.*member) * 8 / seconds;
}

constexpr LaneCurve rate_curves[] = {
    {QT_TRANSLATE_NOOP("Lanes", "on the wire"), rate_of<&Bucket::bytes>, &Colours::throughput, true},
    {QT_TRANSLATE_NOOP("Lanes", "goodput"), rate_of<&Bucket::goodput_bytes>, &Colours::goodput, false}};
constexpr LaneCurve loss_curves[] = {
    {QT_TRANSLATE_NOOP("Lanes", "repeated"), count_of<&Bucket::retransmitted>, &Colours::retransmitted, true},
    {QT_TRANSLATE_NOOP("Lanes", "lost"), count_of<&Bucket::lost>, &Colours::lost, true}};
constexpr LaneCurve mark_curves[] = {
    {QT_TRANSLATE_NOOP("Lanes", "CE"), count_of<&Bucket::ce>, &Colours::ce, true},
    {QT_TRANSLATE_NOOP("Lanes", "CNP"), count_of<&Bucket::cnps>, &Colours::cnp, false}};
constexpr LaneCurve nak_curves[] = {
    {QT_TRANSLATE_NOOP("Lanes", "RNR NAK"), count_of<&Bucket::rnr_naks>, &Colours::warning, true},
    {QT_TRANSLATE_NOOP("Lanes", "NAK"), count_of<&Bucket::naks>, &Colours::error, true}};

constexpr LaneOfSeries all_lanes[] = {
    {QT_TRANSLATE_NOOP("Lanes", "Rate"), rate_curves, 2.4, true},
    {QT_TRANSLATE_NOOP("Lanes", "Repeats and losses"), loss_curves, 1.5, false},
    {QT_TRANSLATE_NOOP("Lanes", "Marks"), mark_curves, 1.5, false},
    {QT_TRANSLATE_NOOP("Lanes", "NAKs"), nak_curves, 1.5, false}};

double seconds_in(const Series& series) {
  return static_cast<double>(series.width_ns()) / 1e9;
}

}  // namespace

std::span<const LaneOfSeries> series_lanes() noexcept {
  return all_lanes;
}

bool is_needed(const LaneOfSeries& lane, const Series& series) {
  if (lane.rates) return true;
  return std::any_of(series.buckets().begin(), series.buckets().end(), [&](const Bucket& bucket) {
    return std::any_of(lane.curves.begin(), lane.curves.end(),
                       [&](const LaneCurve& curve) { return curve.value(bucket, 1) > 0; });
  });
}

double TimeScale::x_of(std::int64_t time_ns) const noexcept {
  // Differences as integers: a double does not hold nanoseconds since the epoch.
  return left_ + static_cast<double>(time_ns - view_.from) / ns_per_pixel();
}

std::int64_t TimeScale::time_at(double x) const noexcept {
  const double length = static_cast<double>(view_.to - view_.from);
  const double since = std::clamp((x - left_) * ns_per_pixel(), 0.0, std::max(0.0, length));
  return view_.from + std::llround(since);
}

double TimeScale::ns_per_pixel() const noexcept {
  return std::max(1.0, static_cast<double>(view_.to - view_.from)) / std::max(1.0, width_);
}

std::optional<std::size_t> bucket_at(const Series& series, std::int64_t time_ns) noexcept {
  if (time_ns < series.start_ns()) return std::nullopt;
  const auto place = static_cast<std::size_t>((time_ns - series.start_ns()) / series.width_ns());
  return place < series.buckets().size() ? std::optional(place) : std::nullopt;
}

std::vector<double> column_values(const Series& series, const LaneCurve& curve, const TimeScale& scale,
                                  int left, int width) {
  std::vector<double> values(static_cast<std::size_t>(std::max(0, width)));
  const auto& buckets = series.buckets();
  const double seconds = seconds_in(series);
  const auto last = static_cast<std::int64_t>(buckets.size()) - 1;
  for (int i = 0; i < width; ++i) {
    const std::int64_t from = scale.time_at(left + i);
    const std::int64_t to = std::max(from, scale.time_at(left + i + 1) - 1);
    if (to < series.start_ns()) continue;
    const std::int64_t first = std::max<std::int64_t>(0, (from - series.start_ns()) / series.width_ns());
    const std::int64_t end = std::min(last, (to - series.start_ns()) / series.width_ns());
    double& value = values[static_cast<std::size_t>(i)];
    for (std::int64_t b = first; b <= end; ++b)
      value = std::max(value, curve.value(buckets[static_cast<std::size_t>(b)], seconds));
  }
  return values;
}

TimeTicks time_ticks(const TimeSpan& view, std::int64_t origin_ns, int wanted) {
  TimeTicks all;
  const double length = static_cast<double>(std::max<std::int64_t>(1, view.to - view.from));
  const double rough = std::max(1.0, length / std::max(1, wanted));
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double round = rough / power <= 1 ? 1 : rough / power <= 2 ? 2 : rough / power <= 5 ? 5 : 10;
  const auto step = std::max<std::int64_t>(1, std::llround(round * power));
  struct Unit {
    std::int64_t ns;
    const char* name;
  };
  constexpr Unit units[] = {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "µs"}, {1, "ns"}};
  const std::int64_t since = view.from - origin_ns;
  // Where steps are small against the time since the beginning, ticks count from a round time before the
  // view.
  constexpr std::int64_t many = 10'000;
  std::int64_t base = 0;
  if (since / step > many) {
    std::int64_t coarse = step;
    while (static_cast<double>(coarse) < length) coarse *= 10;
    base = since / coarse * coarse;
  }
  all.base_ns = origin_ns + base;
  const std::int64_t most = std::max(std::abs(view.to - all.base_ns), step);
  const Unit* unit = std::find_if(std::begin(units), std::end(units) - 1,
                                  [&](const Unit& u) { return most >= u.ns && step * 1000 >= u.ns; });
  int digits = 0;
  for (std::int64_t s = unit->ns; s > step && digits < 9; s /= 10) ++digits;
  std::int64_t first = (since - base) / step * step;
  if (first < since - base) first += step;
  for (std::int64_t t = first; all.base_ns + t <= view.to; t += step) {
    const double value = static_cast<double>(t) / static_cast<double>(unit->ns);
    all.ticks.push_back({all.base_ns + t, QStringLiteral("%1%2 %3")
                                              .arg(base != 0 ? QStringLiteral("+") : QString())
                                              .arg(value, 0, 'f', digits)
                                              .arg(QString::fromUtf8(unit->name))});
  }
  return all;
}

TimeSpan zoomed(const TimeSpan& view, double factor, std::int64_t around_ns, const TimeSpan& whole,
                std::int64_t shortest_ns) noexcept {
  const double all = static_cast<double>(whole.to - whole.from);
  const double length = static_cast<double>(view.to - view.from);
  const double least = std::min(all, static_cast<double>(shortest_ns));
  const double wanted = std::clamp(length * factor, least, all);
  const double part = length > 0 ? static_cast<double>(around_ns - view.from) / length : 0.5;
  const std::int64_t from = around_ns - std::llround(wanted * part);
  return moved({from, from + std::llround(wanted)}, 0, whole);
}

TimeSpan moved(const TimeSpan& view, double part, const TimeSpan& whole) noexcept {
  const std::int64_t length = std::min(view.to - view.from, whole.to - whole.from);
  const std::int64_t by = std::llround(static_cast<double>(length) * part);
  const std::int64_t from = std::clamp(view.from + by, whole.from, whole.to - length);
  return {from, from + length};
}

}  // namespace roce::gui
