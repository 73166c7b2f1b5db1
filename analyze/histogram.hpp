// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace roce::analyze {

/// Counts of values (nanoseconds, bytes) in buckets of equal relative width: 32 a power of two, so
/// that a percentile is right within 3.2 %; smallest and largest are exact. Memory follows the range
/// of the values seen and never passes 8 KiB.
class Histogram {
 public:
  void add(std::uint64_t value);
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t min() const noexcept { return min_; }  ///< 0 when empty
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }
  /// The value that `fraction` (0..1) of the values do not exceed; the middle of its bucket, never
  /// outside [min, max]. 0 when empty.
  [[nodiscard]] std::uint64_t percentile(double fraction) const noexcept;

  /// Asks for the memory that a value like the last one will touch.
  void fetch() const noexcept {
    if (last_ < counts_.size()) __builtin_prefetch(&counts_[last_], 1);
  }

  struct Bucket {
    std::uint64_t from = 0;  ///< first value of the bucket
    std::uint64_t to = 0;    ///< last value
    std::uint64_t count = 0;
  };
  /// The buckets that hold something, ascending.
  [[nodiscard]] std::vector<Bucket> buckets() const;

 private:
  void cover(std::uint32_t from, std::uint32_t to);  ///< room for these buckets

  std::uint64_t count_ = 0;
  std::uint64_t min_ = 0;
  std::uint64_t max_ = 0;
  std::uint32_t first_ = 0;            ///< bucket number of counts_[0]
  std::uint32_t last_ = 0;             ///< place in counts_ of the value added last
  std::vector<std::uint32_t> counts_;  ///< saturating
};

}  // namespace roce::analyze
