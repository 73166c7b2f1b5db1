// SPDX-License-Identifier: Apache-2.0
// The figures of a capture that runs: counters that only rise, what they rose by in an interval, and the
// connections with most trouble in it. Summaries, the screen and metrics all show these.
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

/// Counted since the capture began, also of connections that have left the tables since.
struct LiveTotals {
  std::uint64_t packets = 0;  ///< analysed: frames of any kind
  std::uint64_t bytes = 0;    ///< of them, on the wire
  std::uint64_t dropped = 0;  ///< lost while capturing: never analysed
  std::uint64_t roce_packets = 0;
  std::uint64_t roce_bytes = 0;     ///< on the wire
  std::uint64_t goodput_bytes = 0;  ///< message bytes, each once
  std::uint64_t retransmitted = 0;  ///< packets
  std::uint64_t lost = 0;           ///< transmissions
  std::uint64_t ce = 0;             ///< RoCE packets marked Congestion Experienced
  std::uint64_t cnps = 0;
  std::uint64_t icrc_mismatches = 0;
  std::uint64_t pauses = 0;     ///< PAUSE and PFC, of all ports and priorities; refreshes are no new ones
  std::uint64_t paused_ns = 0;  ///< their sum
};

struct LiveCounter {
  std::string_view name;  ///< snake_case, stable: a key of JSON
  std::uint64_t LiveTotals::*value;
};
/// One row a member of LiveTotals, in their order.
[[nodiscard]] std::span<const LiveCounter> live_counters() noexcept;

/// Sums up each snapshot of a capture, so that no total ever falls: a count that later packets corrected
/// downwards waits until it is reached again. What has left the tables is in the snapshots.
class LiveTally {
 public:
  /// To be given the snapshots in their order.
  [[nodiscard]] LiveTotals add(const analyze::Snapshot& snapshot);

 private:
  LiveTotals last_;
};
/// What they rose by.
[[nodiscard]] LiveTotals risen(const LiveTotals& now, const LiveTotals& before) noexcept;

/// By analyze::Connection::State.
using ConnectionCounts = std::array<std::uint64_t, 4>;
[[nodiscard]] ConnectionCounts connection_counts(const analyze::Snapshot& snapshot) noexcept;

/// One of the connections to look at first, with what happened to it in the interval.
struct LiveConnection {
  std::size_t index = 0;  ///< in Snapshot::connections
  std::uint64_t bytes = 0;
  std::uint64_t goodput_bytes = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t lost = 0;
  std::uint64_t naks = 0;  ///< RNR NAKs too
  std::uint64_t cnps = 0;
  bool failed = false;  ///< since the reading before

  [[nodiscard]] std::uint64_t trouble() const noexcept {
    return retransmitted + lost + naks + (failed ? 1U : 0U);
  }
};

/// Says what happened from one reading to the next. Connections are told apart by their flows, whose ids
/// stay, while their own may change until both directions are known.
class LiveMeter {
 public:
  struct Reading {
    LiveTotals total;
    LiveTotals interval;           ///< since the reading before, or the beginning
    std::int64_t interval_ns = 0;  ///< by the clock of the readings
    std::int64_t elapsed_ns = 0;   ///< since the beginning
    /// Those that moved, with most trouble first, then most CNPs, then most bytes.
    std::vector<LiveConnection> connections;
  };

  /// `begin_ns`: when the capture began, by any steady clock.
  explicit LiveMeter(std::int64_t begin_ns) : begin_ns_(begin_ns), last_ns_(begin_ns) {}

  /// `now_ns` by the same clock; at most `top` connections.
  [[nodiscard]] Reading read(const analyze::Snapshot& snapshot, std::int64_t now_ns, std::size_t top);

 private:
  /// What one side had done at the reading before.
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

/// Bits a second; 0 where no time passed.
[[nodiscard]] double bits_per_second(std::uint64_t bytes, std::int64_t ns) noexcept;
/// "10.0.0.1 QP 0x000011 - 10.0.0.2 QP 0x000022"; "QP ?" where it is unknown.
[[nodiscard]] std::string connection_name(const analyze::Connection& connection);

}  // namespace roce::cli
