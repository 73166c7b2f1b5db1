// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLabel>
#include <QTabWidget>
#include <array>
#include <utility>
#include <vector>

#include "gui/charts/pause_plot.hpp"
#include "gui/models/link_tables.hpp"
#include "gui/models/overview_tables.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/filter_bar.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/policy_editor.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {

/// Markings (DSCP, PCP, ECN) as a matrix by direction and traffic class, and one per row; the policy editor;
/// DCBX announcements; PAUSE and PFC; spread of UDP source ports.
class MarkingsPage : public Page {
  Q_OBJECT

 public:
  MarkingsPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* search_field() override { return bar_->field(); }
  [[nodiscard]] bool is_settled() const override;
  [[nodiscard]] TableView& table() noexcept { return *table_; }
  [[nodiscard]] PolicyEditor& editor() noexcept { return *editor_; }
  [[nodiscard]] QTabWidget& tabs() noexcept { return *tabs_; }
  [[nodiscard]] PausePlot& pause_plot() noexcept { return *pause_plot_; }
  [[nodiscard]] const PortSpreadModel& spreads() const noexcept { return spread_model_; }

 Q_SIGNALS:
  /// Show the connections of these addresses: words to search for.
  void addresses_chosen(const QString& words);

 protected:
  void show_snapshot() override;

 private:
  void refresh();
  void show_judged();
  [[nodiscard]] std::array<TableModelBase*, 5> models();
  void lead_to_addresses(const QStringList& words);

  MarkMatrixModel matrix_model_;
  MarkingModel model_;
  DcbxModel dcbx_model_;
  PauseModel pause_model_;
  PortSpreadModel spread_model_;
  QLabel* judged_;
  FilterBar* bar_;
  TableView* matrix_;
  TableView* table_;
  PolicyEditor* editor_;
  QTabWidget* tabs_;
  PausePlot* pause_plot_;
  std::vector<std::pair<TableView*, QString>> reasons_;  ///< why each table has no rows
};

}  // namespace roce::gui
