// SPDX-License-Identifier: Apache-2.0
// What takes one list of rows to the next, so that a view keeps its place, selection and order.
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
  std::vector<RowRun> removed;   ///< numbers of the old rows, from the back: take them out in this order
  std::vector<RowRun> inserted;  ///< numbers of the new rows, from the front: then put them in in this order
};

/// `places[i]` is where old row i stands among the new ones, -1 where it is gone; no place twice. As many
/// rows as can keep their order stay; the others, if they are still there, are taken out and put in again.
[[nodiscard]] RowChanges row_changes(const std::vector<int>& places, int new_count);

}  // namespace roce::gui
