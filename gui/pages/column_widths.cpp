// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/column_widths.hpp"

#include <algorithm>
#include <numeric>

namespace roce::gui {
namespace {

int sum(const std::vector<int>& widths) {
  return std::accumulate(widths.begin(), widths.end(), 0);
}

/// Widths with text columns limited to `widest_text`.
std::vector<int> cut_at(const std::vector<ColumnWidth>& columns, int widest_text) {
  std::vector<int> widths;
  for (const ColumnWidth& column : columns)
    widths.push_back(column.text ? std::min(column.least, widest_text) : column.least);
  return widths;
}

}  // namespace

std::vector<int> column_widths(const std::vector<ColumnWidth>& columns, int room) {
  std::vector<int> wanted;
  int widest = narrowest_text;
  for (const ColumnWidth& column : columns) {
    wanted.push_back(column.wanted);
    if (column.text) widest = std::max(widest, column.least);
  }
  if (sum(wanted) <= room || sum(cut_at(columns, narrowest_text)) > room) return wanted;
  int low = narrowest_text;  // this fits
  while (low < widest) {
    const int middle = low + (widest - low + 1) / 2;
    if (sum(cut_at(columns, middle)) <= room) {
      low = middle;
    } else {
      widest = middle - 1;
    }
  }
  // The rest is distributed evenly as margins; the last column takes the remainder.
  std::vector<int> widths = cut_at(columns, low);
  const int air = widths.empty() ? 0 : (room - sum(widths)) / static_cast<int>(widths.size());
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == columns[i].least)
      widths[i] += std::min(air, std::max(0, columns[i].wanted - columns[i].least));
  }
  return widths;
}

}  // namespace roce::gui
