// SPDX-License-Identifier: Apache-2.0
// Which rows of a table are wanted, in which order: what --sort, --reverse and --top say.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "analyze/results/columns.hpp"

namespace roce::analyze {

struct Listing {
  std::string sort;  ///< a column's name, empty = by number
  bool reverse = false;
  std::size_t top = 0;  ///< 0 = all
};

/// The rows that a listing asks for, in its order. An unknown sort column counts as none.
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
