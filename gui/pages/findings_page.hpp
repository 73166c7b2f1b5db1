// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTreeView>

#include "gui/models/diagnosis_table.hpp"
#include "gui/models/finding_filter.hpp"
#include "gui/models/finding_tree.hpp"
#include "gui/pages/detail_view.hpp"
#include "gui/pages/filter_bar.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {

/// What is wrong, a row for each diagnosis, and below it the findings by kind, which are the evidence. For
/// the chosen one, at first the worst diagnosis, explanation, evidence and advice. A double click or Enter on
/// a diagnosis or finding shows its evidence packets; on a kind it expands or collapses the row.
class FindingsPage : public Page {
  Q_OBJECT

 public:
  FindingsPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] bool is_settled() const override;
  /// The diagnosis that is explained; nullopt: the chosen finding is.
  [[nodiscard]] std::optional<DiagnosisTable::Row> explained() const;
  [[nodiscard]] TableView& diagnoses() noexcept { return *diagnoses_; }
  [[nodiscard]] QWidget* search_field() override { return bar_->field(); }
  void show_severity(analyze::Severity least);
  /// The text shown where filters hide all findings; empty if some are listed, or there are none.
  [[nodiscard]] QString empty_text() const;
  /// Moves the selection by that many findings; wraps around at the ends.
  void step(int places);

 protected:
  void show_snapshot() override;

 private:
  void refresh();
  void show_selected();
  void show_detail();
  void show_diagnoses();
  /// Makes a finding of its evidence the selected one, for the pages that step through evidence.
  void prove_diagnosis(PageId page);
  [[nodiscard]] const analyze::Finding* chosen() const;
  void open_row(const QModelIndex& row);
  void lead_on(PageId page);
  void follow_connection();

  bool showing_ = false;  ///< rows are changing: a new current row is not the user's selection
  DiagnosisModel diagnosis_model_;
  FindingTree model_;
  FindingFilter filter_;
  TableView* diagnoses_;
  FilterBar* bar_;
  QTreeView* tree_;
  DetailView* detail_;
  QAction* diagnosis_packets_;
  QAction* diagnosis_graph_;
  QAction* show_packets_;
  QAction* show_connection_;
  QAction* show_graph_;
};

}  // namespace roce::gui
