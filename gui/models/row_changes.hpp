// SPDX-License-Identifier: Apache-2.0
// The difference between two lists of rows, so that a view keeps its scroll position, selection and order.
#pragma once

#include <vector>

namespace roce::gui {

/// Rows from `first` to `last`, both included.
struct RowRun {
  int first = 0;
  int last = 0;
  [[nodiscard]] bool operator==(const RowRun&) const noexcept = default;
};

struct RowChanges {
  std::vector<RowRun> removed;   ///< old row numbers, last first: remove in this order
  std::vector<RowRun> inserted;  ///< new row numbers, first first: then insert in this order
};

/// `places[i]` is the new number of old row i, -1 if it is gone; no number occurs twice. As many rows as
/// possible stay in place; other rows that still exist are removed and inserted again.
[[nodiscard]] RowChanges row_changes(const std::vector<int>& places, int new_count);

}  // namespace roce::gui
