// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTreeView>

#include "gui/models/finding_filter.hpp"
#include "gui/models/finding_tree.hpp"
#include "gui/pages/detail_view.hpp"
#include "gui/pages/filter_bar.hpp"
#include "gui/pages/page.hpp"

namespace roce::gui {

/// Findings by kind; for the chosen one explanation, evidence, and what to do. A double click or Enter on one
/// leads to the packets that prove it, on a kind it shows or hides what is below.
class FindingsPage : public Page {
  Q_OBJECT

 public:
  FindingsPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* search_field() override { return bar_->field(); }
  void show_severity(analyze::Severity least);
  /// What is said instead of findings where all are left out; empty where some are listed, or there are none.
  [[nodiscard]] QString empty_text() const;
  /// Makes the finding so many places further on current; around at the ends.
  void step(int places);

 protected:
  void show_snapshot() override;

 private:
  void refresh();
  void show_selected();
  void show_detail();
  [[nodiscard]] const analyze::Finding* chosen() const;
  void open_row(const QModelIndex& row);
  void lead_on(PageId page);
  void follow_connection();

  QString offered_;       ///< the finding that nobody had to choose
  bool showing_ = false;  ///< rows come and go: what becomes current then was not chosen
  FindingTree model_;
  FindingFilter filter_;
  FilterBar* bar_;
  QTreeView* tree_;
  DetailView* detail_;
  QAction* show_packets_;
  QAction* show_connection_;
  QAction* show_graph_;
};

}  // namespace roce::gui
