// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAction>
#include <QString>
#include <QWidget>
#include <functional>

#include "analyze/results/finding.hpp"
#include "gui/models/analysis_session.hpp"
#include "gui/models/selection.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

/// Pages of the window, in the order of their tabs.
enum class PageId { overview, packets, findings, connections, markings, live, compare };
inline constexpr int page_count = 7;

/// One page: shows the session's snapshot and follows the selection. Everything outlives it. While a capture
/// is read only the page that is seen takes each snapshot: six others would draw for nobody. Its focus proxy is
/// where keys go when it comes in front: its list, if it has one.
class Page : public QWidget {
  Q_OBJECT

 public:
  Page(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  /// Whether anybody can see it, as whoever has it in a tab says; one that becomes seen catches up.
  void set_seen(bool seen);
  [[nodiscard]] bool is_seen() const noexcept { return seen_; }
  /// Shows the newest snapshot, seen or not; before something of it is asked for.
  void catch_up();
  /// Whether the session has a newer snapshot than it has been given.
  [[nodiscard]] bool is_behind() const noexcept { return behind_; }
  /// Whether it is up to date and nothing of it is still being prepared.
  [[nodiscard]] virtual bool is_settled() const { return !behind_; }

  /// Where typed text goes on Ctrl+F; null: there is nothing to search.
  [[nodiscard]] virtual QWidget* search_field() { return nullptr; }

 Q_SIGNALS:
  /// Another page has more about what is selected now.
  void leads_to(roce::gui::PageId page);
  /// The graph of the connection that is selected now, on its page.
  void graph_wanted();
  /// Packets that pass a display filter, on their page.
  void filter_wanted(const QString& expression);
  /// For the status bar.
  void says(const QString& message);
  void seen_changed();

 protected:
  /// shown() is another one than before, or none.
  virtual void show_snapshot() {}
  /// What the page shows; null: nothing. May be older than the session's.
  [[nodiscard]] const SnapshotPtr& shown() const noexcept { return shown_; }

  /// Follows a link of details.hpp.
  void follow(const QUrl& link);
  /// Shows the packet of that number in the list; 0: there is none.
  void lead_to_packet(quint64 number);
  /// The first packet that proves a finding: on the page of packets, or in the graph of its connection on
  /// that of connections. The connection is chosen in both.
  void lead_to_evidence(const analyze::Finding& finding, PageId page);
  /// Something to do with what is chosen in a view, in the menu of its rows.
  QAction* offer(QWidget* view, const QString& text, const QString& help, const std::function<void()>& act);

  AnalysisSession& session_;
  Selection& selection_;

 private:
  SnapshotPtr shown_;
  bool seen_ = false;
  bool behind_ = false;
};

}  // namespace roce::gui
