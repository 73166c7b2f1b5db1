// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/page.hpp"

#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileInfo>
#include <QStandardPaths>
#include <QUrl>

namespace roce::gui {

QString documents_folder() {
  const QString folder = QStandardPaths::writableLocation(QStandardPaths::DocumentsLocation);
  return QFileInfo(folder).isDir() ? folder : QDir::homePath();
}

Page::Page(AnalysisSession& session, Selection& selection, QWidget* parent)
    : QWidget(parent), session_(session), selection_(selection) {
  connect(&session_, &AnalysisSession::snapshot_changed, this, [this] {
    behind_ = true;
    // A closed capture is dropped at once, also by hidden pages.
    if (seen_ || !session_.snapshot()) catch_up();
  });
}

void Page::set_seen(bool seen) {
  if (seen == seen_) return;
  seen_ = seen;
  if (seen_) catch_up();
  Q_EMIT seen_changed();
}

void Page::catch_up() {
  if (!behind_) return;
  behind_ = false;
  shown_ = session_.snapshot();
  show_snapshot();
}

QString no_connections_text() {
  return Page::tr("No connections: there are no packets of RC, UC, XRC or RD queue pairs");
}

QString Page::why_empty(const QString& none) const {
  if (!shown_) return tr("No capture");
  return shown_->final ? none : QString();
}

void Page::follow(const QUrl& link) {
  const QString target = QUrl::fromPercentEncoding(link.path(QUrl::FullyEncoded).toLatin1());
  if (link.scheme() == QLatin1String("connection")) {
    selection_.set_connection(target.toUInt());
    Q_EMIT leads_to(PageId::connections);
  } else if (link.scheme() == QLatin1String("graph")) {
    const QStringList parts = target.split(QLatin1Char(':'));
    selection_.set_connection(parts[0].toUInt());
    if (parts.size() > 1) selection_.set_packet(parts[1].toULongLong());
    Q_EMIT graph_wanted();
    Q_EMIT leads_to(PageId::connections);
  } else if (link.scheme() == QLatin1String("finding")) {
    selection_.choose_finding(target);
    Q_EMIT leads_to(PageId::findings);
  } else if (link.scheme() == QLatin1String("packet")) {
    lead_to_packet(target.toULongLong());
  } else if (link.scheme() == QLatin1String("packets")) {
    Q_EMIT filter_wanted(target);
    Q_EMIT leads_to(PageId::packets);
  } else if (link.scheme() == QLatin1String("markings")) {
    Q_EMIT leads_to(PageId::markings);
  } else if (link.scheme() == QLatin1String("copy")) {
    QApplication::clipboard()->setText(target);
    Q_EMIT says(tr("Copied: %1").arg(target));
  }
}

void Page::lead_to_packet(quint64 number) {
  if (number == 0) return;
  selection_.set_packet(number);
  Q_EMIT leads_to(PageId::packets);
}

template <class Trouble>
void Page::lead_to_evidence(const Trouble& trouble, PageId page) {
  if (!trouble.connections.empty()) selection_.set_connection(trouble.connections.front());
  if (!trouble.packets.empty()) selection_.set_packet(trouble.packets.front());
  if (page == PageId::connections) Q_EMIT graph_wanted();
  Q_EMIT leads_to(page);
}

template void Page::lead_to_evidence(const analyze::Finding& trouble, PageId page);
template void Page::lead_to_evidence(const analyze::Diagnosis& trouble, PageId page);

QAction* Page::offer(QWidget* view, const QString& text, const QString& help,
                     const std::function<void()>& act) {
  auto* action = new QAction(text, view);
  action->setToolTip(help);
  view->addAction(action);
  view->setContextMenuPolicy(Qt::ActionsContextMenu);
  connect(action, &QAction::triggered, this, act);
  return action;
}

}  // namespace roce::gui
