// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/fabric_page.hpp"

#include <QHBoxLayout>
#include <QSplitter>
#include <algorithm>
#include <new>
#include <utility>

#include "analyze/base/address_text.hpp"

namespace roce::gui {
namespace {

QString lines_of(const std::vector<std::string>& texts) {
  QStringList lines;
  for (const std::string& text : texts) {
    if (!text.empty()) lines << to_qt(text);
  }
  return lines.join(QLatin1Char('\n'));
}

}  // namespace

FabricPage::FabricPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent), tabs_(new QTabWidget) {
  tabs_->setAccessibleName(tr("Hosts, paths, MRC, shells, mirrors and switches"));
  tabs_->setDocumentMode(true);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addWidget(tabs_);
  setFocusProxy(tabs_);

  add_hosts();
  QVBoxLayout* column = add_tab(paths, tr("Search paths: address, UDP source port, segment"));
  TableView* table =
      add_table(paths, tr("Paths"), path_model_, tr("No RoCE in this capture, so no paths of it."));
  // What is rare stands behind what is always there.
  table->show_columns({"src", "dst", "udp_sport", "packets", "bytes", "share", "load", "ce", "lost",
                       "out_of_order", "latency_ns", "latency_p99_ns", "flow_label", "segment",
                       "source_mac"});
  column->addWidget(table, 1);

  column = add_tab(mrc, tr("Search MRC: address, queue pair, source port"));
  auto* split = new QSplitter(Qt::Vertical);
  const QString no_mrc =
      tr("No MRC in this capture. It is looked for at UDP ports 4791 and 4971; Edit > Preferences takes "
         "another port.");
  table = add_table(mrc, tr("MRC streams"), mrc_stream_model_, no_mrc);
  table->show_columns({"stream", "src", "dst", "qp", "paths", "packets", "repeats", "needless", "lost",
                       "trimmed", "not_captured", "ce", "nacks", "rtt_p50", "rtt_p99"});
  split->addWidget(table);
  parts_[mrc].inner = new QTabWidget;
  parts_[mrc].inner->setAccessibleName(tr("Paths and losses of MRC"));
  split->addWidget(parts_[mrc].inner);
  split->setStretchFactor(0, 1);
  split->setStretchFactor(1, 2);
  split->setChildrenCollapsible(false);
  column->addWidget(split, 1);
  table = add_inner(mrc, tr("MRC paths"), tr("Paths of MRC"), mrc_path_model_, tr("No paths of MRC."));
  table->show_columns({"stream", "udp_source", "packets", "bytes", "repeats", "lost", "trimmed", "ce",
                       "marked", "retired", "rtt_min", "rtt_mean", "rtt_max", "flow_label"});
  add_inner(mrc, tr("MRC losses"), tr("Lost packets"), mrc_loss_model_, tr("No packet of MRC was lost."));

  add_tab(shells, tr("Search shells: kind, SPI, address"))
      ->addWidget(add_table(shells, tr("Shells"), shell_model_,
                            tr("Nothing encrypted in this capture: no ESP, AH, PSP or MACsec.")),
                  1);
  add_tab(mirrors, tr("Search mirrors: session, key, address"))
      ->addWidget(add_table(mirrors, tr("Mirrors"), mirror_model_,
                            tr("No mirror that numbers its packets: no ERSPAN, and no GRE with sequence "
                               "numbers. What a mirror of another kind lost cannot be told.")),
                  1);

  column = add_tab(switches, tr("Search exports: switch, address, reason"));
  parts_[switches].inner = new QTabWidget;
  parts_[switches].inner->setAccessibleName(tr("What switches exported"));
  column->addWidget(parts_[switches].inner, 1);
  const QString no_exports = tr("No sFlow, IPFIX or NetFlow in this capture.");
  add_inner(switches, tr("Dropped packets"), tr("Dropped"), drop_model_,
            tr("No switch told of a packet that it dropped."));
  add_inner(switches, tr("Sampled flows"), tr("Sampled flows"), sampled_model_,
            tr("No sample of a RoCE packet."));
  add_inner(switches, tr("Data sources"), tr("Data sources"), source_model_, no_exports);
  add_inner(switches, tr("Queues of switches"), tr("Queues"), queue_model_,
            tr("No sample tells which queue its packet passed, or how full it was."));
  add_inner(switches, tr("Ports of switches"), tr("Ports"), port_model_,
            tr("No switch sent counters of its ports."));
  connect(tabs_, &QTabWidget::currentChanged, this, &FabricPage::refresh);
  make_matrix();
  refresh();
}

void FabricPage::add_hosts() {
  QVBoxLayout* column = add_tab(hosts, tr("Search pairs: address"));
  measure_ = new QComboBox;
  measure_->setObjectName(QStringLiteral("matrix_measure"));
  measure_->setAccessibleName(tr("What the matrix shows"));
  for (const MatrixMeasure& measure : matrix_measures()) measure_->addItem(measure_heading(measure));
  auto* row = new QHBoxLayout;
  auto* name = new QLabel(tr("Sho&w:"));
  name->setBuddy(measure_);
  row->addWidget(name);
  row->addWidget(measure_);
  row->addStretch(1);
  column->addLayout(row);
  matrix_ = new HostMatrixView;
  matrix_->setAccessibleName(tr("Hosts against hosts"));
  pairs_ = add_table(hosts, tr("Pairs of hosts"), pair_model_, no_connections_text());
  pairs_->show_columns({"src", "dst", "packets", "bytes", "lost", "lost_share", "retransmitted_share", "naks",
                        "ce_share", "cnps", "latency_p99_ns"});
  auto* split = new QSplitter(Qt::Horizontal);
  split->addWidget(matrix_);
  split->addWidget(pairs_);
  split->setStretchFactor(0, 2);
  split->setStretchFactor(1, 3);
  split->setChildrenCollapsible(false);
  column->addWidget(split, 1);
  connect(measure_, &QComboBox::currentIndexChanged, this,
          [this](int index) { matrix_->set_measure(static_cast<std::size_t>(std::max(0, index))); });
  connect(matrix_, &HostMatrixView::pair_chosen, this, &FabricPage::show_pair);
  connect(matrix_, &HostMatrixView::pair_activated, this, &FabricPage::lead_to_connections);
  connect(pairs_, &TableView::row_chosen, this, [this] {
    const int chosen = pairs_->currentIndex().row();
    if (chosen < 0) return;
    const analyze::HostPairRow& pair = pair_model_.row(chosen);
    matrix_->set_current(matrix_->matrix().cell(pair.src, pair.dst));
  });
  offer(pairs_, tr("Show &connections"), tr("Show the connections between the two hosts"),
        [this] { lead_to_connections(); });
}

/// The row of the chosen square.
void FabricPage::show_pair() {
  if (!matrix_->current()) return;
  const HostMatrix& all = matrix_->matrix();
  const HostMatrix::Cell& cell = all.cells()[*matrix_->current()];
  for (int row = 0; row < pair_model_.rowCount(); ++row) {
    const analyze::HostPairRow& pair = pair_model_.row(row);
    if (pair.src != all.host(cell.from) || pair.dst != all.host(cell.to)) continue;
    pairs_->select_key(pair_model_.index(row, 0).data(TableModelBase::key_role).toString());
    return;
  }
}

void FabricPage::lead_to_connections() {
  if (!matrix_->current()) return;
  const HostMatrix& all = matrix_->matrix();
  const HostMatrix::Cell& cell = all.cells()[*matrix_->current()];
  Q_EMIT pair_chosen(all.name(cell.from) + QLatin1Char(' ') + all.name(cell.to));
  Q_EMIT leads_to(PageId::connections);
}

/// On another thread: it grows with the capture.
void FabricPage::make_matrix() {
  matrix_made_ = false;
  matrix_->say(why_empty(no_connections_text()));
  if (!shown()) {
    making_.cancel();
    matrix_->show_matrix(std::make_shared<HostMatrix>());
    matrix_made_ = true;
    return;
  }
  making_.run([this, snapshot = shown()]() -> std::function<void()> {
    std::shared_ptr<const HostMatrix> made;
    try {
      made = std::make_shared<const HostMatrix>(*snapshot);
    } catch (const std::bad_alloc&) {
      // The table remains.
    }
    return [this, made = std::move(made)] {
      matrix_made_ = true;
      matrix_->say(made == nullptr     ? tr("Not enough memory")
                   : made->size() == 0 ? why_empty(no_connections_text())
                                       : QString());
      matrix_->show_matrix(made == nullptr ? std::make_shared<HostMatrix>() : made);
    };
  });
}

QVBoxLayout* FabricPage::add_tab(Part part, const QString& hint) {
  auto* page = new QWidget;
  auto* column = new QVBoxLayout(page);
  column->setContentsMargins(0, 6, 0, 0);
  Tab& tab = parts_[part];
  tab.note = new QLabel;
  tab.note->setTextFormat(Qt::PlainText);
  tab.note->setWordWrap(true);
  tab.note->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  tab.bar = new FilterBar(hint);
  tab.bar->without_severity();
  column->addWidget(tab.note);
  column->addWidget(tab.bar);
  tabs_->addTab(page, QString());
  return column;
}

template <class Model>
TableView* FabricPage::add_table(Part part, const QString& name, Model& model, const QString& none) {
  auto* view = new TableView(name, model);
  view->without_icons();
  shown_tables_.push_back({part, &model, view, -1, name, none});
  parts_[part].bar->drive(this, model);
  connect(&model, &TableModelBase::rows_changed, this, &FabricPage::refresh);
  lead(view, model);
  return view;
}

template <class Model>
TableView* FabricPage::add_inner(Part part, const QString& name, const QString& title, Model& model,
                                 const QString& none) {
  QTabWidget* inner = parts_[part].inner;
  inner->setDocumentMode(true);
  TableView* view = add_table(part, name, model, none);
  shown_tables_.back().inner = inner->addTab(view, QString());
  shown_tables_.back().name = title;
  return view;
}

/// A row leads to its packets, if there are any to be shown.
template <class Model>
void FabricPage::lead(TableView* view, const Model& model) {
  if constexpr (requires { packets_of(model.row(0)); }) {
    const auto show = [this, view, &model] {
      const int row = view->currentIndex().row();
      if (row < 0) return;
      const RowPackets found = packets_of(model.row(row));
      if (found.filter.empty()) return lead_to_packet(found.packet);
      Q_EMIT filter_wanted(to_qt(found.filter));
      Q_EMIT leads_to(PageId::packets);
    };
    connect(view, &TableView::row_activated, this, show);
    offer(view, tr("Show &packets"), tr("Show the packets of the selected row"), show);
  }
}

QWidget* FabricPage::search_field() {
  return parts_[static_cast<std::size_t>(std::max(0, tabs_->currentIndex()))].bar->field();
}

bool FabricPage::is_settled() const {
  return Page::is_settled() && matrix_made_ &&
         std::all_of(shown_tables_.begin(), shown_tables_.end(),
                     [](const Shown& each) { return each.model->is_settled(); });
}

void FabricPage::show_snapshot() {
  for (const Shown& each : shown_tables_) each.model->show(shown());
  make_matrix();
}

QString FabricPage::note_of(Part part) const {
  if (!shown()) return {};
  const analyze::Snapshot& s = *shown();
  switch (part) {
    case mrc:
      return to_qt(analyze::mrc_text(s));
    case shells:
      return lines_of(analyze::numbered_notes(s, analyze::NumberedRows::shells));
    case mirrors:
      return lines_of(analyze::numbered_notes(s, analyze::NumberedRows::mirrors));
    case switches:
      return lines_of({analyze::exports_text(s.exports), analyze::export_gaps_text(s.exports),
                       analyze::sample_shares_text(s.exports), analyze::export_records_text(s.exports)});
    case hosts:
      if (!s.completeness.may_judge_losses())
        return tr("This capture lacks packets, so losses and repeats between hosts cannot be told.");
      return {};
    case paths:
      return s.mrc == nullptr ? QString() : tr("What MRC lost on its paths is told in its own tables.");
    case part_count:
      break;
  }
  return {};
}

void FabricPage::refresh() {
  // Parts that the capture has nothing of stay: "(0)" shows it, and the table says why.
  const QString titles[] = {tr("H&osts"),  tr("Pa&ths"),   tr("M&RC"),
                            tr("She&lls"), tr("M&irrors"), tr("S&witches")};
  std::array<int, part_count> rows{};
  for (const Shown& each : shown_tables_) {
    each.view->set_reason(why_empty(each.none));
    if (each.inner >= 0)
      parts_[each.part].inner->setTabText(
          each.inner, QStringLiteral("%1 (%2)").arg(each.name).arg(each.model->rowCount()));
    // The first table of a part is what it is about.
    if (each.inner < 0) rows[each.part] = each.model->all_rows();
  }
  if (shown()) rows[switches] = static_cast<int>(shown()->exports.switches());
  for (int part = 0; part < part_count; ++part) {
    const Tab& tab = parts_[static_cast<std::size_t>(part)];
    const QString note = note_of(static_cast<Part>(part));
    tab.note->setText(note);
    tab.note->setVisible(!note.isEmpty());
    tab.bar->setVisible(rows[static_cast<std::size_t>(part)] != 0);
    const QString count = QStringLiteral(" (%1)").arg(rows[static_cast<std::size_t>(part)]);
    tabs_->setTabText(part, titles[part] + (shown() ? count : QString()));
  }
  for (const Shown& each : shown_tables_) {
    if (parts_[each.part].inner == nullptr)
      parts_[each.part].bar->show_counts(each.model->rowCount(), each.model->all_rows());
  }
}

}  // namespace roce::gui
