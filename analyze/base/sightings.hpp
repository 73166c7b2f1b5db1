// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "analyze/base/events.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {

/// An EventLog outside of Events, for what happens at a port instead of on a connection. Times are
/// capture::no_time if no packet had one.
struct Sightings : EventLog {
  Sightings() { first_time_ns = last_time_ns = capture::no_time; }

  /// Frames come in ascending order.
  void add(std::uint64_t frame, std::int64_t time_ns) {
    if (count < kept) frames.add(frame);
    ++count;
    last_frame = frame;
    if (time_ns == capture::no_time) return;
    first_time_ns = first_time_ns == capture::no_time ? time_ns : std::min(first_time_ns, time_ns);
    last_time_ns = std::max(last_time_ns, time_ns);
  }
};

}  // namespace roce::analyze
