// SPDX-License-Identifier: Apache-2.0
#include "gui/models/row_changes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace roce::gui {
namespace {

/// Does what a model does with the changes.
std::vector<int> applied(std::vector<int> rows, const RowChanges& changes, const std::vector<int>& next) {
  for (const RowRun& run : changes.removed) rows.erase(rows.begin() + run.first, rows.begin() + run.last + 1);
  for (const RowRun& run : changes.inserted)
    rows.insert(rows.begin() + run.first, next.begin() + run.first, next.begin() + run.last + 1);
  return rows;
}

std::vector<int> places_of(const std::vector<int>& rows, const std::vector<int>& next) {
  std::vector<int> places;
  for (const int row : rows) {
    const auto at = std::find(next.begin(), next.end(), row);
    places.push_back(at == next.end() ? -1 : static_cast<int>(at - next.begin()));
  }
  return places;
}

TEST(RowChanges, SaysNothingWhereNothingChanged) {
  const RowChanges changes = row_changes({0, 1, 2}, 3);
  EXPECT_TRUE(changes.removed.empty());
  EXPECT_TRUE(changes.inserted.empty());
}

TEST(RowChanges, GathersRuns) {
  const RowChanges changes = row_changes({-1, -1, 0, 3, -1}, 6);
  EXPECT_EQ(changes.removed, (std::vector<RowRun>{{4, 4}, {0, 1}}));
  EXPECT_EQ(changes.inserted, (std::vector<RowRun>{{1, 2}, {4, 5}}));
}

TEST(RowChanges, MovesAsFewAsPossible) {
  // The last became the first: it alone is taken out and put in.
  const RowChanges changes = row_changes({1, 2, 3, 0}, 4);
  EXPECT_EQ(changes.removed, (std::vector<RowRun>{{3, 3}}));
  EXPECT_EQ(changes.inserted, (std::vector<RowRun>{{0, 0}}));
}

TEST(RowChanges, LeadsFromAnyListToAnyOther) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<int> all(12);
    std::iota(all.begin(), all.end(), 0);
    const auto some = [&] {
      std::shuffle(all.begin(), all.end(), random);
      return std::vector<int>(all.begin(), all.begin() + static_cast<int>(random() % 13));
    };
    const std::vector<int> before = some();
    const std::vector<int> after = some();
    const RowChanges changes = row_changes(places_of(before, after), static_cast<int>(after.size()));
    ASSERT_EQ(applied(before, changes, after), after);
  }
}

}  // namespace
}  // namespace roce::gui
