// SPDX-License-Identifier: Apache-2.0
// Geometry of the throughput graph, as plain functions.
#pragma once

#include <QVector>
#include <cstdint>

#include "analyze/trace/connection_trace.hpp"

namespace roce::gui {

/// Step lines of what one side sends: each value applies from its time to the next.
struct ThroughputLines {
  QVector<double> seconds;     ///< after the origin: starts of the steps, and the end of the last one
  QVector<double> throughput;  ///< bit/s on the wire
  QVector<double> goodput;     ///< bit/s of message payload, without retransmissions
  QVector<double> in_flight;   ///< PSNs of its requests without an answer, maximum within the step
  double step_seconds = 0;
};
/// Steps of the visible part: at least `steps` and at most three times as many, with edges at multiples of
/// their length, so that they do not move with the graph. Where the trace omits packets, the steps counted
/// when it was made are used. Empty where packets have no times.
[[nodiscard]] ThroughputLines throughput_lines(const analyze::ConnectionTrace& trace, unsigned side,
                                               std::int64_t origin_ns, double from, double to, int steps);

}  // namespace roce::gui
