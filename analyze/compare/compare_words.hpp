// SPDX-License-Identifier: Apache-2.0
// Texts of a comparison, other than its tables, for the command line and the window.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analyze/compare/compare.hpp"

namespace roce::analyze {

/// Packets, times and drops of one capture, one line each, without its files.
[[nodiscard]] std::vector<std::string> point_lines(const ComparePointFacts& point);

/// Offset and drift of the clocks, one line each.
[[nodiscard]] std::vector<std::string> clock_lines(const CompareResult& result);

/// What the captures do not bear: "the capture at B lacks 94 % of ...". Empty if nothing.
[[nodiscard]] std::string compare_limits_text(const CompareResult& result);

/// One figure of both directions.
struct CompareFigure {
  std::string name;  ///< "lost between"; with `part`: a part of the figure above
  bool part = false;
  std::array<std::string, 2> text;  ///< A to B, B to A
};
/// "lost behind B": for a direction that passes A first.
[[nodiscard]] std::string repeat_cause_text(RepeatCause cause, unsigned direction);
/// The packet that shows the cause: "B packet 4711"; empty without one.
[[nodiscard]] std::string shown_by_text(const RepeatRun& run);
/// Counts and delays. Rare figures are left out if both directions have 0.
[[nodiscard]] std::vector<CompareFigure> compare_figures(const CompareResult& result);

}  // namespace roce::analyze
