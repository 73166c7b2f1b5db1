// SPDX-License-Identifier: Apache-2.0
// Results for PAUSE (IEEE 802.3, Annex 31B) and priority flow control (Annex 31D; IEEE 802.1Q, clause 36), as
// plain values. PauseTracker fills them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyze/base/deep_ptr.hpp"
#include "analyze/base/sightings.hpp"
#include "analyze/link/pause_series.hpp"
#include "analyze/link/pfc_watchdog.hpp"

namespace roce::analyze {

/// Bit times of one quantum. IEEE 802.3, 31B.2.
inline constexpr std::uint64_t quantum_bits = 512;
/// The highest link speed in use: if the speed is unknown, a pause lasts at least as long as at this one.
inline constexpr std::uint64_t fastest_link_bps = 800'000'000'000;
/// Default detection time of switches' PFC watchdogs.
inline constexpr std::int64_t default_storm_ns = 200'000'000;

/// Duration of `quanta` at that speed, rounded to nanoseconds; 0 without a speed.
[[nodiscard]] std::int64_t quanta_to_ns(std::uint16_t quanta, std::uint64_t speed_bps) noexcept;
/// Number of quanta in `ns` at that speed, rounded.
[[nodiscard]] std::uint64_t ns_to_quanta(std::int64_t ns, std::uint64_t speed_bps) noexcept;
/// How long after an XOFF frames may still arrive without a violation: until the sender has stopped and its
/// frames have arrived. 905 quanta are the longest response time that IEEE 802.3, 31B.3.7 allows at any speed
/// up to 400 Gb/s, 288 are two frames of 9216 bytes (one in transmission at either end), 2 µs cover 100 m of
/// cable in both directions and the clock of the capture.
[[nodiscard]] std::int64_t in_flight_allowance_ns(std::uint64_t speed_bps) noexcept;

/// Errors in a PAUSE or PFC frame.
enum class PauseFault : std::uint8_t {
  reserved_bits,      ///< the class enable vector's high byte is not 0
  no_priority,        ///< a PFC frame with an empty class enable vector
  wrong_destination,  ///< not 01-80-C2-00-00-01: bridges may forward it
  tagged,             ///< with a VLAN tag
  too_short,          ///< the frame on the wire ends before its parameters do
  count_
};
inline constexpr std::size_t pause_fault_count = static_cast<std::size_t>(PauseFault::count_);
/// "reserved_bits" ...
[[nodiscard]] std::string_view pause_fault_name(PauseFault fault) noexcept;

/// One priority of one port, or its global PAUSE. A pause begins with an XOFF (pause time above 0) and ends
/// with an XON (pause time 0), when its time expires, or with the capture.
struct PauseLane {
  Sightings xoff;                  ///< including refreshes
  Sightings xon;                   ///< including those while not paused
  std::uint64_t refreshed = 0;     ///< XOFFs while paused: the pause time starts anew
  std::uint64_t expired = 0;       ///< pauses that ended without XON
  std::uint64_t needless_xon = 0;  ///< XONs while not paused
  std::uint64_t pauses = 0;
  bool paused_at_end = false;  ///< when the capture ended
  /// Whether some packet of `overrun` was addressed to the port. Otherwise `overrun` relies on the known ends
  /// of the link, and a mirror of one port each of two links looks the same.
  bool overrun_to_port = false;
  /// Sum of the pause times of all XOFFs: requested, not actual; a refresh replaces the rest of a pause.
  std::uint64_t asked_quanta = 0;
  /// At the port's speed; if that is unknown, at `fastest_link_bps`, which gives a lower bound.
  std::int64_t paused_ns = 0;
  /// XOFFs whose time expired: their exact sum in quanta, and their part of `paused_ns`.
  std::uint64_t run_out_quanta = 0;
  std::int64_t run_out_ns = 0;
  std::int64_t longest_ns = 0;
  std::uint64_t longest_packet = 0;  ///< the XOFF that began it
  std::int64_t longest_from_ns = 0;
  PauseSeries over_time;  ///< its sum is `paused_ns`
  Sightings storms;       ///< pauses of at least Pauses::storm_ns; packet and time of the XOFF
  Sightings overrun;      ///< RoCE packets to the port on this priority while it is paused
  std::uint64_t overrun_bytes = 0;
  std::uint64_t overrun_by_dscp = 0;  ///< of `overrun`, untagged ones, whose priority is by their DSCP
  DeepPtr<WatchdogFacts> watchdog;    ///< only with Pauses::watchdog

  // While it is followed:
  bool paused = false;
  bool listed = false;  ///< among the open lanes of its point
  std::uint64_t from_packet = 0;
  std::int64_t from_ns = 0;
  std::int64_t until_ns = 0;
  std::int64_t xoff_ns = 0;       ///< of the last XOFF,
  std::uint16_t xoff_quanta = 0;  ///< and its pause time
};

/// A port: a source MAC address of PAUSE or PFC frames at one capture point.
struct PausePort {
  static constexpr unsigned priorities = 8, global = 8, lane_count = 9;

  std::uint64_t mac = 0;  ///< in the low 48 bits; 0: the capture has no link header with it
  std::uint16_t point = 0;
  std::uint16_t interface = 0;  ///< of its first frame
  std::uint64_t speed_bps = 0;  ///< 0: unknown
  bool speed_known = true;      ///< for all XOFFs
  Sightings frames;             ///< PAUSE and PFC frames, including malformed ones
  std::uint64_t copies = 0;     ///< second records of one frame; in no other count
  std::uint64_t cut = 0;        ///< truncated by the capture before the end of their parameters
  std::uint64_t untimed = 0;    ///< without a timestamp: counted, but without a pause
  std::array<Sightings, pause_fault_count> faults;
  /// By priority, [global] is PAUSE; null without frames.
  std::array<DeepPtr<PauseLane>, lane_count> lanes;
};

/// Two ports at one capture point that pause each other, as far as the capture shows. Two ports that both
/// pause are assumed to be the ends of one link.
struct MutualPause {
  std::size_t a = 0;  ///< index into Pauses::ports, the lower one
  std::size_t b = 0;
  std::uint8_t lane = 0;
  /// RoCE packets of other addresses were seen at that point during pauses: the ports may be of two links.
  bool others = false;
  std::uint64_t times = 0;
  std::int64_t total_ns = 0;
  std::int64_t longest_ns = 0;
  Sightings seen;  ///< packet: the XOFF that made it mutual
};

/// All results for pauses.
struct Pauses {
  std::vector<PausePort> ports;  ///< in order of first appearance
  std::vector<MutualPause> mutual;
  std::uint64_t dropped_frames = 0;  ///< frames of ports beyond the limit
  std::int64_t storm_ns = default_storm_ns;
  WatchdogTimes watchdog;  ///< of the switches, as told; none: not known
};

}  // namespace roce::analyze
