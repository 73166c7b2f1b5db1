// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTabWidget>
#include <array>
#include <functional>
#include <memory>

#include "gui/models/compare_job.hpp"
#include "gui/models/compare_tables.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/detail_view.hpp"
#include "gui/pages/page.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {

/// Compares two captures of the same traffic, as `roceanalyze compare` does. The captures are chosen here,
/// independently of the one open in the window; a button takes that one.
class ComparePage : public Page {
  Q_OBJECT

 public:
  ComparePage(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);
  ~ComparePage() override;
  ComparePage(const ComparePage&) = delete;
  ComparePage& operator=(const ComparePage&) = delete;

  /// Replaces the file dialog (tests); an empty list means cancelled.
  void set_question(std::function<QStringList()> ask) { ask_ = std::move(ask); }
  /// The captures of a point; 0 is A, 1 is B.
  void set_files(std::size_t point, const QStringList& files);
  [[nodiscard]] QStringList files(std::size_t point) const;
  void compare();
  void stop();

  [[nodiscard]] bool running() const noexcept { return job_ != nullptr; }
  [[nodiscard]] const CompareResultPtr& result() const noexcept { return result_; }
  [[nodiscard]] QString headline() const { return headline_->text(); }
  [[nodiscard]] QString command() const;  ///< the equivalent command line
  [[nodiscard]] TableView& lost() noexcept { return *lost_; }
  [[nodiscard]] DetailView& detail() noexcept { return *detail_; }
  [[nodiscard]] TableView& paths() noexcept { return *paths_; }
  [[nodiscard]] TableView& changes() noexcept { return *changes_; }
  [[nodiscard]] TableView& figures() noexcept { return *figures_; }
  [[nodiscard]] TableView& findings() noexcept { return *findings_; }
  [[nodiscard]] QLineEdit& filter_field() noexcept { return *filter_; }

 Q_SIGNALS:
  /// Show a packet of a capture, which may not be open. `connection`: its id, invalid if unknown.
  void packet_wanted(const QStringList& files, qulonglong packet, QVariant connection);

 private:
  void make_choice(QGridLayout* grid);
  QWidget* make_results();
  void look();
  void show_result(CompareResultPtr result);
  void show_state();
  void show_finding();
  /// Null: none.
  [[nodiscard]] const analyze::CompareFinding* chosen_finding() const;
  void mark_failure(bool failed);
  void lead_on();

  std::function<QStringList()> ask_;
  std::shared_ptr<CompareJob> job_;
  QTimer timer_;
  std::array<QStringList, 2> compared_;  ///< the captures of the result shown
  CompareResultPtr result_;
  LostModel lost_model_;
  ComparePathModel path_model_;
  MarkChangeModel change_model_;
  FigureModel figure_model_;
  FindingListModel finding_model_;
  SnapshotPtr finding_snapshot_;  ///< holds the findings of the comparison
  std::array<QLineEdit*, 2> fields_{};
  std::array<QPushButton*, 2> current_{};
  QLineEdit* filter_ = nullptr;
  QPushButton* start_ = nullptr;
  QPushButton* stop_ = nullptr;
  QProgressBar* bar_ = nullptr;
  QLabel* headline_ = nullptr;
  QLabel* limits_ = nullptr;  ///< what the captures do not bear
  QTabWidget* tabs_ = nullptr;
  QLabel* points_ = nullptr;
  TableView* figures_ = nullptr;
  TableView* findings_ = nullptr;
  DetailView* detail_ = nullptr;
  TableView* lost_ = nullptr;
  TableView* paths_ = nullptr;
  TableView* changes_ = nullptr;
};

}  // namespace roce::gui
