// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/connections_page.hpp"

#include <QSplitter>
#include <QUrl>
#include <QVBoxLayout>

#include "gui/models/details.hpp"

namespace roce::gui {

ConnectionsPage::ConnectionsPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      bar_(new FilterBar(tr("Search connections: address, queue pair, type, state"))),
      table_(new TableView(tr("Connections"), model_)),
      detail_(new DetailView),
      graphs_(new ConnectionGraphs(session, selection, detail_)) {
  detail_->setAccessibleName(tr("The chosen connection"));
  auto* top = new QWidget;
  auto* column = new QVBoxLayout(top);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(bar_);
  column->addWidget(table_, 1);
  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(top);
  split->addWidget(graphs_);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 3);
  split->setSizes({200, 500});
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addWidget(split);

  bar_->drive(this, table_->filter(), [this] { refresh(); });
  connect(table_, &TableView::row_chosen, this, [this] {
    const QVariant id = table_->current_row().data(TableModelBase::id_role);
    if (id.isValid()) selection_.set_connection(static_cast<std::uint32_t>(id.toULongLong()));
  });
  connect(table_, &TableView::row_activated, this, &ConnectionsPage::show_graph);
  connect(graphs_, &ConnectionGraphs::packet_activated, this,
          [this](quint64 number) { follow(QUrl(QStringLiteral("packet:%1").arg(number))); });
  connect(detail_, &QTextBrowser::anchorClicked, this, &ConnectionsPage::follow);
  connect(&selection_, &Selection::connection_changed, this, &ConnectionsPage::show_selected);
  connect(&session_, &AnalysisSession::snapshot_changed, this, [this] {
    model_.show(session_.snapshot());
    refresh();
  });
  refresh();
}

void ConnectionsPage::search(const QString& text) {
  bar_->set_severity(std::nullopt);
  bar_->field()->setText(text);
}

void ConnectionsPage::show_graph() {
  graphs_->setCurrentIndex(ConnectionGraphs::sequence);
}

void ConnectionsPage::refresh() {
  bar_->show_counts(table_->filter().rowCount(), model_.rowCount());
  // A page with an empty half tells nobody that there is more to see.
  if (!selection_.connection() && table_->filter().rowCount() > 0) select_worst();
  show_selected();
}

void ConnectionsPage::select_worst() {
  const auto severity = [this](int row) {
    const QVariant value = table_->filter().index(row, 0).data(TableModelBase::severity_role);
    return value.isValid() ? value.toInt() : -1;
  };
  int worst = 0;
  for (int row = 1; row < table_->filter().rowCount(); ++row) {
    if (severity(row) > severity(worst)) worst = row;
  }
  const QVariant id = table_->filter().index(worst, 0).data(TableModelBase::id_role);
  selection_.set_connection(static_cast<std::uint32_t>(id.toULongLong()));
}

void ConnectionsPage::show_selected() {
  if (selection_.connection()) table_->select_key(QString::number(*selection_.connection()));
  show_detail();
}

void ConnectionsPage::show_detail() {
  const auto& snapshot = session_.snapshot();
  const QString html =
      snapshot && selection_.connection() ? connection_html(*snapshot, *selection_.connection()) : QString();
  detail_->show_html(html);
}

}  // namespace roce::gui
