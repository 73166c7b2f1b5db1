// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "analyze/base/prefetch.hpp"

namespace roce::analyze {

/// Histogram of values (nanoseconds, bytes) in buckets of equal relative width: 32 per power of two, so
/// that a percentile is right within 3.2 %; minimum and maximum are exact. There may be a hundred thousand
/// histograms, so an empty one is only a pointer. Memory depends on the range of the values and is at most
/// 8 KiB, or 16 KiB if a bucket counts more than 2^32 values. Not thread-safe.
class Histogram {
 public:
  Histogram() noexcept = default;
  Histogram(const Histogram& other);
  Histogram(Histogram&&) noexcept = default;
  Histogram& operator=(const Histogram& other);
  Histogram& operator=(Histogram&&) noexcept = default;
  ~Histogram() = default;

  void add(std::uint64_t value) {
    const std::uint32_t bucket = bucket_of(value);
    if (table_ == nullptr || !table_->count_one(bucket)) add_slowly(bucket, 1);
    Table& t = *table_;
    ++t.count;
    if (value < t.min) t.min = value;
    if (value > t.max) t.max = value;
  }
  void add(std::uint64_t value, std::uint32_t times);
  void merge(const Histogram& other);

  [[nodiscard]] std::uint64_t count() const noexcept { return table_ == nullptr ? 0 : table_->count; }
  [[nodiscard]] std::uint64_t min() const noexcept { return count() == 0 ? 0 : table_->min; }  ///< 0: empty
  [[nodiscard]] std::uint64_t max() const noexcept { return count() == 0 ? 0 : table_->max; }
  /// The percentile for `fraction` (0..1): the middle of its bucket, within [min, max]. 0 when empty.
  [[nodiscard]] std::uint64_t percentile(double fraction) const noexcept;

  /// Prefetches the memory that every add() uses.
  void fetch() const noexcept {
    if (table_ != nullptr) prefetch(table_.get());
  }
  /// Prefetches the count of this value, after fetch().
  void fetch(std::uint64_t value) const noexcept {
    if (table_ != nullptr) table_->fetch(bucket_of(value));
  }

  struct Bucket {
    std::uint64_t from = 0;  ///< first value of the bucket
    std::uint64_t to = 0;    ///< last value
    std::uint64_t count = 0;
  };
  /// The non-empty buckets, ascending.
  [[nodiscard]] std::vector<Bucket> buckets() const;

 private:
  static constexpr unsigned sub_bits = 5;  // 32 buckets a power of two
  static constexpr std::uint32_t sub_count = 1U << sub_bits;

  /// Values below 64 have a bucket each; above, the 5 bits after the highest one select it.
  [[nodiscard]] static constexpr std::uint32_t bucket_of(std::uint64_t value) noexcept {
    if (value < sub_count) return static_cast<std::uint32_t>(value);
    const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1U - sub_bits;
    return (shift << sub_bits) + static_cast<std::uint32_t>(value >> shift);
  }
  static constexpr std::uint32_t bucket_limit = (64 - sub_bits + 1) * sub_count;

  [[nodiscard]] static constexpr std::uint64_t first_of(std::uint32_t bucket) noexcept;
  [[nodiscard]] static constexpr std::uint64_t last_of(std::uint32_t bucket) noexcept;

  /// How the counts are stored: a few as sorted pairs of bucket and count; more as one count for each bucket
  /// of the range, of 8 bits until one overflows, then of 16, 32 and (after days) 64 bits.
  enum class Format : std::uint8_t { pairs, tiny, narrow, wide, huge };
  struct Pair {
    std::uint16_t bucket;
    std::uint16_t count;
  };

  /// Followed in memory by its counts, so that one access finds both.
  struct Table {
    std::uint64_t count = 0;
    std::uint64_t min = ~std::uint64_t{0};
    std::uint64_t max = 0;
    std::uint16_t first = 0;  ///< bucket of the first count; pairs: 0
    std::uint16_t size = 0;   ///< number of counts; pairs: capacity
    std::uint16_t used = 0;   ///< pairs
    Format format = Format::pairs;

    [[nodiscard]] Pair* pairs() noexcept { return reinterpret_cast<Pair*>(this + 1); }
    [[nodiscard]] std::uint8_t* tiny() noexcept { return reinterpret_cast<std::uint8_t*>(this + 1); }
    [[nodiscard]] std::uint16_t* narrow() noexcept { return reinterpret_cast<std::uint16_t*>(this + 1); }
    [[nodiscard]] std::uint32_t* wide() noexcept { return reinterpret_cast<std::uint32_t*>(this + 1); }
    [[nodiscard]] std::uint64_t* huge() noexcept { return reinterpret_cast<std::uint64_t*>(this + 1); }
    /// False if it is not enough to increment the count in its place.
    bool count_one(std::uint32_t bucket) noexcept {
      const std::uint32_t i = bucket - first;  // below `first` it wraps to a large one
      if (i >= size) return false;
      if (format == Format::narrow && narrow()[i] != 0xffff) {
        ++narrow()[i];
        return true;
      }
      if (format == Format::tiny && tiny()[i] != 0xff) {
        ++tiny()[i];
        return true;
      }
      return false;
    }
    /// log2 of a count's size in bytes.
    [[nodiscard]] unsigned shift() const noexcept {
      return static_cast<unsigned>(format) - static_cast<unsigned>(Format::tiny);
    }
    [[nodiscard]] std::uint64_t at(std::uint32_t i) noexcept {
      if (format == Format::huge) [[unlikely]]
        return huge()[i];
      return format == Format::tiny ? tiny()[i] : format == Format::narrow ? narrow()[i] : wide()[i];
    }
    /// False if `n` does not fit into a count.
    bool put(std::uint32_t i, std::uint64_t n) noexcept {
      if (format == Format::huge) {
        huge()[i] = n;
      } else if (format == Format::wide && n <= 0xffff'ffff) {
        wide()[i] = static_cast<std::uint32_t>(n);
      } else if (format == Format::narrow && n <= 0xffff) {
        narrow()[i] = static_cast<std::uint16_t>(n);
      } else if (format == Format::tiny && n <= 0xff) {
        tiny()[i] = static_cast<std::uint8_t>(n);
      } else {
        return false;
      }
      return true;
    }
    void fetch(std::uint32_t bucket) noexcept {
      const std::uint32_t i = bucket - first;
      if (format != Format::pairs && i < size) prefetch(tiny() + (i << shift()));
    }
    template <class Each>
    void for_each(Each each) {
      if (format == Format::pairs) {
        for (std::uint32_t i = 0; i < used; ++i) each(pairs()[i].bucket, std::uint64_t{pairs()[i].count});
        return;
      }
      for (std::uint32_t i = 0; i < size; ++i) {
        const std::uint64_t n = at(i);
        if (n != 0) each(first + i, n);
      }
    }
  };
  struct Free {
    void operator()(Table* table) const noexcept { std::free(table); }
  };
  using Owned = std::unique_ptr<Table, Free>;
  [[nodiscard]] static std::size_t bytes_of(Format format, std::uint32_t size) noexcept;  ///< of the counts
  [[nodiscard]] static Owned make(Format format, std::uint32_t first, std::uint32_t size);

  void add_slowly(std::uint32_t bucket, std::uint64_t n);  ///< adds `n`, with reallocation where needed
  bool add_pair(std::uint32_t bucket, std::uint64_t n);    ///< false: no capacity
  void cover(std::uint32_t bucket, Format format);         ///< extends the range to `bucket`

  Owned table_;
};

}  // namespace roce::analyze
