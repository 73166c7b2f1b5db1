// SPDX-License-Identifier: Apache-2.0
// The PFC watchdog of a switch: a queue that is paused for too long is declared stormed, and what waits in it
// is dropped or forwarded until nobody has paused it for a while. Whether a watchdog fired is not on the
// wire; when it should have, is.
#pragma once

#include <cstdint>

#include "analyze/base/sightings.hpp"

namespace roce::analyze {

/// Times that are set on the switch; none by default.
struct WatchdogTimes {
  std::int64_t detection_ns = 0;    ///< an uninterrupted pause this long is a storm
  std::int64_t restoration_ns = 0;  ///< without a pause this long it is over
  [[nodiscard]] explicit operator bool() const noexcept { return detection_ns > 0; }
};

/// A pause of a lane.
struct PauseSpan {
  std::uint64_t packet = 0;  ///< the XOFF that began it
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;  ///< its end, or when it will expire
};

/// What a watchdog at the other end of the link had to do for one priority of a port, and what was sent
/// meanwhile.
struct WatchdogFacts {
  Sightings fires;     ///< storms; packet: the XOFF that began the pause, time: when it had lasted too long
  Sightings restored;  ///< storms that were over; time of that, packet as before
  std::int64_t held_ns = 0;  ///< from firing to restoration, or to the end of the capture
  bool held_at_end = false;
  Sightings
      flowed;  ///< RoCE packets to the port during a storm while it was paused: the pause was not obeyed
  Sightings resumed;  ///< during a storm after the last pause: what a watchdog that drops would have dropped

  /// A pause has ended. In the order of their beginnings.
  void pause_ended(const PauseSpan& pause, const WatchdogTimes& times);
  /// A RoCE packet to the port. `pause`: the one that has not ended yet, if there is one; it may have run
  /// out.
  void packet(std::uint64_t number, std::int64_t time_ns, const PauseSpan* pause, const WatchdogTimes& times);
  void finish(std::int64_t last_ns);

 private:
  void restore(std::int64_t time_ns);

  bool holding_ = false;
  std::uint64_t fired_by_ = 0;
  std::int64_t fired_ns_ = 0;
  std::int64_t until_ns_ = 0;  ///< of the storm, if no further pause comes
};

}  // namespace roce::analyze
