// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/point_reader.hpp"
#include "analyze/compare/sent_before.hpp"

// Internal to compare: finds where two captures begin to show the same packets, independent of their clocks.
namespace roce::analyze {

struct Alignment {
  bool found = false;
  std::int64_t shift_ns = 0;         ///< B's clock minus A's, approximately
  bool doubled[2] = {false, false};  ///< the capture has its packets twice
};

/// Searches packets of one capture's beginning in the other capture: in its beginning first, then in all of
/// it if it can be reopened. Records in `book` the order in which pairs of addresses pass the points.
[[nodiscard]] Alignment align(PointReader& a, PointReader& b, const ComparePoint& again_a,
                              const ComparePoint& again_b, const CompareOptions& options, SentBefore& book);

}  // namespace roce::analyze
