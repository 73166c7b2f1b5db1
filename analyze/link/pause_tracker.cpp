// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/pause_tracker.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include "analyze/record/packet_record.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/mac_control.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

constexpr std::size_t open_limit = 64;     ///< paused lanes of one point that are compared with each other
constexpr std::size_t mutual_limit = 256;  ///< pairs of lanes
constexpr std::size_t ends_kept = 3;       ///< per point: it only matters whether there are more than two

std::uint64_t place_key(std::uint16_t point, std::uint64_t mac) noexcept {
  return std::uint64_t{point} << 48U | (mac & 0xffff'ffff'ffffU);
}

constexpr std::uint64_t control_destination = [] {
  std::uint64_t mac = 0;
  for (const std::uint8_t byte : mac_control_destination) mac = mac << 8U | byte;
  return mac;
}();

/// Whether the time can be added to without overflow.
bool usable(std::int64_t time_ns) noexcept {
  return time_ns >= 0 && time_ns <= PacketRecord::latest_ns;
}

}  // namespace

PauseTracker::Point& PauseTracker::point_of(std::uint16_t point) {
  if (point >= points_.size()) points_.resize(std::size_t{point} + 1);
  return points_[point];
}

void PauseTracker::see_end(std::uint16_t point, std::uint64_t mac) {
  std::vector<std::uint64_t>& ends = point_of(point).ends;
  if (mac == 0 || ends.size() == ends_kept || std::find(ends.begin(), ends.end(), mac) != ends.end()) return;
  ends.push_back(mac);
}

std::optional<std::uint32_t> PauseTracker::find(std::uint16_t point, std::uint64_t mac) const {
  const auto found = places_.find(place_key(point, mac));
  return found == places_.end() ? std::nullopt : std::optional(found->second);
}

PausePort* PauseTracker::port_of(std::uint16_t point, std::uint64_t mac, std::uint32_t& place) {
  if (const auto known = find(point, mac)) {
    place = *known;
    return &pauses_.ports[place];
  }
  if (pauses_.ports.size() >= options_.port_limit) {
    ++pauses_.dropped_frames;
    return nullptr;
  }
  place = static_cast<std::uint32_t>(pauses_.ports.size());
  places_.emplace(place_key(point, mac), place);
  last_.emplace_back();
  PausePort& port = pauses_.ports.emplace_back();
  port.mac = mac;
  port.point = point;
  return &port;
}

void PauseTracker::see(std::uint64_t number, const capture::Frame& frame, const Dissection& d,
                       std::uint64_t interface_speed_bps) {
  const HeaderId last = d.layer_count != 0 ? d.layers[d.layer_count - 1U].id : HeaderId::count_;
  const bool whole = last == HeaderId::mac_pause || last == HeaderId::mac_pfc;
  if (last == HeaderId::mac_control) return;  // another opcode than PAUSE and PFC
  const std::optional<LinkView> link = link_view(frame.data, d);
  const std::uint64_t mac = link ? link->src : 0;
  see_end(frame.point, mac);
  std::uint32_t place = 0;
  PausePort* const port = port_of(frame.point, mac, place);
  if (port == nullptr) return;

  Last now;
  now.time_ns = frame.time_ns;
  if (whole) {
    const Layer& layer = d.layers[d.layer_count - 1U];
    std::memcpy(now.bytes.data(), frame.data + layer.offset,
                std::min<std::size_t>(layer.length, now.bytes.size()));
    Last& before = last_[place];
    if (now.time_ns != capture::no_time && before.time_ns == now.time_ns && before.bytes == now.bytes) {
      ++port->copies;
      return;
    }
    before = now;
  }

  if (port->frames.count == 0) port->interface = frame.interface;
  port->frames.add(number, frame.time_ns);
  const auto fault = [&](PauseFault what) {
    port->faults[static_cast<std::size_t>(what)].add(number, frame.time_ns);
  };
  if (link && link->dst != control_destination) fault(PauseFault::wrong_destination);
  if (d.vlan != Dissection::none) fault(PauseFault::tagged);
  if (!whole) {
    if (d.stop == Stop::contradicts_itself) {
      fault(PauseFault::too_short);
    } else {
      ++port->cut;
    }
    return;
  }
  const std::uint64_t speed = options_.link_speed_bps != 0 ? options_.link_speed_bps : interface_speed_bps;
  port->speed_bps = speed != 0 ? speed : port->speed_bps;
  if (speed == 0) port->speed_known = false;
  if (!usable(frame.time_ns)) ++port->untimed;

  const std::uint8_t* p = now.bytes.data();
  if (last == HeaderId::mac_pause) {
    pause({place, PausePort::global}, read<MacPause::pause_time>(p), number, frame.time_ns);
    return;
  }
  const std::uint16_t vector = read<MacPfc::enable_vector>(p);
  if (vector > 0xff) fault(PauseFault::reserved_bits);
  if ((vector & 0xffU) == 0) fault(PauseFault::no_priority);
  for (std::uint8_t priority = 0; priority < PausePort::priorities; ++priority) {
    if ((vector >> priority & 1U) != 0) {
      pause({place, priority}, MacPfc::quanta(p, priority), number, frame.time_ns);
    }
  }
}

void PauseTracker::pause(LaneId id, std::uint16_t quanta, std::uint64_t number, std::int64_t time_ns) {
  PausePort& port = pauses_.ports[id.first];
  std::unique_ptr<PauseLane>& made = port.lanes[id.second];
  if (!made) made = std::make_unique<PauseLane>();
  PauseLane& lane = *made;
  if (options_.watchdog && !lane.watchdog) lane.watchdog = std::make_unique<WatchdogFacts>();
  const bool off = quanta != 0;
  (off ? lane.xoff : lane.xon).add(number, time_ns);
  lane.asked_quanta += quanta;
  if (!usable(time_ns)) return;
  // A record that is older than the one before it does not change past pauses.
  const std::int64_t now = lane.paused ? std::max(time_ns, lane.from_ns) : time_ns;
  Point& point = point_of(port.point);
  expire(point, now);
  if (lane.paused && lane.until_ns < now) {  // not listed
    ++lane.expired;
    close(point, id, lane.until_ns);
  }
  if (!off) {
    if (!lane.paused) {
      ++lane.needless_xon;
    } else {
      close(point, id, now);
    }
    return;
  }
  if (lane.paused) {
    ++lane.refreshed;
    if (now == lane.until_ns) {  // exactly when the pause time has expired
      lane.run_out_quanta += lane.xoff_quanta;
      lane.run_out_ns += now - lane.xoff_ns;
    }
  } else {
    lane.paused = true;
    lane.from_packet = number;
    lane.from_ns = now;
    ++lane.pauses;
    ++paused_lanes_;
    lane.listed = point.open.size() < open_limit;
    if (lane.listed) point.open.push_back(id);
  }
  const std::uint64_t speed = options_.link_speed_bps != 0 ? options_.link_speed_bps : port.speed_bps;
  lane.until_ns = now + quanta_to_ns(quanta, speed != 0 ? speed : fastest_link_bps);
  latest_until_ns_ = std::max(latest_until_ns_, lane.until_ns);
  if (options_.watchdog)
    restored_ns_ = std::max(restored_ns_, lane.until_ns + options_.watchdog.restoration_ns);
  lane.xoff_ns = now;
  lane.xoff_quanta = quanta;
}

/// Ends the expired pauses of a point, the earliest first, so that each pair of pauses is compared when the
/// first of the two ends.
void PauseTracker::expire(Point& point, std::int64_t time_ns) {
  for (;;) {
    const auto first = std::min_element(point.open.begin(), point.open.end(), [this](LaneId a, LaneId b) {
      return std::pair(lane_of(a).until_ns, a) < std::pair(lane_of(b).until_ns, b);
    });
    if (first == point.open.end() || lane_of(*first).until_ns >= time_ns) return;
    const LaneId id = *first;
    ++lane_of(id).expired;
    close(point, id, lane_of(id).until_ns);
  }
}

void PauseTracker::close(Point& point, LaneId id, std::int64_t end_ns) {
  PauseLane& lane = lane_of(id);
  lane.paused = false;
  --paused_lanes_;
  const std::int64_t lasted = std::max<std::int64_t>(0, end_ns - lane.from_ns);
  const std::int64_t counted = std::min(lasted, std::numeric_limits<std::int64_t>::max() - lane.paused_ns);
  lane.paused_ns += counted;
  lane.over_time.add(lane.from_ns, lane.from_ns + counted);
  if (end_ns == lane.until_ns && counted == lasted) {
    lane.run_out_quanta += lane.xoff_quanta;
    lane.run_out_ns += end_ns - lane.xoff_ns;
  }
  if (lasted > lane.longest_ns || lane.longest_packet == 0) {
    lane.longest_ns = lasted;
    lane.longest_packet = lane.from_packet;
    lane.longest_from_ns = lane.from_ns;
  }
  if (lasted >= options_.storm_ns) lane.storms.add(lane.from_packet, lane.from_ns);
  if (lane.watchdog) lane.watchdog->pause_ended({lane.from_packet, lane.from_ns, end_ns}, options_.watchdog);
  if (!lane.listed) return;
  lane.listed = false;
  std::erase(point.open, id);
  for (const LaneId& other : point.open) {
    if (other.second == id.second) add_mutual(id, other, end_ns);
  }
}

void PauseTracker::add_mutual(LaneId one, LaneId other, std::int64_t end_ns) {
  const PauseLane& x = lane_of(one);
  const PauseLane& y = lane_of(other);
  const PauseLane& later =
      x.from_ns != y.from_ns ? (x.from_ns > y.from_ns ? x : y) : (x.from_packet > y.from_packet ? x : y);
  const std::int64_t lasted = end_ns - later.from_ns;
  if (lasted <= 0) return;
  const auto [a, b] = std::minmax(one.first, other.first);
  const auto found = mutual_.find({a, b, one.second});
  if (found == mutual_.end() && mutual_.size() == mutual_limit) return;
  const std::size_t place =
      found != mutual_.end()
          ? found->second
          : mutual_.emplace(std::array{a, b, std::uint32_t{one.second}}, pauses_.mutual.size()).first->second;
  if (place == pauses_.mutual.size()) pauses_.mutual.push_back({a, b, one.second, false, 0, 0, 0, {}});
  MutualPause& mutual = pauses_.mutual[place];
  ++mutual.times;
  mutual.total_ns += std::min(lasted, std::numeric_limits<std::int64_t>::max() - mutual.total_ns);
  mutual.longest_ns = std::max(mutual.longest_ns, lasted);
  mutual.seen.add(later.from_packet, later.from_ns);
}

void PauseTracker::see_packet(std::uint64_t number, const capture::Frame& frame, const LinkView& link) {
  if (!usable(frame.time_ns) || frame.point >= points_.size()) return;
  std::optional<std::uint32_t> to = find(frame.point, link.dst);
  Point& point = points_[frame.point];
  const std::vector<std::uint64_t>& ends = point.ends;
  const bool to_port = to.has_value();
  if (ends.size() == 2 && !point.others) {
    const auto stranger = [&ends](std::uint64_t mac) { return mac != ends[0] && mac != ends[1]; };
    point.others = stranger(link.src) || stranger(link.dst);
  }
  if (!to && ends.size() == 2) {
    // A frame of one end of a link goes to the other end, whatever its destination address.
    if (link.src == ends[0]) to = find(frame.point, ends[1]);
    if (link.src == ends[1]) to = find(frame.point, ends[0]);
  }
  if (!to) return;
  const std::uint8_t priority = options_.priorities.priority_of(link.dscp, link.pcp);
  // DSCP 0 is the default of unmarked traffic; PAUSE stops all priorities.
  const bool by_dscp = !link.pcp && link.dscp != 0;
  check_overrun({*to, priority}, number, frame, to_port, by_dscp);
  check_overrun({*to, PausePort::global}, number, frame, to_port, false);
  check_watchdog({*to, priority}, number, frame.time_ns);
}

/// Watchdogs look after PFC only. Without the link speed nobody knows when a pause has run out.
void PauseTracker::check_watchdog(LaneId id, std::uint64_t number, std::int64_t time_ns) {
  const PausePort& port = pauses_.ports[id.first];
  PauseLane* const lane = port.lanes[id.second].get();
  if (lane == nullptr || !lane->watchdog || !port.speed_known) return;
  const PauseSpan pause{lane->from_packet, lane->from_ns, lane->until_ns};
  if (lane->paused && time_ns < lane->from_ns + in_flight_allowance_ns(port.speed_bps)) return;
  lane->watchdog->packet(number, time_ns, lane->paused ? &pause : nullptr, options_.watchdog);
}

void PauseTracker::check_overrun(LaneId id, std::uint64_t number, const capture::Frame& frame, bool to_port,
                                 bool by_dscp) {
  const PausePort& port = pauses_.ports[id.first];
  PauseLane* const lane = port.lanes[id.second].get();
  // Without the link speed the duration of the pause is unknown.
  if (lane == nullptr || !lane->paused || !port.speed_known) return;
  if (frame.time_ns >= lane->until_ns ||
      frame.time_ns < lane->from_ns + in_flight_allowance_ns(port.speed_bps)) {
    return;
  }
  lane->overrun.add(number, frame.time_ns);
  lane->overrun_bytes += frame.wire;
  lane->overrun_by_dscp += by_dscp ? 1 : 0;
  lane->overrun_to_port = lane->overrun_to_port || to_port;
}

Pauses PauseTracker::finish(std::optional<std::int64_t> last_time_ns) {
  for (Point& point : points_) {
    if (last_time_ns) expire(point, *last_time_ns);
  }
  for (std::uint32_t place = 0; place < pauses_.ports.size(); ++place) {
    for (std::uint8_t i = 0; i < PausePort::lane_count; ++i) {
      PauseLane* const lane = pauses_.ports[place].lanes[i].get();
      if (lane == nullptr) continue;
      if (!lane->paused) {
        if (lane->watchdog) lane->watchdog->finish(last_time_ns.value_or(restored_ns_));
        continue;
      }
      const std::int64_t end = last_time_ns ? std::min(*last_time_ns, lane->until_ns) : lane->until_ns;
      lane->paused_at_end = last_time_ns && lane->until_ns >= *last_time_ns;
      if (!lane->paused_at_end) ++lane->expired;
      close(points_[pauses_.ports[place].point], {place, i}, end);
      if (lane->watchdog) lane->watchdog->finish(last_time_ns.value_or(restored_ns_));
    }
  }
  for (MutualPause& mutual : pauses_.mutual) {
    mutual.others = points_[pauses_.ports[mutual.a].point].others;
  }
  places_.clear();
  points_.clear();
  last_.clear();
  mutual_.clear();
  return std::exchange(pauses_, {});
}

}  // namespace roce::analyze
