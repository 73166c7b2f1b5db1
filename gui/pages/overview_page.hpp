// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAction>
#include <QLabel>
#include <QStackedWidget>
#include <QToolButton>
#include <array>
#include <cstddef>
#include <set>
#include <vector>

#include "gui/models/bundled_samples.hpp"
#include "gui/models/overview_tables.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/detail_view.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/table_view.hpp"
#include "gui/pages/time_chip.hpp"

namespace roce::gui {

/// The first page: the verdict on the capture in one line, findings, worst connections and hosts,
/// facts of the capture. Everything on it leads to the page with the details.
class OverviewPage : public Page {
  Q_OBJECT

 public:
  OverviewPage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] bool is_settled() const override;
  /// Recently opened captures, offered as links while no capture is open.
  void offer_recent(const QStringList& names);
  [[nodiscard]] QLabel& welcome() noexcept { return *welcome_; }
  [[nodiscard]] DetailView& cards() noexcept { return *cards_; }
  [[nodiscard]] DetailView& facts() noexcept { return *facts_; }
  [[nodiscard]] QString headline() const { return headline_->text(); }
  [[nodiscard]] TableView& findings() noexcept { return *findings_; }
  [[nodiscard]] TableView& connections() noexcept { return *connections_; }
  [[nodiscard]] TableView& hosts() noexcept { return *hosts_; }

 Q_SIGNALS:
  void severity_chosen(roce::analyze::Severity least);
  void open_wanted();  ///< a capture, by the user's choice
  void host_chosen(const QString& address);
  void sample_chosen(const QString& file);     ///< that comes with the program
  void interface_chosen(const QString& name);  ///< for a live capture
  void recent_chosen(int place);               ///< index in the list of offer_recent()

 protected:
  void show_snapshot() override;
  void changeEvent(QEvent* event) override;

 private:
  QWidget* make_start();
  QWidget* make_banner();
  QWidget* make_content();
  void offer_worst();
  void choose_finding();
  [[nodiscard]] const analyze::Finding* chosen_finding() const;
  void show_cards();
  void follow_card(const QUrl& link);
  void show_offers();
  void show_graph();
  void show_evidence(PageId page);
  void show_banner();
  void fit_headline();
  void limit_times();

  std::vector<BundledSample> samples_ = bundled_samples();
  FindingListModel finding_model_;
  WorstConnectionModel connection_model_;
  HostModel host_model_;
  QLabel* sign_;
  QLabel* headline_ = nullptr;
  QLabel* below_;
  std::array<QToolButton*, 4> counts_{};  ///< by severity
  TimeChip* times_;
  QStackedWidget* stack_;
  QLabel* welcome_;
  DetailView* cards_;
  std::set<std::size_t> unfolded_;  ///< diagnoses whose consequences are shown
  DetailView* facts_;
  TableView* findings_;
  TableView* connections_;
  TableView* hosts_;
  QAction* explain_;
  QAction* show_packets_;
  QAction* finding_graph_;
  QAction* connection_graph_;
};

}  // namespace roce::gui
