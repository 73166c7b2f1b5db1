// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roce::analyze {

/// Sums over equal intervals of time, for graphs. At most `limit` buckets: their width doubles when the range
/// of time exceeds them. Not thread-safe.
class Series {
 public:
  static constexpr std::size_t limit = 2048;
  static constexpr std::int64_t first_width_ns = 1000;  ///< so that milliseconds of capture show their bursts

  struct Bucket {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;          ///< on the wire
    std::uint64_t goodput_bytes = 0;  ///< message bytes without retransmissions
    std::uint64_t retransmitted = 0;  ///< packets
    std::uint32_t in_flight_max = 0;  ///< maximum of one connection, in PSNs
    std::uint32_t undecided = 0;      ///< transmissions that were lost or not captured, in no `lost`
    std::uint64_t lost = 0;           ///< transmissions
    std::uint64_t ce = 0;             ///< CE-marked packets of connections
    std::uint64_t cnps = 0;           ///< CNPs to connections
    std::uint32_t naks = 0;           ///< NAKs of connections, without RNR NAKs
    std::uint32_t rnr_naks = 0;
  };

  /// The bucket of a time. Earlier times than the first one, and frames without a time (capture::no_time),
  /// go into the first bucket. The reference is valid until the next call.
  Bucket& at(std::int64_t time_ns) {
    // Unsigned, so that no pair of times overflows. Nearly always it is the bucket of the packet before.
    const std::uint64_t offset = static_cast<std::uint64_t>(time_ns) - current_from_;
    if (offset < current_width_) return buckets_[current_];
    return move_to(time_ns);
  }

  Series() = default;
  /// That begins there, with buckets of that width (> 0) until they exceed `limit`: for part of a capture.
  Series(std::int64_t start_ns, std::int64_t width_ns) : start_(start_ns), width_(width_ns), started_(true) {}

  /// Where the first bucket begins, the time of the first call or as given; 0 while there is none.
  [[nodiscard]] std::int64_t start_ns() const noexcept { return start_; }
  [[nodiscard]] std::int64_t width_ns() const noexcept { return width_; }
  [[nodiscard]] const std::vector<Bucket>& buckets() const noexcept { return buckets_; }
  /// Widens them until there are four to a packet at most: a few packets have no fine course.
  void fit_packets();
  /// Of all buckets: what was left open was lost, or the other way round.
  void count_undecided_as_lost() noexcept;
  void leave_losses_undecided() noexcept;
  /// The same with buckets of at least that width (> 0).
  [[nodiscard]] Series of_width(std::int64_t least_ns) const;

 private:
  Bucket& move_to(std::int64_t time_ns);
  void widen(unsigned doublings);

  std::int64_t start_ = 0;
  std::int64_t width_ = first_width_ns;
  std::uint64_t current_from_ = 0;   ///< begin of the last call's bucket
  std::uint64_t current_width_ = 0;  ///< 0: there is none
  std::size_t current_ = 0;
  bool started_ = false;  ///< start_ is the time of a frame
  std::vector<Bucket> buckets_;
};

}  // namespace roce::analyze
