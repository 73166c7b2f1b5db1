// SPDX-License-Identifier: Apache-2.0
// What the rules on ports (pauses, DCBX) have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyze/findings/shared/proof.hpp"
#include "analyze/results/finding.hpp"
#include "analyze/results/pause_facts.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// `lane_index`: a priority 0..7, or PausePort::global for PAUSE.
using LaneVisitor = std::function<void(const PausePort& port, unsigned lane_index, const PauseLane& lane)>;
/// Calls `look` for every lane of every port.
void for_each_lane(const Snapshot& snapshot, const LaneVisitor& look);

/// "priority 3", "all priorities (PAUSE)".
[[nodiscard]] std::string lane_text(unsigned lane_index);
/// "02:00:00:00:00:01", with the capture point where there are several.
[[nodiscard]] std::string port_text(const Snapshot& snapshot, std::uint64_t mac, std::uint16_t point);
/// "1.20 ms"; "at least 1.20 ms" if the link speed is not known.
[[nodiscard]] std::string paused_text(const PausePort& port, std::int64_t ns);
/// "0,0,0,1,0,0,0,0" of bit 3: what mlnx_qos --pfc takes.
[[nodiscard]] std::string pfc_list(std::uint8_t priorities);
/// "priority 3", "priorities 3, 4".
[[nodiscard]] std::string priority_words(std::uint8_t priorities);

/// A DSCP that the map assigns to this priority: 26 if it does, else the lowest; its class selector if there
/// is none.
[[nodiscard]] unsigned dscp_of(const PriorityMap& map, unsigned priority) noexcept;
/// That DSCP with ECT(0), as a traffic class for hosts to set: RoCE data that is Not-ECT gets no CE marks.
[[nodiscard]] unsigned traffic_class_for(const PriorityMap& map, unsigned priority) noexcept;

/// A display filter for the pause frames of that port, and for RoCE packets that take one of these
/// priorities.
[[nodiscard]] std::string pause_filter(std::uint64_t mac);
[[nodiscard]] std::string priority_filter(std::uint8_t priorities, const PriorityMap& map);

/// Packets that fill links (see fills_links) on some priorities.
struct DataOn {
  Proof proof;
  std::uint64_t all = 0;                   ///< packets that fill links, on whatever priority
  std::vector<std::uint32_t> connections;  ///< ids of a few, ascending
};
[[nodiscard]] DataOn data_on(const PriorityUse& use, std::uint8_t priorities);

/// A finding with this evidence.
[[nodiscard]] Finding finding_of(Severity severity, std::string subject, const Proof& proof);

/// Adds them; if they are more than findings_a_rule, the least important ones as one.
void add_told_once(FindingSink& sink, std::vector<Finding> findings);

}  // namespace roce::analyze
