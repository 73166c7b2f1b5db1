// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/pause_series.hpp"

#include <algorithm>

namespace roce::analyze {

static_assert(PauseSeries::limit % 2 == 0);

void PauseSeries::widen() {
  width_ *= 2;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    const std::int64_t paused = buckets_[i];
    buckets_[i] = 0;
    buckets_[i / 2] += paused;
  }
  buckets_.resize((buckets_.size() + 1) / 2);
}

void PauseSeries::add(std::int64_t from_ns, std::int64_t to_ns) {
  if (buckets_.empty()) {
    start_ = from_ns;
    buckets_.resize(1);
  }
  if (from_ns < start_) {
    buckets_.front() += std::min(to_ns, start_) - from_ns;
    from_ns = start_;
  }
  if (to_ns <= from_ns) return;
  // Times are at most 2^63 apart, so the loop ends before the width overflows.
  while ((to_ns - 1 - start_) / width_ >= static_cast<std::int64_t>(limit)) widen();
  const auto last = static_cast<std::size_t>((to_ns - 1 - start_) / width_);
  if (last >= buckets_.size()) buckets_.resize(last + 1);
  for (auto i = static_cast<std::size_t>((from_ns - start_) / width_); i <= last; ++i) {
    const std::int64_t begin = start_ + static_cast<std::int64_t>(i) * width_;
    buckets_[i] += std::min(to_ns, begin + width_) - std::max(from_ns, begin);
  }
}

}  // namespace roce::analyze
