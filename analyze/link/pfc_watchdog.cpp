// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/pfc_watchdog.hpp"

#include <algorithm>

namespace roce::analyze {

void WatchdogFacts::restore(std::int64_t time_ns) {
  held_ns += std::max<std::int64_t>(0, time_ns - fired_ns_);
  holding_ = false;
}

void WatchdogFacts::pause_ended(const PauseSpan& pause, const WatchdogTimes& times) {
  if (holding_ && pause.from_ns >= until_ns_) {
    restored.add(fired_by_, until_ns_);
    restore(until_ns_);
  }
  const bool too_long = pause.until_ns - pause.from_ns >= times.detection_ns;
  if (!holding_ && !too_long) return;
  if (!holding_) {
    holding_ = true;
    fired_by_ = pause.packet;
    fired_ns_ = pause.from_ns + times.detection_ns;
    until_ns_ = fired_ns_;
    fires.add(fired_by_, fired_ns_);
  }
  until_ns_ = std::max(until_ns_, pause.until_ns + times.restoration_ns);
}

void WatchdogFacts::packet(std::uint64_t number, std::int64_t time_ns, const PauseSpan* pause,
                           const WatchdogTimes& times) {
  const bool before_restoration = holding_ && time_ns < until_ns_;
  if (pause == nullptr) {
    if (before_restoration) resumed.add(number, time_ns);
    return;
  }
  const bool goes_on = holding_ && pause->from_ns < until_ns_;
  if (time_ns < pause->until_ns) {
    if (goes_on || time_ns >= pause->from_ns + times.detection_ns) flowed.add(number, time_ns);
    return;
  }
  // It has run out.
  const bool stormed = goes_on || pause->until_ns - pause->from_ns >= times.detection_ns;
  if (stormed && time_ns < pause->until_ns + times.restoration_ns) resumed.add(number, time_ns);
}

void WatchdogFacts::finish(std::int64_t last_ns) {
  if (!holding_) return;
  held_at_end = until_ns_ > last_ns;
  if (!held_at_end) restored.add(fired_by_, until_ns_);
  restore(std::min(until_ns_, last_ns));
}

}  // namespace roce::analyze
