// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyze/trace/connection_trace.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

// Internal to connection_trace.cpp.
namespace roce::analyze {

/// Collects the pauses of all ports. Counters are in PauseTracker.
class TracedPauses {
 public:
  explicit TracedPauses(std::size_t limit) : limit_(limit) {}

  /// Whether the frame may be PAUSE or PFC, without dissection: Ethernet with at most one tag.
  [[nodiscard]] static bool may_be_one(const capture::Frame& frame) noexcept;
  void see(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& dissection,
           std::uint64_t speed_bps);
  /// Pauses of these priorities (a bit each, bit 8 = PAUSE), by time, ending at `last_ns` at the latest.
  [[nodiscard]] std::vector<TracedPause> finish(std::uint32_t priorities, std::int64_t last_ns);
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  /// Capture point and MAC address, priority.
  using Lane = std::pair<std::uint64_t, std::uint8_t>;

  void pause(std::uint64_t port, std::uint8_t priority, std::uint16_t quanta, std::uint64_t number,
             std::int64_t time_ns, std::uint64_t speed_bps);
  void close(const TracedPause& pause);

  std::size_t limit_;
  std::map<Lane, TracedPause> open_;
  std::vector<TracedPause> closed_;
  std::uint64_t left_out_ = 0;
};

}  // namespace roce::analyze
