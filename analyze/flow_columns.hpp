// SPDX-License-Identifier: Apache-2.0
// One row a column: its name for --sort, CSV and JSON, its heading, its value. Text tables, CSV and
// the window all read this table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/flow_table.hpp"

namespace roce::analyze {

struct FlowColumn {
  std::string_view name;     ///< stable, snake_case
  std::string_view heading;  ///< of a text table
  std::string_view help;
  bool right = false;  ///< aligned right
  /// Priority in a text table: 0 = always, higher numbers leave first when the terminal is narrow;
  /// hidden = only in CSV and on request.
  std::uint8_t priority = 0;
  /// Sorts numbers; null for columns that sort by text.
  double (*number)(const Flow&) = nullptr;
  /// For people ("1.46 MB").
  std::string (*text)(const Flow&) = nullptr;
  /// For machines ("1462345"); null = as text.
  std::string (*exact)(const Flow&) = nullptr;

  static constexpr std::uint8_t hidden = 255;
  [[nodiscard]] std::string machine_text(const Flow& flow) const {
    return exact != nullptr ? exact(flow) : text(flow);
  }
};

[[nodiscard]] std::span<const FlowColumn> flow_columns() noexcept;
[[nodiscard]] const FlowColumn* find_flow_column(std::string_view name) noexcept;

/// Sorts by a column: numbers descending, texts ascending; ties by id. Reversed with `reverse`.
void sort_flows(std::vector<const Flow*>& flows, const FlowColumn& column, bool reverse);

/// Address of either end as text.
[[nodiscard]] std::string address_of(const dissect::IpAddress& address);

}  // namespace roce::analyze
