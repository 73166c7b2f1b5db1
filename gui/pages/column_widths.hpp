// SPDX-License-Identifier: Apache-2.0
// How wide the columns of a table are. Plain functions of pixels; TableView asks and applies.
#pragma once

#include <vector>

namespace roce::gui {

struct ColumnWidth {
  int wanted = 0;     ///< with room to breathe, and for the mark of a sorted column
  int least = 0;      ///< nothing is cut off
  bool text = false;  ///< may be cut off: a tool tip tells all of it
};

/// Columns of text are not made narrower than this to spare a scroll bar.
inline constexpr int narrowest_text = 84;

/// The width of each: as wanted if all fit into `room`; else without the air between them; else also with
/// texts cut off, the longest first, so that as much of each is seen as of any other. As wanted, too, if even
/// that does not fit: then the table is scrolled anyway.
[[nodiscard]] std::vector<int> column_widths(const std::vector<ColumnWidth>& columns, int room);

}  // namespace roce::gui
