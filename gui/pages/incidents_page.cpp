// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/incidents_page.hpp"

#include <QHBoxLayout>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "analyze/connection/find_connection.hpp"
#include "analyze/results/incident_columns.hpp"
#include "gui/models/incident_trace.hpp"
#include "gui/models/shown_names.hpp"
#include "gui/models/time_format.hpp"

namespace roce::gui {
namespace {

QString html_of(const analyze::Snapshot& snapshot, const analyze::Incident& incident) {
  const auto* connection = analyze::find_connection(snapshot.connections, incident.connection);
  QString html =
      QStringLiteral("<h2>%1</h2>").arg(to_qt(analyze::incident_what_text(incident)).toHtmlEscaped());
  QStringList facts;
  if (connection != nullptr) {
    const auto end = [&](unsigned side) { return shown_host(connection->ends[side].address); };
    facts << IncidentsPage::tr("Requests from %1 to %2").arg(end(incident.side), end(incident.side ^ 1U));
  }
  if (incident.start_ns != capture::no_time) facts << shown_time(snapshot, incident.start_ns);
  facts << IncidentsPage::tr("packets %1 to %2").arg(incident.first_frame).arg(incident.last_frame);
  html += QStringLiteral("<p class=\"name\">%1</p>").arg(facts.join(QStringLiteral(" · ")).toHtmlEscaped());
  for (const QString& sentence : incident_sentences(snapshot, incident))
    html += QStringLiteral("<p>%1</p>").arg(sentence.toHtmlEscaped());
  return html;
}

}  // namespace

IncidentsPage::IncidentsPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      bar_(new FilterBar(tr("Search incidents: what, address, how it was noticed"))),
      table_(new TableView(tr("Incidents"), model_)),
      detail_(new DetailView),
      ladder_(new LadderView),
      show_packets_(offer(table_, tr("Show &packets"), tr("Show the packets of the selected incident"),
                          [this] { show_packets(); })),
      show_graph_(offer(table_, tr("Show &graph"),
                        tr("Show the connection of the selected incident over time"), [this] {
                          const analyze::Incident* incident = chosen();
                          if (incident == nullptr) return;
                          selection_.set_connection(incident->connection);
                          selection_.set_packet(incident->first_frame);
                          Q_EMIT graph_wanted();
                          Q_EMIT leads_to(PageId::connections);
                        })) {
  table_->show_columns({"id", "start", "duration_ns", "a", "requester", "b", "what", "learned_by",
                        "repeated_packets", "stalled_ns"});
  detail_->setAccessibleName(tr("Selected incident"));
  ladder_->setAccessibleName(tr("Packets of the incident"));
  ladder_->explain_steps();
  bar_->limit_times(selection_, tr("Only incidents in the selected time range. Click to show all times"));
  auto* row = new QHBoxLayout;
  row->addWidget(bar_, 1);
  for (QAction* action : {show_packets_, show_graph_}) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    row->addWidget(button);
  }
  auto* below = new QSplitter(Qt::Horizontal);
  below->addWidget(detail_);
  below->addWidget(ladder_);
  below->setStretchFactor(0, 2);
  below->setStretchFactor(1, 5);
  below->setChildrenCollapsible(false);
  auto* all = new QSplitter(Qt::Vertical);
  all->addWidget(table_);
  all->addWidget(below);
  all->setStretchFactor(0, 2);
  all->setStretchFactor(1, 3);
  all->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addLayout(row);
  layout->addWidget(all, 1);
  setFocusProxy(table_);
  bar_->drive(this, model_);
  connect(table_, &TableView::row_chosen, this, [this] {
    if (table_->currentIndex().isValid())
      selection_.set_incident(model_.row(table_->currentIndex().row())->first_frame);
  });
  connect(table_, &TableView::row_activated, this, &IncidentsPage::show_packets);
  connect(ladder_, &LadderView::packet_chosen, this,
          [this](quint64 number) { selection_.set_packet(number); });
  connect(ladder_, &LadderView::packet_activated, this, &IncidentsPage::lead_to_packet);
  connect(&selection_, &Selection::incident_changed, this, &IncidentsPage::show_selected);
  connect(&model_, &TableModelBase::rows_changed, this, &IncidentsPage::refresh);
  connect(&session_, &AnalysisSession::state_changed, this, &IncidentsPage::refresh);
  connect(this, &Page::seen_changed, this, &IncidentsPage::show_incident);
  show_snapshot();
  refresh();
}

IncidentsPage::~IncidentsPage() {
  stop_.request_stop();
}

void IncidentsPage::show_snapshot() {
  QString none = tr("No incidents: nothing was lost, sent again or refused");
  if (shown() && shown()->connections.empty()) none = no_connections_text();
  if (shown() && !shown()->complete()) none = tr("No incidents in what could be read");
  table_->set_reason(why_empty(none));
  read_.reset();
  model_.show(shown());
}

const analyze::Incident* IncidentsPage::chosen() const {
  if (!shown() || !selection_.incident()) return nullptr;
  const auto& all = shown()->incidents;
  const auto found = std::find_if(all.begin(), all.end(), [this](const analyze::Incident& incident) {
    return incident.first_frame == *selection_.incident();
  });
  return found == all.end() ? nullptr : &*found;
}

void IncidentsPage::refresh() {
  bar_->show_counts(model_.rowCount(), model_.all_rows());
  if (!selection_.incident() && session_.state() == AnalysisSession::State::done && model_.worst_row() >= 0 &&
      model_.rowCount() == model_.all_rows())
    selection_.set_incident(model_.row(model_.worst_row())->first_frame);
  show_selected();
}

void IncidentsPage::show_selected() {
  const analyze::Incident* incident = chosen();
  show_packets_->setEnabled(incident != nullptr);
  show_graph_->setEnabled(incident != nullptr);
  for (int row = 0; incident != nullptr && row < model_.rowCount(); ++row) {
    if (model_.row(row)->id != incident->id) continue;
    table_->select_key(table_->model()->index(row, 0).data(TableModelBase::key_role).toString());
    break;
  }
  show_incident();
}

/// Its packets are read when somebody looks.
void IncidentsPage::show_incident() {
  const analyze::Incident* incident = chosen();
  detail_->show_html(incident != nullptr ? html_of(*shown(), *incident) : QString());
  const auto& packets = session_.packets();
  const bool ready = incident != nullptr && packets && packets->analysed() && session_.snapshot() == shown();
  if (!ready) {
    stop_.request_stop();
    read_call_.cancel();
    reading_ = false;
    read_.reset();
    ladder_->show_trace(nullptr, 0, {});
    ladder_->say(incident != nullptr ? tr("The packets are listed when the capture has been read")
                                     : tr("No incident is selected"));
    return;
  }
  if (read_ == incident->first_frame) return;
  if (!is_seen()) {
    ladder_->show_trace(nullptr, 0, {});
    return ladder_->say(tr("The packets of the incident are read when its page is in front"));
  }
  read_ = incident->first_frame;
  stop_.request_stop();
  stop_ = std::stop_source();
  reading_ = true;
  read_call_.run([this, packets = std::shared_ptr<const PacketStore>(packets), snapshot = shown(),
                  one = *incident, stop = stop_.get_token()]() -> std::function<void()> {
    std::shared_ptr<const analyze::ConnectionTrace> trace;
    try {
      trace = incident_trace(packets, *snapshot, one, stop);
    } catch (const std::bad_alloc&) {
      // Said below.
    }
    return [this, trace, snapshot, one] {
      reading_ = false;
      std::array<QString, 2> ends;
      if (const auto* connection = analyze::find_connection(snapshot->connections, one.connection)) {
        for (const unsigned side : {0U, 1U}) ends[side] = shown_host(connection->ends[side].address);
      }
      ladder_->say(trace ? QString() : tr("The packets could not be read"));
      ladder_->show_trace(trace, snapshot->first_read_ns.value_or(snapshot->totals.first_time_ns), ends);
      if (trace && trace->stopped)
        Q_EMIT says(
            tr("The incident goes on to packet %1: only its beginning is listed").arg(one.last_frame));
    };
  });
}

void IncidentsPage::show_packets() {
  const analyze::Incident* incident = chosen();
  if (incident == nullptr) return;
  selection_.set_connection(incident->connection);
  Q_EMIT filter_wanted(QStringLiteral("roce.incident == %1").arg(incident->id));
  selection_.set_packet(incident->first_frame);
  Q_EMIT leads_to(PageId::packets);
}

}  // namespace roce::gui
