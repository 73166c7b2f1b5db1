// SPDX-License-Identifier: Apache-2.0
// What the timeline draws, as plain numbers.
#pragma once

#include <QVector>
#include <cstdint>
#include <optional>

#include "analyze/base/series.hpp"
#include "gui/models/selection.hpp"

namespace roce::gui {

/// Lines of steps: each value holds from its time to the next. Times are seconds after `origin_ns`, the time
/// of the capture's first packet, be it RDMA or not: as those of findings and of `packets`.
struct TimelineLines {
  QVector<double> times;          ///< where the buckets begin, and where the last one ends
  QVector<double> throughput;     ///< bits a second, on the wire
  QVector<double> goodput;        ///< bits a second
  QVector<double> retransmitted;  ///< packets in a bucket, as all below
  QVector<double> lost;
  QVector<double> ce;
  QVector<double> cnps;
  double bucket_seconds = 0;
};

[[nodiscard]] TimelineLines timeline_lines(const analyze::Series& series, std::int64_t origin_ns);

/// A unit for rates up to this many bits a second.
struct RateUnit {
  double bits = 1;
  const char* name = "b/s";
};
[[nodiscard]] RateUnit rate_unit(double most) noexcept;

/// The times between two places of the time axis, whichever is left; inside of the series. nullopt: no time
/// lies between them.
[[nodiscard]] std::optional<TimeSpan> span_between(const analyze::Series& series, std::int64_t origin_ns,
                                                   double one_second, double other_second) noexcept;
[[nodiscard]] double seconds_of(std::int64_t origin_ns, std::int64_t time_ns) noexcept;

}  // namespace roce::gui
