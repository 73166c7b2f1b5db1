// SPDX-License-Identifier: Apache-2.0
// PSNs that requests take, as ranges that may overlap: those of a READ are all of its responses'.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <utility>

#include "analyze/episode/scratch.hpp"

// Internal to the tracker.
namespace roce::analyze::episode {

class Ranges {
 public:
  void add(std::int64_t first, std::int64_t end) { ranges_.emplace_back(first, end); }
  /// Once, when all are added.
  void settle() {
    if (!std::is_sorted(ranges_.begin(), ranges_.end())) std::sort(ranges_.begin(), ranges_.end());
    for (std::size_t i = 1; i < ranges_.size(); ++i)
      ranges_[i].second = std::max(ranges_[i].second, ranges_[i - 1].second);
  }
  [[nodiscard]] bool hold(std::int64_t psn) const noexcept { return psn < end_of_those_before(psn + 1); }
  /// Within one of them, behind its first: no request of its own has that PSN.
  [[nodiscard]] bool within(std::int64_t psn) const noexcept { return psn < end_of_those_before(psn); }

 private:
  /// The furthest end of those that begin before `psn`.
  [[nodiscard]] std::int64_t end_of_those_before(std::int64_t psn) const noexcept {
    const auto behind =
        std::partition_point(ranges_.begin(), ranges_.end(), [psn](const auto& r) { return r.first < psn; });
    return behind == ranges_.begin() ? std::numeric_limits<std::int64_t>::min() : std::prev(behind)->second;
  }

  List<std::pair<std::int64_t, std::int64_t>> ranges_;  ///< by first, each with the furthest end up to it
};

}  // namespace roce::analyze::episode
