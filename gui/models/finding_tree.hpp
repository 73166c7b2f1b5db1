// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractItemModel>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/results/finding.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

/// Findings by kind: a row for each rule that found something, worst first, and below it a row for each
/// finding. Rows have stable keys and the roles of TableModel, and the model is never reset.
class FindingTree final : public QAbstractItemModel {
 public:
  enum Column { title_column, count_column, column_count };

  explicit FindingTree(QObject* parent = nullptr);
  ~FindingTree() override;
  FindingTree(const FindingTree&) = delete;
  FindingTree& operator=(const FindingTree&) = delete;

  void show(SnapshotPtr snapshot);

  /// The finding of a row; for a kind its worst one. Null for no row. Lives until the next show().
  [[nodiscard]] const analyze::Finding* finding(const QModelIndex& index) const;
  /// The row of the finding with that finding_key(); invalid: there is none.
  [[nodiscard]] QModelIndex index_of(const QString& key) const;

  [[nodiscard]] QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  [[nodiscard]] QModelIndex parent(const QModelIndex& child) const override;
  [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] int columnCount(const QModelIndex& parent = {}) const override;
  [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
  [[nodiscard]] QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    const analyze::Finding* finding = nullptr;
    std::string key;
  };
  struct Kind {
    std::string_view id;  ///< of the rule; lives as long as the program
    std::vector<Row> rows;
  };
  using Kinds = std::vector<std::unique_ptr<Kind>>;

  [[nodiscard]] static Kinds kinds_of(const analyze::Snapshot& snapshot);
  [[nodiscard]] const Kind* kind_at(const QModelIndex& index) const;
  [[nodiscard]] int place_of(const Kind* kind) const;
  void show_kinds(Kinds& next);
  void show_rows(int place, const std::vector<Row>& next);

  SnapshotPtr snapshot_;
  Kinds kinds_;
};

}  // namespace roce::gui
