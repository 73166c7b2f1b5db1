// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "gui/models/background_call.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/connection_graphs.hpp"
#include "gui/pages/detail_view.hpp"
#include "gui/pages/filter_bar.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/spark_delegate.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {

/// The table of connections; for the selected one identity, findings, latencies, figures, why it is paired,
/// and its packets as graphs.
class ConnectionsPage : public Page {
  Q_OBJECT

 public:
  ConnectionsPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);
  ~ConnectionsPage() override;
  ConnectionsPage(const ConnectionsPage&) = delete;
  ConnectionsPage& operator=(const ConnectionsPage&) = delete;

  [[nodiscard]] QWidget* search_field() override { return bar_->field(); }
  [[nodiscard]] bool is_settled() const override { return Page::is_settled() && model_.is_settled(); }
  [[nodiscard]] TableView& table() noexcept { return *table_; }
  /// Searches for a text, an address for example, and resets the other filters.
  void search(const QString& text);
  /// Shows the sequence graph of the selected connection.
  void show_graph();
  [[nodiscard]] ConnectionGraphs& graphs() noexcept { return *graphs_; }
  [[nodiscard]] const SparkDelegate& sparks() const noexcept { return *sparks_; }

 protected:
  void showEvent(QShowEvent* event) override;
  void show_snapshot() override;

 private:
  void forget_sparks();
  void count_sparks();
  void refresh();
  void show_selected();
  void show_detail();

  ConnectionModel model_;
  FilterBar* bar_;
  TableView* table_;
  DetailView* detail_;
  ConnectionGraphs* graphs_;
  SparkDelegate* sparks_;
  std::optional<std::uint32_t> offered_;  ///< the connection selected by default, not by the user
  std::stop_source counting_;
  BackgroundCall count_{*this};
  bool counted_ = false;  ///< sparks are counted, or counting is under way
};

}  // namespace roce::gui
