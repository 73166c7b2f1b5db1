// SPDX-License-Identifier: Apache-2.0
#include "gui/models/row_changes.hpp"

#include <algorithm>
#include <cstddef>

namespace roce::gui {
namespace {

/// Which old rows stay: a longest increasing subsequence of their places.
std::vector<bool> staying(const std::vector<int>& places) {
  std::vector<std::size_t> ends;  // by length - 1: the row that ends the best subsequence of that length
  std::vector<std::size_t> before(places.size());
  constexpr auto none = static_cast<std::size_t>(-1);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < 0) continue;
    const auto at = std::lower_bound(ends.begin(), ends.end(), places[i],
                                     [&](std::size_t row, int place) { return places[row] < place; });
    before[i] = at == ends.begin() ? none : *(at - 1);
    if (at == ends.end()) {
      ends.push_back(i);
    } else {
      *at = i;
    }
  }
  std::vector<bool> stays(places.size());
  for (std::size_t i = ends.empty() ? none : ends.back(); i != none; i = before[i]) stays[i] = true;
  return stays;
}

/// The runs of rows that are not marked.
std::vector<RowRun> unmarked(const std::vector<bool>& marked) {
  std::vector<RowRun> runs;
  for (std::size_t i = 0; i < marked.size(); ++i) {
    if (marked[i]) continue;
    const int row = static_cast<int>(i);
    if (!runs.empty() && runs.back().last == row - 1) {
      runs.back().last = row;
    } else {
      runs.push_back({row, row});
    }
  }
  return runs;
}

}  // namespace

RowChanges row_changes(const std::vector<int>& places, int new_count) {
  const std::vector<bool> stays = staying(places);
  std::vector<bool> kept(static_cast<std::size_t>(new_count));
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (stays[i]) kept[static_cast<std::size_t>(places[i])] = true;
  }
  RowChanges changes{unmarked(stays), unmarked(kept)};
  std::reverse(changes.removed.begin(), changes.removed.end());
  return changes;
}

}  // namespace roce::gui
