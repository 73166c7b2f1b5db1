// SPDX-License-Identifier: Apache-2.0
// PAUSE (IEEE 802.3, Annex 31B) and priority flow control (Annex 31D; IEEE 802.1Q, clause 36): which port
// pauses its peer on which priority, for how long, and what is sent during the pause.
//
// A port is a source MAC address at a capture point. All its frames come from that point, so their order is
// that of the file and does not depend on the clocks of other points (docs/decisions/0003).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyze/link/link_view.hpp"
#include "analyze/link/pauses.hpp"
#include "analyze/link/priority_map.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

struct PauseOptions {
  std::uint64_t link_speed_bps = 0;  ///< of all links; 0 = as recorded in the capture
  std::int64_t storm_ns = default_storm_ns;
  WatchdogTimes watchdog;  ///< of the switches; none: not known
  std::size_t port_limit = 1024;
  PriorityMap priorities;
};

/// Follows pauses. Frames of one point must be passed in the order of its capture. Not thread-safe.
class PauseTracker {
 public:
  explicit PauseTracker(const PauseOptions& options) : options_(options) {
    pauses_.storm_ns = options.storm_ns;
    pauses_.watchdog = options.watchdog;
  }

  /// A port with that address sends LLDP frames at that point.
  void see_end(std::uint16_t point, std::uint64_t mac);
  /// Adds a MAC control frame. `interface_speed_bps`: of the capturing interface; 0 = unknown.
  void see(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& dissection,
           std::uint64_t interface_speed_bps);

  /// Whether packets matter at all.
  [[nodiscard]] bool pausing() const noexcept {
    return paused_lanes_ != 0 || latest_until_ns_ < restored_ns_;
  }
  /// Whether a packet of this time may fall into a pause, or before the restoration of a watchdog.
  [[nodiscard]] bool watches(std::int64_t time_ns) const noexcept {
    return (paused_lanes_ != 0 && time_ns <= latest_until_ns_) || time_ns <= restored_ns_;
  }
  /// Adds a RoCE packet; only needed if watches() is true.
  void see_packet(std::uint64_t number, const capture::Frame& frame, const LinkView& link);

  /// The result; pauses still open end with the capture. The tracker is empty afterwards.
  [[nodiscard]] Pauses finish(std::optional<std::int64_t> last_time_ns);

 private:
  using LaneId = std::pair<std::uint32_t, std::uint8_t>;  ///< port, lane
  struct Point {
    std::vector<std::uint64_t> ends;  ///< MAC addresses of ports, the first three
    std::vector<LaneId> open;         ///< paused lanes, bounded
    bool others = false;              ///< two ends are known, and a packet had another source or destination
  };
  struct Last {  ///< the last frame of a port, to recognise a second record of it
    std::int64_t time_ns = capture::no_time;
    std::array<std::uint8_t, 20> bytes{};
  };

  PausePort* port_of(std::uint16_t point, std::uint64_t mac, std::uint32_t& place);
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint16_t point, std::uint64_t mac) const;
  Point& point_of(std::uint16_t point);
  PauseLane& lane_of(LaneId id) { return *pauses_.ports[id.first].lanes[id.second]; }
  void pause(LaneId id, std::uint16_t quanta, std::uint64_t number, std::int64_t time_ns);
  void expire(Point& point, std::int64_t time_ns);
  void close(Point& point, LaneId id, std::int64_t end_ns);
  void add_mutual(LaneId one, LaneId other, std::int64_t end_ns);
  void check_watchdog(LaneId id, std::uint64_t number, std::int64_t time_ns);
  void check_overrun(LaneId id, std::uint64_t number, const capture::Frame& frame, bool to_port,
                     bool by_dscp);

  PauseOptions options_;
  Pauses pauses_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  ///< by point and MAC
  std::vector<Last> last_;                                   ///< by port
  std::vector<Point> points_;
  std::map<std::array<std::uint32_t, 3>, std::size_t> mutual_;  ///< ports and lane, to their place
  std::size_t paused_lanes_ = 0;
  std::int64_t latest_until_ns_ = 0;
  std::int64_t restored_ns_ = -1;  ///< when the last watchdog lets go; only with one
};

}  // namespace roce::analyze
