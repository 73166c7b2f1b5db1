// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/histogram.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>
#include <type_traits>

namespace roce::analyze {
namespace {

/// Capacity grows in steps, so that a slowly widening range seldom allocates.
constexpr std::uint32_t step = 16;

}  // namespace

constexpr std::uint64_t Histogram::first_of(std::uint32_t bucket) noexcept {
  if (bucket < 2 * sub_count) return bucket;
  const unsigned shift = (bucket >> sub_bits) - 1U;
  return std::uint64_t{(bucket & (sub_count - 1U)) + sub_count} << shift;
}

constexpr std::uint64_t Histogram::last_of(std::uint32_t bucket) noexcept {
  return bucket + 1 >= bucket_limit ? std::numeric_limits<std::uint64_t>::max() : first_of(bucket + 1) - 1;
}

std::size_t Histogram::bytes_of(Format format, std::uint32_t size) noexcept {
  constexpr std::size_t bytes[] = {sizeof(Pair), sizeof(std::uint8_t), sizeof(std::uint16_t),
                                   sizeof(std::uint32_t), sizeof(std::uint64_t)};
  return size * bytes[static_cast<std::size_t>(format)];
}

Histogram::Owned Histogram::make(Format format, std::uint32_t first, std::uint32_t size) {
  static_assert(bucket_of(std::numeric_limits<std::uint64_t>::max()) == bucket_limit - 1);
  static_assert(bucket_of(63) == 63 && bucket_of(64) == 64 && bucket_of(65) == 64 && bucket_of(66) == 65);
  static_assert(first_of(64) == 64 && last_of(64) == 65 && first_of(bucket_of(1000)) <= 1000);
  static_assert(bucket_limit % step == 0);
  static_assert(sizeof(Table) + bucket_limit * sizeof(std::uint32_t) <= 8192);
  static_assert(sizeof(Table) % sizeof(std::uint64_t) == 0);

  void* const memory = std::calloc(1, sizeof(Table) + bytes_of(format, size));
  if (memory == nullptr) throw std::bad_alloc();
  Owned table(new (memory) Table);
  table->first = static_cast<std::uint16_t>(first);
  table->size = static_cast<std::uint16_t>(size);
  table->format = format;
  return table;
}

Histogram::Histogram(const Histogram& other) {
  static_assert(std::is_trivially_copyable_v<Table>);
  if (other.table_ == nullptr) return;
  const Table& t = *other.table_;
  table_ = make(t.format, t.first, t.size);
  std::memcpy(static_cast<void*>(table_.get()), &t, sizeof t + bytes_of(t.format, t.size));
}

Histogram& Histogram::operator=(const Histogram& other) {
  if (this != &other) *this = Histogram(other);
  return *this;
}

void Histogram::cover(std::uint32_t bucket, Format format) {
  Table& t = *table_;
  std::uint32_t first = bucket;
  std::uint32_t end = bucket + 1;
  format = std::max(format, t.format);
  t.for_each([&](std::uint32_t each, std::uint64_t n) {
    first = std::min(first, each);
    end = std::max(end, each + 1);
    if (n > 0xff) format = std::max(format, Format::narrow);  // of a pair
  });
  first -= first % step;
  end += (step - end % step) % step;
  Owned bigger = make(format, first, end - first);
  bigger->count = t.count;
  bigger->min = t.min;
  bigger->max = t.max;
  t.for_each([&](std::uint32_t each, std::uint64_t n) { bigger->put(each - first, n); });
  table_ = std::move(bigger);
}

bool Histogram::add_pair(std::uint32_t bucket, std::uint64_t n) {
  Table& t = *table_;
  Pair* const begin = t.pairs();
  Pair* const end = begin + t.used;
  Pair* const at =
      std::lower_bound(begin, end, bucket, [](const Pair& pair, std::uint32_t b) { return pair.bucket < b; });
  const std::uint32_t before = at != end && at->bucket == bucket ? at->count : 0;
  if (n > 0xffff - before) return false;
  if (before == 0) {
    if (t.used == t.size) return false;
    std::copy_backward(at, end, end + 1);
    ++t.used;
    *at = {static_cast<std::uint16_t>(bucket), 0};
  }
  at->count = static_cast<std::uint16_t>(before + n);
  return true;
}

void Histogram::add_slowly(std::uint32_t bucket, std::uint64_t n) {
  constexpr std::uint32_t first_pairs = 2, most_pairs = 32;  // most have one size, or one delay
  if (table_ == nullptr) table_ = make(Format::pairs, 0, first_pairs);
  if (table_->format == Format::pairs) {
    if (add_pair(bucket, n)) return;
    if (table_->used == table_->size && table_->size < most_pairs && n <= 0xffff) {
      Owned bigger = make(Format::pairs, 0, table_->size * 2U);
      bigger->count = table_->count;
      bigger->min = table_->min;
      bigger->max = table_->max;
      bigger->used = table_->used;
      std::copy_n(table_->pairs(), table_->used, bigger->pairs());
      table_ = std::move(bigger);
      if (add_pair(bucket, n)) return;
    }
  }
  if (table_->format == Format::pairs || bucket - table_->first >= table_->size) cover(bucket, Format::tiny);
  for (;;) {
    const std::uint32_t i = bucket - table_->first;
    if (table_->put(i, table_->at(i) + n)) return;
    cover(bucket, static_cast<Format>(static_cast<unsigned>(table_->format) + 1U));
  }
}

void Histogram::add(std::uint64_t value, std::uint32_t times) {
  if (times == 0) return;
  add_slowly(bucket_of(value), times);
  table_->count += times;
  table_->min = std::min(table_->min, value);
  table_->max = std::max(table_->max, value);
}

void Histogram::merge(const Histogram& other) {
  if (other.count() == 0) return;
  if (&other == this) {
    const Histogram copy(other);
    merge(copy);
    return;
  }
  Table& from = *other.table_;
  from.for_each([this](std::uint32_t bucket, std::uint64_t n) { add_slowly(bucket, n); });
  table_->count += from.count;
  table_->min = std::min(table_->min, from.min);
  table_->max = std::max(table_->max, from.max);
}

std::uint64_t Histogram::percentile(double fraction) const noexcept {
  if (count() == 0) return 0;
  Table& t = *table_;
  if (!(fraction > 0)) return t.min;
  if (fraction >= 1) return t.max;
  // The smallest rank that reaches the fraction. The margin keeps 0.99 of 100 at 99: 0.99 has no
  // exact double.
  const double wanted = fraction * static_cast<double>(t.count) * (1 - 1e-12);
  std::uint64_t below = 0;
  std::uint64_t value = t.max;
  bool reached = false;
  t.for_each([&](std::uint32_t bucket, std::uint64_t n) {
    below += n;
    if (reached || static_cast<double>(below) < wanted) return;
    reached = true;
    value = first_of(bucket) + (last_of(bucket) - first_of(bucket)) / 2;
  });
  return std::clamp(value, t.min, t.max);
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> result;
  if (table_ == nullptr) return result;
  table_->for_each([&](std::uint32_t bucket, std::uint64_t n) {
    result.push_back({first_of(bucket), last_of(bucket), n});
  });
  return result;
}

}  // namespace roce::analyze
