// SPDX-License-Identifier: Apache-2.0
// Snapshot::series of a part of the capture in finer intervals, from packets that are read again.
#pragma once

#include <cstdint>

#include "analyze/base/series.hpp"
#include "analyze/packet/verdict.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {

/// Counts the packets of a range of time, each with the verdict of an analysis of the whole capture: what was
/// sent again or lost is so because of all of it, not only of the range. Not thread-safe.
class RangeSeries {
 public:
  /// The narrowest intervals, in nanoseconds, that show a range of that length in `parts` intervals or more,
  /// if the series may have as many.
  [[nodiscard]] static std::int64_t width_for(std::int64_t length_ns, std::int64_t parts) noexcept;

  /// From `from_ns` on and before `to_ns`, in intervals of `width_ns` (> 0; wider if that makes too many).
  RangeSeries(std::int64_t from_ns, std::int64_t to_ns, std::int64_t width_ns, bool check_icrc,
              const dissect::Options& dissecting);

  /// The next frame, in any order, with its verdict (null: it has none). Others than of RoCE and those
  /// outside of the range are not counted.
  void see(const capture::Frame& frame, const Verdict* verdict);
  [[nodiscard]] const Series& series() const noexcept { return series_; }

 private:
  Series series_;
  std::int64_t from_ns_;
  std::int64_t to_ns_;
  bool check_icrc_;
  dissect::Options dissecting_;
  dissect::Dissection dissection_;
};

}  // namespace roce::analyze
