// SPDX-License-Identifier: Apache-2.0
#include "analyze/histogram.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace roce::analyze {
namespace {

constexpr unsigned sub_bits = 5;  // 32 buckets a power of two
constexpr std::uint32_t sub_count = 1U << sub_bits;
constexpr std::uint32_t bucket_limit = (64 - sub_bits + 1) * sub_count;
static_assert(bucket_limit * sizeof(std::uint32_t) <= 8192);

/// Room is made in steps of a cache line, so that a slowly widening range seldom allocates.
constexpr std::uint32_t step = 16;
static_assert(bucket_limit % step == 0);

/// Values below 64 have a bucket each; above, the 5 bits behind the highest one count.
constexpr std::uint32_t bucket_of(std::uint64_t value) noexcept {
  if (value < sub_count) return static_cast<std::uint32_t>(value);
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1U - sub_bits;
  return (shift << sub_bits) + static_cast<std::uint32_t>(value >> shift);
}

constexpr std::uint64_t first_of(std::uint32_t bucket) noexcept {
  if (bucket < 2 * sub_count) return bucket;
  const unsigned shift = (bucket >> sub_bits) - 1U;
  return std::uint64_t{(bucket & (sub_count - 1U)) + sub_count} << shift;
}

constexpr std::uint64_t last_of(std::uint32_t bucket) noexcept {
  return bucket + 1 >= bucket_limit ? std::numeric_limits<std::uint64_t>::max() : first_of(bucket + 1) - 1;
}

static_assert(bucket_of(std::numeric_limits<std::uint64_t>::max()) == bucket_limit - 1);
static_assert(bucket_of(63) == 63 && bucket_of(64) == 64 && bucket_of(65) == 64 && bucket_of(66) == 65);
static_assert(first_of(64) == 64 && last_of(64) == 65 && first_of(bucket_of(1000)) <= 1000);

void add_saturating(std::uint32_t& to, std::uint64_t n) noexcept {
  constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
  to = static_cast<std::uint32_t>(std::min(most, to + std::min(n, most)));
}

}  // namespace

void Histogram::cover(std::uint32_t from, std::uint32_t to) {
  from -= from % step;
  to += step - to % step;
  if (counts_.empty()) {
    counts_.assign(to - from, 0);
    first_ = from;
    return;
  }
  const std::uint32_t first = std::min(from, first_);
  const std::uint32_t end = std::max(to, first_ + static_cast<std::uint32_t>(counts_.size()));
  if (end - first == counts_.size()) return;
  std::vector<std::uint32_t> wider(end - first, 0);  // no more than needed: there may be 100 000 of us
  std::copy(counts_.begin(), counts_.end(), wider.begin() + (first_ - first));
  counts_ = std::move(wider);
  first_ = first;
}

void Histogram::add(std::uint64_t value) {
  const std::uint32_t bucket = bucket_of(value);
  if (bucket - first_ >= counts_.size()) cover(bucket, bucket);  // below first_ it wraps to a large one
  last_ = bucket - first_;
  add_saturating(counts_[last_], 1);
  if (count_++ == 0) min_ = max_ = value;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  cover(other.first_, other.first_ + static_cast<std::uint32_t>(other.counts_.size()) - 1);
  // By index and not by iterator: `other` may be this one.
  for (std::size_t i = 0, n = other.counts_.size(), at = other.first_ - first_; i < n; ++i) {
    add_saturating(counts_[at + i], other.counts_[i]);
  }
  min_ = count_ == 0 ? other.min_ : std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  count_ += other.count_;
}

std::uint64_t Histogram::percentile(double fraction) const noexcept {
  if (!(fraction > 0)) return min_;
  if (fraction >= 1) return max_;
  std::uint64_t total = 0;  // not count_: a bucket may have saturated
  for (const std::uint32_t count : counts_) total += count;
  // The smallest rank that reaches the fraction. The margin keeps 0.99 of 100 at 99: 0.99 has no
  // exact double.
  const double wanted = fraction * static_cast<double>(total) * (1 - 1e-12);
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    below += counts_[i];
    if (counts_[i] == 0 || static_cast<double>(below) < wanted) continue;
    const auto bucket = static_cast<std::uint32_t>(first_ + i);
    const std::uint64_t middle = first_of(bucket) + (last_of(bucket) - first_of(bucket)) / 2;
    return std::clamp(middle, min_, max_);
  }
  return max_;
}

std::vector<Histogram::Bucket> Histogram::buckets() const {
  std::vector<Bucket> result;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const auto bucket = static_cast<std::uint32_t>(first_ + i);
    result.push_back({first_of(bucket), last_of(bucket), counts_[i]});
  }
  return result;
}

}  // namespace roce::analyze
