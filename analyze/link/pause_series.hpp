// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roce::analyze {

/// How much of each span of time was paused, bounded: when the buckets do not reach, their width doubles.
/// What is kept depends on the pauses alone. Not thread-safe.
class PauseSeries {
 public:
  static constexpr std::size_t limit = 512;
  static constexpr std::int64_t first_width_ns = 1024;

  /// A pause from one time to another, both between 0 and PacketRecord::latest_ns and `to` not before `from`.
  /// The first bucket begins with the first pause, and takes what lies before it.
  void add(std::int64_t from_ns, std::int64_t to_ns);

  /// Where the first bucket begins; 0 while there is none.
  [[nodiscard]] std::int64_t start_ns() const noexcept { return start_; }
  [[nodiscard]] std::int64_t width_ns() const noexcept { return width_; }
  /// Paused nanoseconds of each; of the first one they may be more than its width.
  [[nodiscard]] const std::vector<std::int64_t>& buckets() const noexcept { return buckets_; }

 private:
  void widen();

  std::int64_t start_ = 0;
  std::int64_t width_ = first_width_ns;
  std::vector<std::int64_t> buckets_;
};

}  // namespace roce::analyze
