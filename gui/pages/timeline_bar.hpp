// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAction>
#include <QLabel>
#include <QWidget>
#include <optional>

#include "gui/charts/master_timeline.hpp"
#include "gui/models/analysis_session.hpp"
#include "gui/models/selection.hpp"
#include "gui/pages/page.hpp"

namespace roce::gui {

/// The timeline above all pages, with what can be done with the range that is selected in it. A range
/// selected here applies to all pages: their rows are limited at once, and their figures are computed again
/// for it.
class TimelineBar : public QWidget {
  Q_OBJECT

 public:
  TimelineBar(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  [[nodiscard]] MasterTimeline& timeline() noexcept { return *timeline_; }
  /// What the figures of all pages are of.
  [[nodiscard]] QString figures() const { return figures_->text(); }

 Q_SIGNALS:
  void leads_to(roce::gui::PageId page);
  void has_content(bool any);  ///< whether there is a capture to show

 private:
  QAction* offer(const QString& text, const QString& help, void (TimelineBar::*act)());
  void show_capture();
  void show_range();
  void choose(const std::optional<TimeSpan>& span);
  void lead_to_packets();
  void zoom_to_range();
  void show_all_times();

  AnalysisSession& session_;
  Selection& selection_;
  MasterTimeline* timeline_;
  QLabel* figures_;
  QAction* packets_;
  QAction* zoom_;
  QAction* all_;
  std::optional<TimeSpan> shown_range_;
};

}  // namespace roce::gui
