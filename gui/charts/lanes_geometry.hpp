// SPDX-License-Identifier: Apache-2.0
// Lanes of the timeline, as plain functions and tables.
#pragma once

#include <QColor>
#include <QString>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyze/base/series.hpp"
#include "analyze/results/snapshot.hpp"
#include "gui/charts/theme.hpp"
#include "gui/models/time_span.hpp"

namespace roce::gui {

/// One curve of a lane.
struct LaneCurve {
  const char* name;  ///< to be translated, context "Lanes"
  double (*value)(const analyze::Series::Bucket& bucket, double seconds);
  QColor Colours::*colour;
  bool filled;
};

/// A lane with curves. Rates are in bit/s, all others in packets of an interval.
struct LaneOfSeries {
  const char* name;  ///< to be translated
  std::span<const LaneCurve> curves;
  double lines;  ///< height in lines of text
  bool rates;
};
[[nodiscard]] std::span<const LaneOfSeries> series_lanes() noexcept;
/// Whether anything is to be seen in it; rates are shown always.
[[nodiscard]] bool is_needed(const LaneOfSeries& lane, const analyze::Series& series);

/// A view of time on so many pixels; lengths are at least a nanosecond.
class TimeScale {
 public:
  TimeScale() = default;
  TimeScale(const TimeSpan& view, double left, double width) : view_(view), left_(left), width_(width) {}

  [[nodiscard]] double x_of(std::int64_t time_ns) const noexcept;
  /// Clipped to the view.
  [[nodiscard]] std::int64_t time_at(double x) const noexcept;
  [[nodiscard]] double ns_per_pixel() const noexcept;
  [[nodiscard]] const TimeSpan& view() const noexcept { return view_; }

 private:
  TimeSpan view_{0, 1};
  double left_ = 0;
  double width_ = 1;
};

/// The bucket that a time lies in; nullopt: none.
[[nodiscard]] std::optional<std::size_t> bucket_at(const analyze::Series& series,
                                                   std::int64_t time_ns) noexcept;
/// For each pixel of the scale the highest value of the buckets that it shows; 0 where there is none.
[[nodiscard]] std::vector<double> column_values(const analyze::Series& series, const LaneCurve& curve,
                                                const TimeScale& scale, int left, int width);

/// Ticks of the time axis: about `wanted` at round distances from the origin.
struct TimeTick {
  std::int64_t time_ns = 0;
  QString text;  ///< "1.25 s", "+40 µs": since the origin, or since `base_ns` where that is not it
};
struct TimeTicks {
  std::int64_t base_ns = 0;  ///< the time that texts count from
  std::vector<TimeTick> ticks;
};
[[nodiscard]] TimeTicks time_ticks(const TimeSpan& view, std::int64_t origin_ns, int wanted);

/// The view zoomed by a factor (> 1: more is shown) around a time, within `whole`, at least `shortest_ns`
/// long.
[[nodiscard]] TimeSpan zoomed(const TimeSpan& view, double factor, std::int64_t around_ns,
                              const TimeSpan& whole, std::int64_t shortest_ns) noexcept;
/// The view moved by a part of its length, within `whole`.
[[nodiscard]] TimeSpan moved(const TimeSpan& view, double part, const TimeSpan& whole) noexcept;

}  // namespace roce::gui
