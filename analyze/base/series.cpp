// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/series.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

// Any two times must fit into `limit` buckets; the width needed for that fits 63 bits.
static_assert(std::has_single_bit(Series::limit) && Series::limit >= 16);

void fold(Series::Bucket& into, const Series::Bucket& from) noexcept {
  into.packets += from.packets;
  into.bytes += from.bytes;
  into.goodput_bytes += from.goodput_bytes;
  into.retransmitted += from.retransmitted;
  into.in_flight_max = std::max(into.in_flight_max, from.in_flight_max);
  into.undecided += from.undecided;
  into.lost += from.lost;
  into.ce += from.ce;
  into.cnps += from.cnps;
  into.naks += from.naks;
  into.rnr_naks += from.rnr_naks;
}

}  // namespace

// All doublings at once: a jump of centuries costs one pass over the buckets, and a Series has at most 64
// such passes.
void Series::widen(unsigned doublings) {
  width_ <<= doublings;
  for (std::size_t i = 1; i < buckets_.size(); ++i) {
    const std::size_t to = i >> doublings;
    if (to == i) continue;
    const Bucket from = buckets_[i];
    buckets_[i] = {};
    fold(buckets_[to], from);
  }
  if (!buckets_.empty()) buckets_.resize(((buckets_.size() - 1) >> doublings) + 1);
}

void Series::fit_packets() {
  constexpr std::uint64_t of_one = 4;
  std::uint64_t room = 0;
  for (const Bucket& bucket : buckets_) room += of_one * bucket.packets;
  unsigned doublings = 0;
  while (buckets_.size() >> doublings > std::max(room, of_one)) ++doublings;
  widen(doublings);
  current_width_ = 0;
}

void Series::count_undecided_as_lost() noexcept {
  for (Bucket& bucket : buckets_) bucket.lost += std::exchange(bucket.undecided, 0);
}

void Series::leave_losses_undecided() noexcept {
  for (Bucket& bucket : buckets_) {
    constexpr std::uint64_t most = std::numeric_limits<std::uint32_t>::max();
    const std::uint64_t sum = bucket.undecided + std::exchange(bucket.lost, 0);
    bucket.undecided = static_cast<std::uint32_t>(std::min(sum, most));
  }
}

Series Series::of_width(std::int64_t least_ns) const {
  Series wide = *this;
  unsigned doublings = 0;
  while (wide.width_ << doublings < least_ns) ++doublings;
  wide.widen(doublings);
  wide.current_width_ = 0;
  return wide;
}

Series::Bucket& Series::move_to(std::int64_t time_ns) {
  if (buckets_.empty()) buckets_.resize(1);
  if (time_ns == capture::no_time) return buckets_.front();
  if (!started_) {
    started_ = true;
    start_ = time_ns;
  }
  if (time_ns < start_) return buckets_.front();

  const auto start = static_cast<std::uint64_t>(start_);
  const std::uint64_t offset = static_cast<std::uint64_t>(time_ns) - start;
  unsigned doublings = 0;
  while (offset / (static_cast<std::uint64_t>(width_) << doublings) >= limit) ++doublings;
  if (doublings > 0) widen(doublings);

  current_width_ = static_cast<std::uint64_t>(width_);
  current_ = offset / current_width_;
  current_from_ = start + current_ * current_width_;
  // The bucket of the latest possible time ends there, so that times do not wrap around into it.
  const std::uint64_t rest =
      static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) - current_from_;
  current_width_ = std::min(current_width_, rest + 1);
  if (current_ >= buckets_.size()) buckets_.resize(current_ + 1);
  return buckets_[current_];
}

}  // namespace roce::analyze
