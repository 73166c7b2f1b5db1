// SPDX-License-Identifier: Apache-2.0
// What the throughput graph draws, as plain numbers.
#pragma once

#include <QVector>
#include <cstdint>

#include "analyze/trace/connection_trace.hpp"

namespace roce::gui {

/// Lines of steps of what one side sends: each value holds from its time to the next.
struct ThroughputLines {
  QVector<double> seconds;     ///< after the origin; where the steps begin, and where the last one ends
  QVector<double> throughput;  ///< bits a second, on the wire
  QVector<double> goodput;     ///< bits a second, of messages, each once
  QVector<double> in_flight;   ///< PSNs of its requests, the most in the step
  double step_seconds = 0;
};
/// Steps of the visible part: `steps` at least of it, and three times as many at most, their edges at
/// multiples of their length, so that they stay where they are when the graph is moved. Where the trace has
/// left packets out, the steps are those that were counted when it was made. Empty where packets have no
/// times.
[[nodiscard]] ThroughputLines throughput_lines(const analyze::ConnectionTrace& trace, unsigned side,
                                               std::int64_t origin_ns, double from, double to, int steps);

}  // namespace roce::gui
