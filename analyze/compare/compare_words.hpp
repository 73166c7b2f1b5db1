// SPDX-License-Identifier: Apache-2.0
// What people are told of a comparison, beside its tables: the same words on the terminal and in the window.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "analyze/compare/compare.hpp"

namespace roce::analyze {

/// Packets, times and drops of one capture, a line each; its files are not among them.
[[nodiscard]] std::vector<std::string> point_lines(const ComparePointFacts& point);

/// What is known of the clocks' offset and drift, a line each.
[[nodiscard]] std::vector<std::string> clock_lines(const CompareResult& result);

/// One thing that is said of both directions.
struct CompareFigure {
  std::string name;  ///< "lost between"; of the line above it where `part`
  bool part = false;
  std::array<std::string, 2> text;  ///< A to B, B to A
};
/// Counts and delays. Rare things are left out where neither direction has them.
[[nodiscard]] std::vector<CompareFigure> compare_figures(const CompareResult& result);

}  // namespace roce::analyze
