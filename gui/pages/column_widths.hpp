// SPDX-License-Identifier: Apache-2.0
// Column widths of tables, as plain functions of pixels; TableView applies them.
#pragma once

#include <vector>

namespace roce::gui {

struct ColumnWidth {
  int wanted = 0;     ///< with margins and room for the sort indicator
  int least = 0;      ///< without margins, nothing elided
  bool text = false;  ///< may be elided: a tool tip shows the full text
};

/// Text columns are not made narrower than this to avoid a scroll bar, in pixels.
inline constexpr int narrowest_text = 84;

/// The width of each column: as wanted if all fit into `room`; else without margins; else with texts elided,
/// the longest first, down to equal widths. If even that does not fit, as wanted: the table scrolls then.
[[nodiscard]] std::vector<int> column_widths(const std::vector<ColumnWidth>& columns, int room);

}  // namespace roce::gui
