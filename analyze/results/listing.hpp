// SPDX-License-Identifier: Apache-2.0
// Selection and order of a table's rows: --sort, --reverse and --top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/results/columns.hpp"

namespace roce::analyze {

struct Listing {
  std::string sort;  ///< a column's name; empty: the table's own order
  bool reverse = false;
  std::size_t top = 0;                                     ///< 0 = all
  std::optional<std::uint32_t> connection = std::nullopt;  ///< only its incidents
};

/// The selected rows in their order. An unknown sort column is ignored.
template <class Row>
[[nodiscard]] std::vector<const Row*> listed(const std::vector<Row>& all,
                                             std::span<const Column<Row>> columns, const Listing& listing) {
  std::vector<const Row*> rows;
  rows.reserve(all.size());
  for (const Row& row : all) rows.push_back(&row);
  if (const Column<Row>* column = find_column(columns, listing.sort)) {
    sort_rows(rows, *column, listing.reverse);
  } else if (listing.reverse) {
    rows.assign(rows.rbegin(), rows.rend());
  }
  if (listing.top != 0 && rows.size() > listing.top) rows.resize(listing.top);
  return rows;
}

}  // namespace roce::analyze
