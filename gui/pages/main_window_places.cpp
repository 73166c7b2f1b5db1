// SPDX-License-Identifier: Apache-2.0
// Back and forward, and the tool bar.
#include <QMenuBar>
#include <QStyle>

#include "gui/pages/main_window.hpp"

namespace roce::gui {

Place MainWindow::place() const {
  return {in_front_,
          selection_.connection(),
          selection_.packet(),
          selection_.incident(),
          selection_.finding(),
          selection_.diagnosis()};
}

/// A moment after the last change, so that steps of one move (a connection, its packet, another page) are one
/// place. What pages select on their own as long as rows are being made belongs to where the user is.
void MainWindow::note_place() {
  const bool moving = session_.state() == AnalysisSession::State::loading || !is_settled();
  if (going_ || moving) {
    history_.amend(place());
  } else {
    history_.visit(place());
  }
  going_ = false;
  show_ways();
}

void MainWindow::show_ways() {
  back_->setEnabled(history_.can_go_back());
  forward_->setEnabled(history_.can_go_forward());
}

void MainWindow::go_to(const Place& place) {
  going_ = true;
  selection_.set_connection(place.connection);
  selection_.set_packet(place.packet);
  selection_.set_incident(place.incident);
  selection_.set_finding(place.finding);
  selection_.set_diagnosis(place.diagnosis);
  show_page(place.page);
  moved_.start();
  show_ways();
}

void MainWindow::back() {
  // What was selected a moment ago may not have been noted yet.
  if (moved_.isActive()) {
    moved_.stop();
    note_place();
  }
  if (history_.can_go_back()) go_to(history_.back());
}

void MainWindow::forward() {
  if (history_.can_go_forward()) go_to(history_.forward());
}

/// Beside the menus, where it takes no room from what is looked at.
void MainWindow::make_tools() {
  struct Tool {
    const char* action;
    const char* icon;  ///< of the desktop
    QStyle::StandardPixmap otherwise;
  };
  constexpr Tool tools[] = {
      {"open", "document-open", QStyle::SP_DialogOpenButton},
      {"save_capture", "document-save", QStyle::SP_DialogSaveButton},
      {"reload", "view-refresh", QStyle::SP_BrowserReload},
      {"back", "go-previous", QStyle::SP_ArrowBack},
      {"forward", "go-next", QStyle::SP_ArrowForward},
      {"previous_finding", "go-up", QStyle::SP_ArrowUp},
      {"next_finding", "go-down", QStyle::SP_ArrowDown},
      {"manual", "help-contents", QStyle::SP_MessageBoxQuestion},
  };
  tools_ = new QToolBar(tr("Tools"));
  tools_->setObjectName(QStringLiteral("tools"));
  tools_->setAccessibleName(tr("Tools"));
  const int side = style()->pixelMetric(QStyle::PM_SmallIconSize);
  tools_->setIconSize({side, side});
  for (const Tool& tool : tools) {
    auto* action = findChild<QAction*>(QString::fromLatin1(tool.action));
    action->setIcon(QIcon::fromTheme(QString::fromLatin1(tool.icon), style()->standardIcon(tool.otherwise)));
    action->setIconVisibleInMenu(false);
    tools_->addAction(action);
  }
  menuBar()->setCornerWidget(tools_);
  moved_.setObjectName(QStringLiteral("moved"));
  moved_.setSingleShot(true);
  moved_.setInterval(std::chrono::milliseconds(300));
  connect(&moved_, &QTimer::timeout, this, &MainWindow::note_place);
  const auto watch = [this](auto changed) {
    connect(&selection_, changed, &moved_, qOverload<>(&QTimer::start));
  };
  watch(&Selection::connection_changed);
  watch(&Selection::packet_changed);
  watch(&Selection::incident_changed);
  watch(&Selection::finding_changed);
  watch(&Selection::diagnosis_changed);
  show_ways();
}

}  // namespace roce::gui
