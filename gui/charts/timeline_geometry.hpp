// SPDX-License-Identifier: Apache-2.0
// Geometry of the timeline, as plain functions.
#pragma once

#include <QVector>
#include <cstdint>
#include <optional>

#include "analyze/base/series.hpp"
#include "gui/models/selection.hpp"

namespace roce::gui {

/// Step lines: each value applies from its time to the next. Times are seconds after `origin_ns`, the time of
/// the capture's first packet, RDMA or not, as in findings and in `packets`.
struct TimelineLines {
  QVector<double> times;          ///< starts of the buckets, and the end of the last one
  QVector<double> throughput;     ///< bit/s on the wire
  QVector<double> goodput;        ///< bit/s
  QVector<double> retransmitted;  ///< packets per bucket, as all below
  QVector<double> lost;
  QVector<double> ce;
  QVector<double> cnps;
  double bucket_seconds = 0;
};

[[nodiscard]] TimelineLines timeline_lines(const analyze::Series& series, std::int64_t origin_ns);

/// The step that covers a place of the time axis: an index of TimelineLines::times; -1: none.
[[nodiscard]] int step_at(const TimelineLines& lines, double seconds) noexcept;

/// The unit for rates up to `most` bit/s.
struct RateUnit {
  double bits = 1;
  const char* name = "b/s";
};
[[nodiscard]] RateUnit rate_unit(double most) noexcept;

/// The time range between two places of the time axis, in either order, clipped to the series. nullopt: it is
/// empty.
[[nodiscard]] std::optional<TimeSpan> span_between(const analyze::Series& series, std::int64_t origin_ns,
                                                   double one_second, double other_second) noexcept;
[[nodiscard]] double seconds_of(std::int64_t origin_ns, std::int64_t time_ns) noexcept;

}  // namespace roce::gui
