// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "analyze/base/lazy.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// Where a capture shows everything twice, and nothing on a packet tells, the order does: copies come in the
/// order in which the packets were sent, each after about the same time. A sender that repeats begins
/// elsewhere, at what was lost. PSNs are extended, see PsnSpace.
class CopyQueue {
 public:
  static constexpr std::int64_t unknown_ns = -1;

  /// The PSN of the first request of all.
  void begin(std::int64_t first) noexcept { next_ = first; }
  /// Nothing is copied.
  void stop() noexcept {
    next_ = -1;
    taken_ = 0;
    moved_ = {};
  }
  /// Whether the capture is known to show everything twice.
  [[nodiscard]] bool sure() const noexcept { return taken_ >= enough; }
  /// Whether a packet of before may be the copy that comes next, so long after the first of it was seen.
  [[nodiscard]] bool fits(std::int64_t psn, std::int64_t lag_ns) const noexcept;
  /// Whether an answer may be the copy of one with its PSN that was seen so long ago.
  [[nodiscard]] bool may_be_answers(std::int64_t lag_ns) const noexcept {
    return sure() && lag_ns != unknown_ns && lag_fits(lag_ns);
  }
  /// It is: those before it will not come any more.
  void take(std::int64_t psn, std::int64_t count, std::int64_t lag_ns);
  /// Sent, or captured, behind others with higher PSNs; `next`: behind the highest so far. `again`: for the
  /// second time here.
  void out_of_turn(std::int64_t psn, std::int64_t count, std::int64_t next, bool again);

 private:
  static constexpr std::uint32_t enough = 4;
  static constexpr std::size_t kept_early = 8;  ///< while no copy has come
  static constexpr std::size_t kept = 256;

  struct Sent {
    std::int64_t from = 0;
    std::int64_t to = 0;
    std::int64_t at = 0;  ///< it came when everything before this had been sent
    bool again = false;
  };
  [[nodiscard]] bool lag_fits(std::int64_t lag_ns) const noexcept;
  [[nodiscard]] const Sent* front() const noexcept;
  void skip_moved() noexcept;

  std::int64_t next_ = -1;  ///< of those that were sent in their turn; -1: none, or not copied
  std::uint32_t taken_ = 0;
  std::uint32_t least_lag_ns_ = 0;
  std::uint32_t most_lag_ns_ = 0;  ///< 0: none known
  Lazy<std::deque<Sent>> moved_;
};

}  // namespace roce::analyze
