// SPDX-License-Identifier: Apache-2.0
// How much of what was sent the capture shows: what analyze/results/completeness.hpp judges the capture by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "capture/core/frame.hpp"

namespace roce::analyze {

/// Of requests and the responses to them. Each PSN is carried by one packet: a request, or one of the
/// responses to a READ. Packets that a filter leaves out count too: the capture has them.
struct Coverage {
  std::uint64_t spaces = 0;     ///< PSN spaces with such packets
  std::uint64_t span = 0;       ///< PSNs that were sent, from the first to the last captured one
  std::uint64_t firsts = 0;     ///< of these, captured when they were first sent
  std::uint64_t responses = 0;  ///< of `firsts`, responses to READs
  std::uint64_t refilled = 0;   ///< captured only when they were sent again
  std::uint64_t repeats = 0;    ///< packets that were sent again, captured before or not
  std::uint64_t breaks = 0;     ///< packets that show that what was sent just before them was not captured
  std::uint64_t breaks_at_start = 0;   ///< of these, first packets of messages
  std::uint64_t copies = 0;            ///< packets that the capture shows once more
  std::uint64_t copies_elsewhere = 0;  ///< of these, with another TTL, MAC address, VLAN or tunnel

  void add(const Coverage& other) noexcept {
    spaces += other.spaces;
    span += other.span;
    firsts += other.firsts;
    responses += other.responses;
    refilled += other.refilled;
    repeats += other.repeats;
    breaks += other.breaks;
    breaks_at_start += other.breaks_at_start;
    copies += other.copies;
    copies_elsewhere += other.copies_elsewhere;
  }
};

/// PSNs in a row that are missing in the capture, and were delivered, or may have been.
struct UnseenRow {
  std::uint64_t before = 0;  ///< number of the last frame before them; 0: not known
  std::uint64_t frame = 0;   ///< of the packet behind them
  std::int64_t before_ns = capture::no_time;
  std::int64_t ns = capture::no_time;
  std::uint64_t psns = 0;
  bool delivered = true;  ///< false: nobody says so (UC, and what go-back-N sends again anyway)
  bool odd = false;       ///< the same, but nobody asked for it, and no so many are missing elsewhere
};

/// From one packet of a sequence to the next one that was captured.
struct SequenceStep {
  std::uint64_t missing = 0;  ///< PSNs between them
  std::uint64_t frames = 0;   ///< of the capture: 1 for the next one
};

/// What the capture does not have, of all connections. The first rows and steps are enough to judge it by.
struct CaptureGaps {
  static constexpr std::size_t kept = 4096;
  Coverage acknowledged;    ///< RC and XRC
  Coverage unacknowledged;  ///< UC: what is missing may as well be lost
  std::vector<UnseenRow> rows;
  std::vector<SequenceStep> steps;

  bool add(const UnseenRow& row) {
    if (rows.size() >= kept) return false;
    rows.push_back(row);
    return true;
  }
  void add(const SequenceStep& step) {
    if (steps.size() < kept) steps.push_back(step);
  }
};

}  // namespace roce::analyze
