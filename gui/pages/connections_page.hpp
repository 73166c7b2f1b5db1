// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "gui/models/tables.hpp"
#include "gui/pages/connection_graphs.hpp"
#include "gui/pages/detail_view.hpp"
#include "gui/pages/filter_bar.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {

/// The table of connections; for the chosen one identity, findings, latencies, figures, why it is paired, and
/// its packets as graphs.
class ConnectionsPage : public Page {
  Q_OBJECT

 public:
  ConnectionsPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] QWidget* search_field() override { return bar_->field(); }
  [[nodiscard]] bool is_settled() const override { return Page::is_settled() && model_.is_settled(); }
  [[nodiscard]] TableView& table() noexcept { return *table_; }
  /// Looks for a text, an address for example, and takes what else is filtered back.
  void search(const QString& text);
  /// The sequence graph of the chosen connection.
  void show_graph();
  [[nodiscard]] ConnectionGraphs& graphs() noexcept { return *graphs_; }

 protected:
  void show_snapshot() override;

 private:
  void refresh();
  void show_selected();
  void show_detail();

  ConnectionModel model_;
  FilterBar* bar_;
  TableView* table_;
  DetailView* detail_;
  ConnectionGraphs* graphs_;
};

}  // namespace roce::gui
