// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLabel>

#include "gui/models/overview_tables.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/filter_bar.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {

/// How packets are marked: the matrix of direction and class, and each of its marks as a row.
class MarkingsPage : public Page {
  Q_OBJECT

 public:
  MarkingsPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* search_field() override { return bar_->field(); }
  [[nodiscard]] TableView& table() noexcept { return *table_; }

 private:
  void refresh();

  MarkMatrixModel matrix_model_;
  MarkingModel model_;
  QLabel* judged_;
  FilterBar* bar_;
  TableView* matrix_;
  TableView* table_;
};

}  // namespace roce::gui
