// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/connections_page.hpp"

#include <QSplitter>
#include <QUrl>
#include <QVBoxLayout>
#include <new>

#include "gui/models/details.hpp"

namespace roce::gui {

ConnectionsPage::ConnectionsPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      bar_(new FilterBar(tr("Search connections: address, queue pair, type, state"))),
      table_(new TableView(tr("Connections"), model_)),
      detail_(new DetailView),
      graphs_(new ConnectionGraphs(session, selection, detail_)),
      sparks_(new SparkDelegate(this)) {
  table_->setItemDelegateForColumn(model_.column_of("packets"), sparks_);
  table_->show_columns({"id", "a", "a_qp", "b", "b_qp", "state", "packets", "goodput_bps", "lost",
                        "retransmitted", "naks", "rnr_naks", "latency_p99_ns"});
  detail_->setAccessibleName(tr("Selected connection"));
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
  setFocusProxy(table_);

  bar_->limit_times(selection, tr("Only connections with packets in the selected time range; their figures "
                                  "cover the whole capture. Click to show all times"));
  bar_->drive(this, model_);
  connect(table_, &TableView::row_chosen, this, [this] {
    const QVariant id = table_->currentIndex().data(TableModelBase::id_role);
    if (id.isValid()) selection_.set_connection(static_cast<std::uint32_t>(id.toULongLong()));
  });
  connect(table_, &TableView::row_activated, this, &ConnectionsPage::show_graph);
  connect(graphs_, &ConnectionGraphs::packet_activated, this, &ConnectionsPage::lead_to_packet);
  connect(detail_, &QTextBrowser::anchorClicked, this, &ConnectionsPage::follow);
  connect(&selection_, &Selection::connection_changed, this, &ConnectionsPage::show_selected);
  connect(&session_, &AnalysisSession::packets_changed, this, &ConnectionsPage::forget_sparks);
  connect(&session_, &AnalysisSession::state_changed, this, &ConnectionsPage::count_sparks);
  connect(&session_, &AnalysisSession::snapshot_changed, this, &ConnectionsPage::count_sparks);
  connect(&session_, &AnalysisSession::state_changed, this, &ConnectionsPage::refresh);
  connect(&model_, &TableModelBase::rows_changed, this, &ConnectionsPage::refresh);
  connect(this, &Page::seen_changed, graphs_, [this] { graphs_->set_in_front(is_seen()); });
  show_snapshot();
  refresh();
}

ConnectionsPage::~ConnectionsPage() {
  counting_.request_stop();
}

void ConnectionsPage::showEvent(QShowEvent* event) {
  Page::showEvent(event);
  count_sparks();
}

void ConnectionsPage::forget_sparks() {
  counting_.request_stop();
  count_.cancel();
  counted_ = false;
  sparks_->show(nullptr);
}

/// When a capture has been read and the page is visible.
void ConnectionsPage::count_sparks() {
  if (counted_ || !isVisible() || !session_.snapshot() || !session_.packets() ||
      !session_.packets()->analysed())
    return;
  counted_ = true;
  counting_ = std::stop_source();
  const std::shared_ptr<const PacketStore> store = session_.packets();
  count_.run(
      [this, store, snapshot = session_.snapshot(), stop = counting_.get_token()]() -> std::function<void()> {
        std::shared_ptr<const ConnectionSparks> sparks;
        try {
          sparks = ConnectionSparks::count(store, *snapshot, stop);
        } catch (const std::bad_alloc&) {
          // Numbers without sparklines, then.
        }
        return [this, sparks] {
          sparks_->show(sparks);
          table_->viewport()->update();
        };
      });
}

void ConnectionsPage::show_snapshot() {
  table_->set_reason(why_empty(no_connections_text()));
  model_.show(shown());
}

void ConnectionsPage::search(const QString& text) {
  catch_up();
  bar_->set_severity(std::nullopt);
  bar_->field()->setText(text);
}

void ConnectionsPage::show_graph() {
  graphs_->setCurrentIndex(ConnectionGraphs::sequence);
}

void ConnectionsPage::refresh() {
  bar_->show_counts(model_.rowCount(), model_.all_rows());
  // Select the worst connection by default, so that the details are not empty. As long as the user selects no
  // other one, it is updated while the capture is read.
  const bool all_known =
      session_.state() == AnalysisSession::State::done && model_.rowCount() == model_.all_rows();
  const bool unchosen = !selection_.connection() || (all_known && selection_.connection() == offered_);
  if (unchosen && model_.worst_row() >= 0) {
    offered_ = model_.row(model_.worst_row())->id;
    selection_.offer_connection(*offered_);
  }
  show_selected();
}

void ConnectionsPage::show_selected() {
  if (selection_.connection()) table_->select_key(QString::number(*selection_.connection()));
  show_detail();
}

void ConnectionsPage::show_detail() {
  const SnapshotPtr& snapshot = shown();
  const QString html =
      snapshot && selection_.connection() ? connection_html(*snapshot, *selection_.connection()) : QString();
  detail_->show_html(html);
}

}  // namespace roce::gui
