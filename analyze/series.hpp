// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roce::analyze {

/// Sums over equal spans of time, bounded: when the buckets do not reach, their width doubles.
class Series {
 public:
  static constexpr std::size_t limit = 2048;
  static constexpr std::int64_t first_width_ns = 1'000'000;

  struct Bucket {
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;          ///< on the wire
    std::uint64_t goodput_bytes = 0;  ///< message bytes, each once
    std::uint64_t retransmitted = 0;  ///< packets
    std::uint32_t in_flight_max = 0;  ///< PSNs of one connection
    std::uint32_t lost = 0;           ///< transmissions
  };

  /// The bucket of a time. Times before the first one fall into the first bucket. The reference lives
  /// until the next call.
  Bucket& at(std::int64_t time_ns);

  [[nodiscard]] std::int64_t start_ns() const noexcept { return start_; }
  [[nodiscard]] std::int64_t width_ns() const noexcept { return width_; }
  [[nodiscard]] const std::vector<Bucket>& buckets() const noexcept { return buckets_; }

 private:
  void widen();

  std::int64_t start_ = 0;
  std::int64_t width_ = first_width_ns;
  std::vector<Bucket> buckets_;
};

}  // namespace roce::analyze
