// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QWidget>

#include "gui/models/analysis_session.hpp"
#include "gui/models/selection.hpp"

namespace roce::gui {

/// Pages of the window, in the order of their tabs.
enum class PageId { overview, packets, findings, connections, markings, live, compare };
inline constexpr int page_count = 7;

/// One page: shows the session's snapshot and follows the selection. Everything outlives it.
class Page : public QWidget {
  Q_OBJECT

 public:
  Page(AnalysisSession& session, Selection& selection, QWidget* parent = nullptr)
      : QWidget(parent), session_(session), selection_(selection) {}

  /// Where typed text goes on Ctrl+F; null: there is nothing to search.
  [[nodiscard]] virtual QWidget* search_field() { return nullptr; }

 Q_SIGNALS:
  /// Another page has more about what is selected now.
  void leads_to(roce::gui::PageId page);
  /// The graph of the connection that is selected now, on its page.
  void graph_wanted();
  /// For the status bar.
  void says(const QString& message);

 protected:
  /// Follows a link of details.hpp.
  void follow(const QUrl& link);

  AnalysisSession& session_;
  Selection& selection_;
};

}  // namespace roce::gui
