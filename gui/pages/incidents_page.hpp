// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QLabel>
#include <cstdint>
#include <optional>
#include <stop_token>

#include "gui/charts/ladder.hpp"
#include "gui/models/background_call.hpp"
#include "gui/models/incident_tables.hpp"
#include "gui/pages/detail_view.hpp"
#include "gui/pages/filter_bar.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {

/// All incidents, and of the selected one what is known of it and its packets as a ladder, each with the rule
/// by which it is taken for what it is.
class IncidentsPage : public Page {
  Q_OBJECT

 public:
  IncidentsPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);
  ~IncidentsPage() override;
  IncidentsPage(const IncidentsPage&) = delete;
  IncidentsPage& operator=(const IncidentsPage&) = delete;

  [[nodiscard]] QWidget* search_field() override { return bar_->field(); }
  [[nodiscard]] bool is_settled() const override {
    return Page::is_settled() && model_.is_settled() && !reading_;
  }
  [[nodiscard]] TableView& table() noexcept { return *table_; }
  [[nodiscard]] LadderView& ladder() noexcept { return *ladder_; }
  [[nodiscard]] DetailView& detail() noexcept { return *detail_; }

 protected:
  void show_snapshot() override;

 private:
  void refresh();
  void show_selected();
  void show_incident();
  void show_packets();
  [[nodiscard]] const analyze::Incident* chosen() const;

  IncidentModel model_;
  FilterBar* bar_;
  TableView* table_;
  DetailView* detail_;
  LadderView* ladder_;
  QAction* show_packets_;
  QAction* show_graph_;
  std::optional<std::uint64_t>
      read_;  ///< first packet of the incident that the ladder shows, or is read for it
  bool reading_ = false;
  std::stop_source stop_;
  BackgroundCall read_call_{*this};
};

}  // namespace roce::gui
