// SPDX-License-Identifier: Apache-2.0
#include "analyze/histogram.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <new>

namespace roce::analyze {
namespace {

constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();

/// Room is made in steps, so that a slowly widening range seldom allocates.
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

Histogram::Owned Histogram::make(std::uint32_t first, std::uint32_t size, bool wide) {
  static_assert(bucket_of(std::numeric_limits<std::uint64_t>::max()) == bucket_limit - 1);
  static_assert(bucket_of(63) == 63 && bucket_of(64) == 64 && bucket_of(65) == 64 && bucket_of(66) == 65);
  static_assert(first_of(64) == 64 && last_of(64) == 65 && first_of(bucket_of(1000)) <= 1000);
  static_assert(bucket_limit % step == 0);
  static_assert(sizeof(Table) + bucket_limit * sizeof(std::uint32_t) <= 8192);

  const std::size_t bytes = size * (wide ? sizeof(std::uint32_t) : sizeof(std::uint16_t));
  void* const memory = std::calloc(1, sizeof(Table) + bytes);
  if (memory == nullptr) throw std::bad_alloc();
  Owned table(new (memory) Table);
  table->first = static_cast<std::uint16_t>(first);
  table->size = static_cast<std::uint16_t>(size);
  table->wide = wide ? 1 : 0;
  return table;
}

Histogram::Histogram(const Histogram& other) {
  if (other.table_ != nullptr) merge(other);
}

Histogram& Histogram::operator=(const Histogram& other) {
  if (this != &other) {
    table_.reset();
    merge(other);
  }
  return *this;
}

void Histogram::cover(std::uint32_t from, std::uint32_t to, bool wide) {
  from -= from % step;
  to += step - to % step;
  std::uint32_t first = from;
  std::uint32_t end = to;
  if (table_ != nullptr) {
    first = std::min<std::uint32_t>(from, table_->first);
    end = std::max<std::uint32_t>(to, table_->first + std::uint32_t{table_->size});
    wide = wide || table_->wide != 0;
    if (end - first == table_->size && wide == (table_->wide != 0)) return;
  }
  Owned bigger = make(first, end - first, wide);
  if (table_ != nullptr) {
    bigger->count = table_->count;
    bigger->min = table_->min;
    bigger->max = table_->max;
    const std::uint32_t shift = table_->first - first;
    for (std::uint32_t i = 0; i < table_->size; ++i) {
      if (wide) {
        bigger->wide_counts()[shift + i] = table_->at(i);
      } else {
        bigger->narrow_counts()[shift + i] = table_->narrow_counts()[i];
      }
    }
  }
  table_ = std::move(bigger);
}

void Histogram::make_room(std::uint32_t bucket, std::uint32_t n) {
  const std::uint32_t before =
      table_ != nullptr && bucket - table_->first < table_->size ? table_->at(bucket - table_->first) : 0;
  const std::uint32_t after = before + std::min(n, most - before);
  cover(bucket, bucket, after > 0xffff);
  const std::uint32_t i = bucket - table_->first;
  if (table_->wide != 0) {
    table_->wide_counts()[i] = after;
  } else {
    table_->narrow_counts()[i] = static_cast<std::uint16_t>(after);
  }
}

void Histogram::add(std::uint64_t value, std::uint32_t times) {
  if (times == 0) return;
  make_room(bucket_of(value), times);
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
  cover(from.first, from.first + from.size - 1U, from.wide != 0);
  for (std::uint32_t i = 0; i < from.size; ++i) {
    if (from.at(i) != 0) make_room(from.first + i, from.at(i));
  }
  table_->count += from.count;
  table_->min = std::min(table_->min, from.min);
  table_->max = std::max(table_->max, from.max);
}

std::uint64_t Histogram::percentile(double fraction) const noexcept {
  if (count() == 0) return 0;
  Table& t = *table_;
  if (!(fraction > 0)) return t.min;
  if (fraction >= 1) return t.max;
  std::uint64_t total = 0;  // not the count: a bucket may have saturated
  for (std::uint32_t i = 0; i < t.size; ++i) total += t.at(i);
  // The smallest rank that reaches the fraction. The margin keeps 0.99 of 100 at 99: 0.99 has no
  // exact double.
  const double wanted = fraction * static_cast<double>(total) * (1 - 1e-12);
  std::uint64_t below = 0;
  for (std::uint32_t i = 0; i < t.size; ++i) {
    below += t.at(i);
    if (t.at(i) == 0 || static_cast<double>(below) < wanted) continue;
    const std::uint32_t bucket = t.first + i;
    const std::uint64_t middle = first_of(bucket) + (last_of(bucket) - first_of(bucket)) / 2;
    return std::clamp(middle, t.min, t.max);
  }
  return t.max;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> result;
  if (table_ == nullptr) return result;
  for (std::uint32_t i = 0; i < table_->size; ++i) {
    if (table_->at(i) == 0) continue;
    const std::uint32_t bucket = table_->first + i;
    result.push_back({first_of(bucket), last_of(bucket), table_->at(i)});
  }
  return result;
}

}  // namespace roce::analyze
