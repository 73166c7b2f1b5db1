// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "analyze/base/value_format.hpp"
#include "analyze/findings/shared/common.hpp"
#include "analyze/findings/shared/port_cases.hpp"

namespace roce::analyze {
namespace {

/// "+0.250000 s"
std::string moment_text(const Snapshot& snapshot, std::int64_t time_ns) {
  std::string text = "+";
  append_seconds(text, span_ns(snapshot.first_read_ns.value_or(snapshot.totals.first_time_ns), time_ns), 6);
  return text + " s";
}

/// What was sent while a watchdog had to hold the queue.
std::string sent_in_storm(const PausePort& port, const WatchdogFacts& facts, const std::string& who) {
  if (!is_speed_known(port)) {
    return " The link speed is not known (--link-speed), so these pauses lasted longer, and what was sent "
           "during them is "
           "not judged.";
  }
  if (facts.flowed.count != 0) {
    return fmt::format(
        " Traffic flowed on: {} of RoCE {} sent to {} on this priority after that, while it was paused. "
        "Either the "
        "watchdog did fire and forwards what it should drop (action forward), or the sender does not obey "
        "the pause.",
        packets_text(facts.flowed.count), verb(facts.flowed.count, "was", "were"), who);
  }
  if (facts.resumed.count != 0) {
    return fmt::format(
        " While it was paused nothing came, but {} of RoCE on this priority within the restoration time "
        "after the last "
        "pause: a watchdog that drops would have dropped {}. So it did not fire, or its times are others.",
        packets_text(facts.resumed.count), verb(facts.resumed.count, "it", "them"));
  }
  return fmt::format(
      " Nothing was sent to {} on this priority until it should have been restored: the watchdog fired and "
      "drops, or "
      "nothing waited in the queue, and then it does not fire.",
      who);
}

}  // namespace

void find_pfc_watchdog(const Snapshot& snapshot, FindingSink& sink) {
  const WatchdogTimes& times = snapshot.pauses.watchdog;
  std::vector<Finding> findings;
  for_each_lane(snapshot, [&](const PausePort& port, unsigned i, const PauseLane& lane) {
    const WatchdogFacts* const facts = lane.watchdog.get();
    if (facts == nullptr || i == PausePort::global || facts->fires.count == 0) return;
    Proof proof;
    proof.add(&facts->fires);
    const std::string who = port_text(snapshot, port.mac, port.point);
    Finding finding = finding_of(facts->flowed.count != 0 ? Severity::warning : Severity::notice,
                                 fmt::format("{}, {}", who, lane_text(i)), proof);
    finding.explanation = fmt::format(
        "With {} for detection, a PFC watchdog of the port that {} pauses should have fired {} on {}: {}at "
        "{}, when the "
        "pause of {} had lasted so long. With {} for restoration the queue should have been held for {}{}.",
        duration_text(times.detection_ns), who, times_text(facts->fires.count), lane_text(i),
        facts->fires.count == 1 ? "" : "first ", moment_text(snapshot, facts->fires.first_time_ns),
        fmt::format("packet {}", facts->fires.frames[0]), duration_text(times.restoration_ns),
        duration_text(facts->held_ns), facts->held_at_end ? ", and still was when the capture ended" : "");
    finding.explanation += sent_in_storm(port, *facts, who);
    // Untagged packets may be on another priority.
    if (!snapshot.policy && lane.overrun_by_dscp != 0) {
      finding.explanation += guessed_priority_text;
      if (2 * lane.overrun_by_dscp > lane.overrun.count) finding.severity = Severity::notice;
    }
    finding.confidence = is_speed_known(port) ? 0.8 : 0.6;
    finding.advice =
        "See on that switch whether it fired, and what it did: SONiC show pfcwd config, show pfcwd stats "
        "(storms detected and "
        "restored, packets dropped). If it did not: is it enabled on this port, is the priority lossless "
        "there, are its "
        "times those of --pfc-watchdog. All pause frames of the port that pauses: " +
        packets_command(snapshot, pause_filter(port.mac));
    findings.push_back(std::move(finding));
  });
  add_told_once(sink, std::move(findings));
}

}  // namespace roce::analyze
