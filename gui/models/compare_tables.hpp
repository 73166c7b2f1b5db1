// SPDX-License-Identifier: Apache-2.0
// The results of a comparison as tables; see TableModel.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/compare_words.hpp"
#include "analyze/compare/lost_columns.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

using CompareResultPtr = std::shared_ptr<const analyze::CompareResult>;

/// Common base of a comparison's tables: rows have no severity and no id.
template <class RowOf>
class CompareRows {
 public:
  using Row = RowOf;
  [[nodiscard]] std::size_t size() const { return rows_->size(); }
  [[nodiscard]] const Row& row(std::size_t i) const { return (*rows_)[i]; }
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t) const { return std::nullopt; }
  [[nodiscard]] std::optional<std::uint64_t> id(std::size_t) const { return std::nullopt; }

 protected:
  explicit CompareRows(const std::vector<Row>& rows) : rows_(&rows) {}
  const std::vector<Row>* rows_;
};

class LostTable : public CompareRows<analyze::LostPacket> {
 public:
  [[nodiscard]] static std::span<const analyze::LostColumn> columns() { return analyze::lost_columns(); }
  explicit LostTable(const analyze::CompareResult& result) : CompareRows(result.lost) {}
  [[nodiscard]] std::string key(std::size_t i) const {
    return std::to_string(row(i).direction) + ' ' + std::to_string(row(i).packet);
  }
  /// Warning where no retransmission repaired the loss.
  [[nodiscard]] std::optional<analyze::Severity> severity(std::size_t i) const {
    return row(i).repaired_by ? std::nullopt : std::optional(analyze::Severity::warning);
  }
};

class ComparePathTable : public CompareRows<analyze::ComparePath> {
 public:
  [[nodiscard]] static std::span<const analyze::ComparePathColumn> columns() {
    return analyze::compare_path_columns();
  }
  explicit ComparePathTable(const analyze::CompareResult& result) : CompareRows(result.paths) {}
  [[nodiscard]] std::string key(std::size_t i) const;  ///< direction, addresses and port
};

class MarkChangeTable : public CompareRows<analyze::MarkChange> {
 public:
  [[nodiscard]] static std::span<const analyze::MarkChangeColumn> columns() {
    return analyze::mark_change_columns();
  }
  explicit MarkChangeTable(const analyze::CompareResult& result) : CompareRows(result.changes) {}
  [[nodiscard]] std::string key(std::size_t i) const;  ///< all columns but the count
};

class FigureTable : public CompareRows<analyze::CompareFigure> {
 public:
  [[nodiscard]] static std::span<const analyze::Column<Row>> columns();
  explicit FigureTable(const analyze::CompareResult& result)
      : CompareRows(figures_), figures_(analyze::compare_figures(result)) {}
  FigureTable(const FigureTable&) = delete;
  FigureTable& operator=(const FigureTable&) = delete;
  [[nodiscard]] std::string key(std::size_t i) const { return row(i).name; }

 private:
  std::vector<analyze::CompareFigure> figures_;
};

using LostModel = TableModel<LostTable>;
using ComparePathModel = TableModel<ComparePathTable>;
using MarkChangeModel = TableModel<MarkChangeTable>;
using FigureModel = TableModel<FigureTable>;

/// Shows a comparison, or null for none.
template <class Table>
void show_compared(TableModel<Table>& model, const CompareResultPtr& result) {
  model.show_table(result ? std::make_unique<Table>(*result) : nullptr, result);
}

/// A snapshot that holds only the findings of the comparison, for views that show findings.
[[nodiscard]] SnapshotPtr compare_snapshot(const analyze::CompareResult& result);

/// One line: packets lost, reordered and re-marked between the points; or that none was seen at both.
[[nodiscard]] QString compare_headline(const analyze::CompareResult& result);

/// Both captures and their clocks as rich text.
[[nodiscard]] QString compare_html(const analyze::CompareResult& result);

}  // namespace roce::gui
