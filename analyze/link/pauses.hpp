// SPDX-License-Identifier: Apache-2.0
// What was seen of PAUSE (IEEE 802.3, Annex 31B) and priority flow control (Annex 31D; IEEE 802.1Q, clause 36):
// plain values. pause_tracker.hpp fills them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/base/deep_ptr.hpp"
#include "analyze/base/sightings.hpp"
#include "analyze/link/pause_series.hpp"

namespace roce::analyze {

/// Bit times of one quantum. IEEE 802.3, 31B.2.
inline constexpr std::uint64_t quantum_bits = 512;
/// The fastest link that there is: where the speed is unknown, a pause lasts at least as long as there.
inline constexpr std::uint64_t fastest_link_bps = 800'000'000'000;
/// What switches' PFC watchdogs take for a storm where nothing else is configured.
inline constexpr std::int64_t default_storm_ns = 200'000'000;

/// How long so many quanta last at that speed, to the nearest nanosecond; 0 without a speed.
[[nodiscard]] std::int64_t quanta_to_ns(std::uint16_t quanta, std::uint64_t speed_bps) noexcept;
/// How many quanta of that speed fill so much time, to the nearest one.
[[nodiscard]] std::uint64_t ns_to_quanta(std::int64_t ns, std::uint64_t speed_bps) noexcept;
/// How long after an XOFF frames may still come, by right: until the port that sends them has stopped, and
/// until they have arrived. 905 quanta are the longest reaction that IEEE 802.3, 31B.3.7 allows at any speed
/// up to 400 Gb/s, 288 are two frames of 9216 bytes (one being sent at either end), 2 µs are 100 m of cable
/// both ways and the clock of the capture.
[[nodiscard]] std::int64_t in_flight_allowance_ns(std::uint64_t speed_bps) noexcept;

/// What is wrong with a PAUSE or PFC frame.
enum class PauseFault : std::uint8_t {
  reserved_bits,      ///< the class enable vector's high byte is not 0
  no_priority,        ///< a PFC frame that enables none
  wrong_destination,  ///< not 01-80-C2-00-00-01: bridges may forward it
  tagged,             ///< behind a VLAN tag
  too_short,          ///< ends on the wire before its parameters do
  count_
};
inline constexpr std::size_t pause_fault_count = static_cast<std::size_t>(PauseFault::count_);
/// "reserved_bits" ...
[[nodiscard]] std::string_view pause_fault_name(PauseFault fault) noexcept;

/// One priority of one port, or its global PAUSE. A pause begins with an XOFF (a time above 0) and ends with
/// an XON (0), when its time has run out, or with the capture.
struct PauseLane {
  Sightings xoff;                  ///< with refreshes
  Sightings xon;                   ///< with needless ones
  std::uint64_t refreshed = 0;     ///< XOFFs while paused: the time starts again
  std::uint64_t expired = 0;       ///< pauses that ended without XON
  std::uint64_t needless_xon = 0;  ///< while not paused
  std::uint64_t pauses = 0;
  bool paused_at_end = false;  ///< when the capture ended
  /// Whether some packet of `overrun` was addressed to the port. Else it follows from both ends of its link
  /// being known alone, and a mirror of two links with one port each shows the same.
  bool overrun_to_port = false;
  /// Sum over all XOFFs: what was asked for, not what was paused; a refresh takes the place of the rest.
  std::uint64_t asked_quanta = 0;
  /// At the port's speed; where that is unknown, at `fastest_link_bps`: they are at least as long.
  std::int64_t paused_ns = 0;
  /// XOFFs whose time ran out: in quanta, which nanoseconds do not hold exactly, and their part of
  /// `paused_ns`.
  std::uint64_t run_out_quanta = 0;
  std::int64_t run_out_ns = 0;
  std::int64_t longest_ns = 0;
  std::uint64_t longest_packet = 0;  ///< the XOFF that began it
  std::int64_t longest_from_ns = 0;
  PauseSeries over_time;  ///< its sum is `paused_ns`
  Sightings storms;       ///< pauses of at least the storm's time; packet and time of the XOFF
  Sightings overrun;      ///< RoCE packets to the port on this priority while it is paused
  std::uint64_t overrun_bytes = 0;
  std::uint64_t overrun_by_dscp = 0;  ///< of `overrun`, those whose priority no tag tells, but their DSCP

  // While it is followed:
  bool paused = false;
  bool listed = false;  ///< among the open ones of its point
  std::uint64_t from_packet = 0;
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
  std::int64_t xoff_ns = 0;       ///< of the last XOFF,
  std::uint16_t xoff_quanta = 0;  ///< and what it asked for
};

struct PausePort {
  static constexpr unsigned priorities = 8, global = 8, lane_count = 9;

  std::uint64_t mac = 0;  ///< in the low 48 bits; 0: the capture has no link header that shows it
  std::uint16_t point = 0;
  std::uint16_t interface = 0;  ///< of its first frame
  std::uint64_t speed_bps = 0;  ///< 0: unknown
  bool speed_known = true;      ///< for every XOFF
  Sightings frames;             ///< PAUSE and PFC, damaged ones too
  std::uint64_t copies = 0;     ///< second records of one frame: in no other count
  std::uint64_t cut = 0;        ///< the capture cut them before their parameters end
  std::uint64_t untimed = 0;    ///< without a time: counted, no pause
  std::array<Sightings, pause_fault_count> faults;
  /// By priority, [global] is PAUSE; null where nothing came.
  std::array<DeepPtr<PauseLane>, lane_count> lanes;
};

/// Two ports at one capture point that pause each other, as far as the capture shows.
struct MutualPause {
  std::size_t a = 0;  ///< index into Pauses::ports, the lower one
  std::size_t b = 0;
  std::uint8_t lane = 0;
  /// RoCE packets of other addresses came at that point during pauses: the two may be ports of two links.
  bool others = false;
  std::uint64_t times = 0;
  std::int64_t total_ns = 0;
  std::int64_t longest_ns = 0;
  Sightings seen;  ///< packet: the XOFF that made it mutual
};

/// All that was seen of pauses.
struct Pauses {
  std::vector<PausePort> ports;  ///< in order of first appearance
  std::vector<MutualPause> mutual;
  std::uint64_t dropped_frames = 0;  ///< of ports beyond the bound
  std::int64_t storm_ns = default_storm_ns;
};

}  // namespace roce::analyze
