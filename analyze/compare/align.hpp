// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/point_reader.hpp"
#include "analyze/compare/sent_before.hpp"

// Internal to compare: where two captures begin to show the same, whatever their clocks say.
namespace roce::analyze {

struct Alignment {
  bool found = false;
  std::int64_t shift_ns = 0;         ///< B's clock minus A's, roughly
  bool doubled[2] = {false, false};  ///< the capture has its packets twice
};

/// Looks for packets of one beginning in the other capture, in its beginning first and where there are none,
/// if it can be opened again, in all of it. Tells for pairs of addresses in `book` in which order they pass.
[[nodiscard]] Alignment align(PointReader& a, PointReader& b, const ComparePoint& again_a,
                              const ComparePoint& again_b, const CompareOptions& options, FlowBook& book);

}  // namespace roce::analyze
