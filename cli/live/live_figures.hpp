// SPDX-License-Identifier: Apache-2.0 Figures of a running capture: monotonic counters, their increase in an
// interval, and the connections with most trouble in it. Used by summaries, the screen and metrics.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/finding.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::cli {

/// Counted since the capture began, including evicted connections.
struct LiveTotals {
  std::uint64_t packets = 0;  ///< analysed frames of any kind
  std::uint64_t bytes = 0;    ///< of these, on the wire
  std::uint64_t dropped = 0;  ///< frames dropped while capturing
  std::uint64_t roce_packets = 0;
  std::uint64_t roce_bytes = 0;     ///< on the wire
  std::uint64_t goodput_bytes = 0;  ///< message bytes, without retransmissions
  std::uint64_t retransmitted = 0;  ///< packets
  std::uint64_t lost = 0;           ///< transmissions
  std::uint64_t ce = 0;             ///< RoCE packets marked Congestion Experienced
  std::uint64_t cnps = 0;
  std::uint64_t icrc_mismatches = 0;
  std::uint64_t pauses = 0;     ///< PAUSE and PFC of all ports and priorities, without refreshes
  std::uint64_t paused_ns = 0;  ///< sum of all ports and priorities
};

struct LiveCounter {
  std::string_view name;  ///< snake_case, stable: a JSON key
  std::string_view help;  ///< what it counts
  std::uint64_t LiveTotals::*value;
};
/// One row for each member of LiveTotals, in their order.
[[nodiscard]] std::span<const LiveCounter> live_counters() noexcept;

/// Makes totals of snapshots that never decrease: a count that later packets corrected downwards stays until
/// it is reached again. Evicted connections are included in the snapshots.
class LiveTally {
 public:
  /// To be called with the snapshots in order.
  [[nodiscard]] LiveTotals add(const analyze::Snapshot& snapshot);

 private:
  LiveTotals last_;
};
/// The increase of each total.
[[nodiscard]] LiveTotals risen(const LiveTotals& now, const LiveTotals& before) noexcept;

/// By analyze::Connection::State.
using ConnectionCounts = std::array<std::uint64_t, 4>;
[[nodiscard]] ConnectionCounts connection_counts(const analyze::Snapshot& snapshot) noexcept;

/// A connection and its increases in the interval.
struct LiveConnection {
  std::size_t index = 0;  ///< in Snapshot::connections
  std::uint64_t bytes = 0;
  std::uint64_t goodput_bytes = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t lost = 0;
  std::uint64_t naks = 0;  ///< including RNR NAKs
  std::uint64_t cnps = 0;
  bool failed = false;  ///< in the interval

  [[nodiscard]] std::uint64_t trouble() const noexcept {
    return retransmitted + lost + naks + (failed ? 1U : 0U);
  }
};

/// Measures the increase from one reading to the next. Connections are identified by their flows, whose ids
/// never change, as their own may change until both directions are paired.
class LiveMeter {
 public:
  struct Reading {
    LiveTotals total;
    LiveTotals interval;           ///< since the previous reading, or the begin of the capture
    std::int64_t interval_ns = 0;  ///< by the clock of the readings
    std::int64_t elapsed_ns = 0;   ///< since the begin of the capture
    /// Connections with packets in the interval, sorted by trouble, then CNPs, then bytes, largest first.
    std::vector<LiveConnection> connections;
  };

  /// `begin_ns`: when the capture began, by any steady clock.
  explicit LiveMeter(std::int64_t begin_ns) : begin_ns_(begin_ns), last_ns_(begin_ns) {}

  /// `now_ns` by the same clock; at most `top` connections.
  [[nodiscard]] Reading read(const analyze::Snapshot& snapshot, std::int64_t now_ns, std::size_t top);

 private:
  /// Counts of one side at the previous reading.
  struct Side {
    std::uint64_t flow = 0;  ///< id
    std::uint64_t bytes = 0, goodput_bytes = 0, retransmitted = 0, lost = 0, naks = 0, cnps = 0;
    bool failed = false;
  };
  [[nodiscard]] static std::array<Side, 2> sides_of(const analyze::Snapshot& snapshot,
                                                    const analyze::Connection& connection);
  [[nodiscard]] const Side* before(std::uint64_t flow) const noexcept;

  std::int64_t begin_ns_;
  std::int64_t last_ns_;
  LiveTally tally_;
  LiveTotals last_;
  std::vector<Side> sides_;  ///< by flow
};

/// Bits per second; 0 if no time has passed.
[[nodiscard]] double bits_per_second(std::uint64_t bytes, std::int64_t ns) noexcept;
/// "10.0.0.1 QP 0x000011 - 10.0.0.2 QP 0x000022"; "QP ?" if it is unknown.
[[nodiscard]] std::string connection_name(const analyze::Connection& connection);

}  // namespace roce::cli
