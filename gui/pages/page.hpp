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
enum class PageId { overview, packets, findings, incidents, connections, markings, fabric, live, compare };
inline constexpr int page_count = 9;

/// Answer to the question about something that is not saved.
enum class Unsaved { save, discard, keep };

/// Where files go that belong to no file: the user's documents, else the home folder.
[[nodiscard]] QString documents_folder();

/// Why there are neither connections nor hosts that have some.
[[nodiscard]] QString no_connections_text();

/// Base of pages: shows the session's snapshot and follows the selection; both outlive it. While a capture is
/// read only the visible page takes each snapshot, the others catch up when they become visible. Its focus
/// proxy gets the keyboard focus when the page comes to the front: its list, if it has one.
class Page : public QWidget {
  Q_OBJECT

 public:
  Page(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr);

  /// Set by the window when the page becomes visible or hidden; a page that becomes visible catches up.
  void set_seen(bool seen);
  [[nodiscard]] bool is_seen() const noexcept { return seen_; }
  /// Shows the newest snapshot, visible or not; to be called before using contents of a hidden page.
  void catch_up();
  /// Whether the session has a newer snapshot than the page shows.
  [[nodiscard]] bool is_behind() const noexcept { return behind_; }
  /// Whether it is up to date and no rows are being made on other threads.
  [[nodiscard]] virtual bool is_settled() const { return !behind_; }

  /// The widget that Ctrl+F focuses; null: the page has no search.
  [[nodiscard]] virtual QWidget* search_field() { return nullptr; }

 Q_SIGNALS:
  /// Switch to another page, which shows what is selected.
  void leads_to(roce::gui::PageId page);
  /// Show the graph of the selected connection.
  void graph_wanted();
  /// Show the packets that match a display filter.
  void filter_wanted(const QString& expression);
  /// A message for the status bar.
  void says(const QString& message);
  void seen_changed();

 protected:
  /// shown() has changed; it may be null.
  virtual void show_snapshot() {}
  /// The snapshot that the page shows; null: none. May be older than the session's.
  [[nodiscard]] const SnapshotPtr& shown() const noexcept { return shown_; }

  /// Why a table has no rows: without a capture that, while one is read nothing, then `none`.
  [[nodiscard]] QString why_empty(const QString& none) const;

  /// Follows a link of details.hpp.
  void follow(const QUrl& link);
  /// Shows the packet of that number on the page of packets; 0: does nothing.
  void lead_to_packet(quint64 number);
  /// Shows the first evidence packet of a finding or diagnosis, on the page of packets or in the graph of its
  /// connection on the page of connections. Selects the connection too.
  template <class Trouble>
  void lead_to_evidence(const Trouble& trouble, PageId page);
  /// Adds an action on the selection of a view to the context menu of its rows.
  QAction* offer(QWidget* view, const QString& text, const QString& help, const std::function<void()>& act);

  AnalysisSession& session_;
  Selection& selection_;

 private:
  SnapshotPtr shown_;
  bool seen_ = false;
  bool behind_ = false;
};

}  // namespace roce::gui
