// SPDX-License-Identifier: Apache-2.0
// Tables of the overview and of the markings matrix; see TableModel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyze/flow/marking.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/tables.hpp"

namespace roce::gui {

/// The connections with the most trouble, then the most bytes; with a time range, only those seen in it.
class WorstConnectionTable : public ConnectionTable {
 public:
  static constexpr std::size_t most = 20;

  explicit WorstConnectionTable(const analyze::Snapshot& snapshot,
                                const std::optional<TimeSpan>& time = std::nullopt);
};

/// The markings of one direction, by traffic class.
struct MarkDirection {
  std::string text;  ///< "10.0.0.1 -> 10.0.0.2"
  std::array<std::vector<const analyze::Marking*>, analyze::traffic_class_count> classes;
};

/// What a cell of the matrix is shaded by.
struct MarkHeat {
  double ce = 0;           ///< share of its packets that are marked CE, 0..1
  bool violation = false;  ///< a marking that the policy does not intend
};
/// Of a column of MarkMatrixTable; without heat: not of a traffic class.
[[nodiscard]] MarkHeat mark_heat(const MarkDirection& direction, std::size_t column);

/// The matrix of direction and traffic class: markings seen, with packet counts, and what the policy intends.
class MarkMatrixTable {
 public:
  using Row = MarkDirection;
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns();
  explicit MarkMatrixTable(const analyze::Snapshot& snapshot);
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return rows_[i]; }
  [[nodiscard]] std::string key(std::size_t i) const { return rows_[i].text; }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const;
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

 private:
  std::vector<Row> rows_;
};

using WorstConnectionModel = TableModel<WorstConnectionTable>;
using MarkMatrixModel = TableModel<MarkMatrixTable>;

}  // namespace roce::gui
