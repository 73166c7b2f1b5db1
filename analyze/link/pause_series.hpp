// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roce::analyze {

/// Paused time per interval. At most `limit` buckets: their width doubles when the range of time exceeds
/// them. The result depends only on the pauses, not on other traffic. Not thread-safe.
class PauseSeries {
 public:
  static constexpr std::size_t limit = 512;
  static constexpr std::int64_t first_width_ns = 1024;

  /// Adds a pause; 0 <= from_ns <= to_ns <= PacketRecord::latest_ns. The first bucket begins with the first
  /// pause; earlier pauses are added to it.
  void add(std::int64_t from_ns, std::int64_t to_ns);

  /// Begin of the first bucket; 0 while there is none.
  [[nodiscard]] std::int64_t start_ns() const noexcept { return start_; }
  [[nodiscard]] std::int64_t width_ns() const noexcept { return width_; }
  /// Paused nanoseconds of each bucket; in the first one they may exceed its width.
  [[nodiscard]] const std::vector<std::int64_t>& buckets() const noexcept { return buckets_; }

 private:
  void widen();

  std::int64_t start_ = 0;
  std::int64_t width_ = first_width_ns;
  std::vector<std::int64_t> buckets_;
};

}  // namespace roce::analyze
