// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/findings_page.hpp"

#include <QHeaderView>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "analyze/results/finding_columns.hpp"
#include "gui/charts/theme.hpp"
#include "gui/models/details.hpp"
#include "gui/pages/table_view.hpp"

namespace roce::gui {
namespace {

/// Paints the severity icon before each row.
class SignDelegate final : public QStyledItemDelegate {
 public:
  using QStyledItemDelegate::QStyledItemDelegate;

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    if (index.column() != FindingTree::title_column) return;
    option->features |= QStyleOptionViewItem::HasDecoration;
    option->decorationSize = QSize(16, 16);
    option->icon = severity_icon(
        static_cast<analyze::Severity>(index.data(TableModelBase::severity_role).toInt()), option->palette);
    option->font.setBold(!index.parent().isValid());
  }
};

/// Shows a text where filters hide all rows.
class KindTree final : public QTreeView {
 public:
  explicit KindTree(const FindingsPage& page) : page_(page) {}

 protected:
  void paintEvent(QPaintEvent* event) override {
    QTreeView::paintEvent(event);
    paint_empty_text(*this, page_.empty_text());
  }

 private:
  const FindingsPage& page_;
};

}  // namespace

FindingsPage::FindingsPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      diagnoses_(new TableView(tr("Diagnoses"), diagnosis_model_)),
      bar_(new FilterBar(tr("Search findings: title, host, queue pair"))),
      tree_(new KindTree(*this)),
      detail_(new DetailView),
      diagnosis_packets_(offer(diagnoses_, tr("Show &packets"),
                               tr("Show the packets that prove the selected diagnosis"),
                               [this] { prove_diagnosis(PageId::packets); })),
      diagnosis_graph_(offer(diagnoses_, tr("Show &graph"),
                             tr("Show the connection of the selected diagnosis over time"),
                             [this] { prove_diagnosis(PageId::connections); })),
      show_packets_(offer(tree_, tr("Show &packets"), tr("Show the evidence packets of the selected finding"),
                          [this] { lead_on(PageId::packets); })),
      show_connection_(offer(tree_, tr("Show &connection"), tr("Show the connection of the selected finding"),
                             [this] { follow_connection(); })),
      show_graph_(offer(tree_, tr("Show &graph"), tr("Show the connection of the selected finding over time"),
                        [this] { lead_on(PageId::connections); })) {
  filter_.setSourceModel(&model_);
  tree_->setModel(&filter_);
  tree_->setObjectName(QStringLiteral("findings"));
  tree_->setAccessibleName(tr("Findings by kind"));
  tree_->setItemDelegate(new SignDelegate(tree_));
  tree_->setUniformRowHeights(true);
  tree_->setAlternatingRowColors(true);
  tree_->header()->setStretchLastSection(false);
  tree_->header()->setSectionResizeMode(FindingTree::title_column, QHeaderView::Stretch);
  tree_->header()->setSectionResizeMode(FindingTree::count_column, QHeaderView::ResizeToContents);
  detail_->setAccessibleName(tr("Selected diagnosis or finding"));
  diagnoses_->show_columns({"severity", "sentence", "place", "since", "cost"});
  // The sentence gets what room there is: it is what one reads.
  diagnoses_->horizontalHeader()->setSectionResizeMode(diagnosis_model_.column_of("sentence"),
                                                       QHeaderView::Stretch);
  diagnoses_->setSelectionMode(QAbstractItemView::SingleSelection);
  diagnoses_->hide();

  auto* left = new QWidget;
  auto* column = new QVBoxLayout(left);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(bar_);
  column->addWidget(tree_, 1);
  auto* split = new QSplitter(Qt::Horizontal);
  split->addWidget(left);
  split->addWidget(detail_);
  split->setStretchFactor(0, 2);
  split->setStretchFactor(1, 3);
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addWidget(diagnoses_);
  layout->addWidget(split, 1);
  setFocusProxy(tree_);

  bar_->limit_times(selection, tr("Only findings in the selected time range; click to show all times"));
  bar_->drive(this, filter_);
  connect(bar_, &FilterBar::text_changed, this, &FindingsPage::refresh);
  connect(bar_, &FilterBar::severity_changed, this, &FindingsPage::refresh);
  connect(bar_, &FilterBar::time_changed, this, &FindingsPage::refresh);
  connect(tree_->selectionModel(), &QItemSelectionModel::currentChanged, this,
          [this](const QModelIndex& current) {
            if (showing_ || !current.isValid()) return;
            QModelIndex row = filter_.mapToSource(current.siblingAtColumn(0));
            if (!row.parent().isValid()) row = model_.index(0, 0, row);  // for a kind its worst finding
            // Not where the row follows the selection.
            const QString key = row.data(TableModelBase::key_role).toString();
            if (key != selection_.finding()) selection_.choose_finding(key);
          });
  // A click on the row that is current already: from a diagnosis back to it.
  connect(tree_, &QTreeView::clicked, this, [this] { selection_.choose_finding(selection_.finding()); });
  connect(diagnoses_, &TableView::row_chosen, this, [this] {
    if (!showing_)
      selection_.set_diagnosis(diagnoses_->currentIndex().data(TableModelBase::key_role).toString());
  });
  connect(diagnoses_, &QTableView::clicked, this, [this](const QModelIndex& row) {
    selection_.set_diagnosis(row.data(TableModelBase::key_role).toString());
  });
  connect(diagnoses_, &TableView::row_activated, this, [this] { prove_diagnosis(PageId::packets); });
  connect(&selection_, &Selection::diagnosis_changed, this, &FindingsPage::show_selected);
  connect(&diagnosis_model_, &TableModelBase::rows_changed, this, &FindingsPage::show_diagnoses);
  tree_->setExpandsOnDoubleClick(false);  // double click and Enter emit activated()
  connect(tree_, &QTreeView::activated, this, &FindingsPage::open_row);
  connect(detail_, &QTextBrowser::anchorClicked, this, &FindingsPage::follow);
  connect(&selection_, &Selection::finding_changed, this, &FindingsPage::show_selected);
  connect(&session_, &AnalysisSession::state_changed, this, &FindingsPage::refresh);
  show_snapshot();
}

void FindingsPage::show_snapshot() {
  diagnoses_->set_reason(why_empty(tr("No cause of trouble was found")));
  showing_ = true;
  model_.show(shown());
  diagnosis_model_.show(shown());
  showing_ = false;
  refresh();
}

bool FindingsPage::is_settled() const {
  return Page::is_settled() && diagnosis_model_.is_settled();
}

/// As high as its rows need, up to a few.
void FindingsPage::show_diagnoses() {
  constexpr int most = 5;
  const int rows = diagnosis_model_.rowCount();
  diagnoses_->setVisible(rows != 0);
  diagnoses_->setFixedHeight(diagnoses_->horizontalHeader()->sizeHint().height() +
                             std::min(rows, most) * diagnoses_->verticalHeader()->defaultSectionSize() +
                             2 * diagnoses_->frameWidth());
  show_selected();
}

std::optional<DiagnosisTable::Row> FindingsPage::explained() const {
  if (!shown() || shown()->diagnoses.empty()) return std::nullopt;
  const auto& key = selection_.diagnosis();
  if (key && key->isEmpty()) return std::nullopt;
  const int row = key ? diagnosis_model_.row_of(*key) : -1;
  return row >= 0 ? diagnosis_model_.row(row)
                  : DiagnosisTable::Row{&shown()->diagnoses.front(), shown().get()};
}

void FindingsPage::prove_diagnosis(PageId page) {
  const auto diagnosis = explained();
  if (!diagnosis) return;
  for (const std::size_t index : diagnosis->of->findings) {
    const analyze::Finding& proof = diagnosis->in->findings[index];
    if (proof.packets.empty()) continue;
    selection_.set_finding(to_qt(finding_key(proof)));
    break;
  }
  lead_to_evidence(*diagnosis->of, page);
}

void FindingsPage::show_severity(analyze::Severity least) {
  catch_up();
  bar_->set_severity(least);
}

QString FindingsPage::empty_text() const {
  const int all = shown() ? static_cast<int>(shown()->findings.size()) : 0;
  return all == 0 || filter_.rowCount() != 0 ? QString() : left_out_text(all);
}

void FindingsPage::refresh() {
  int listed = 0;
  for (int i = 0; i < filter_.rowCount(); ++i) {
    listed += filter_.rowCount(filter_.index(i, 0));
    // Kinds with many findings stay collapsed: they would push the others out of sight.
    constexpr int opened = 8;
    if (filter_.rowCount(filter_.index(i, 0)) <= opened) tree_->expand(filter_.index(i, 0));
  }
  const int all = shown() ? static_cast<int>(shown()->findings.size()) : 0;
  bar_->show_counts(listed, all);
  if (listed == all && all > 0) {
    selection_.offer_finding(to_qt(finding_key(shown()->findings.front())), shown()->final);
  } else if (listed > 0) {
    const QModelIndex worst = filter_.mapToSource(filter_.index(0, 0, filter_.index(0, 0)));
    selection_.offer_finding(worst.data(TableModelBase::key_role).toString(), false);
  }
  show_selected();
}

void FindingsPage::show_selected() {
  const QModelIndex place = filter_.mapFromSource(model_.index_of(selection_.finding()));
  const QModelIndex current = tree_->currentIndex();
  const bool on_its_kind =
      current.isValid() && !current.parent().isValid() && current.row() == place.parent().row();
  if (place.isValid() && current.siblingAtColumn(0) != place && !on_its_kind) {
    tree_->setCurrentIndex(place);
    tree_->scrollTo(place);
  } else if (selection_.finding().isEmpty()) {
    tree_->selectionModel()->clear();  // no current row either, so that a click selects it again
  }
  // The row of what is explained, and none of the other list.
  const auto of = explained();
  QString key;
  for (int row = 0; of && row < diagnosis_model_.rowCount(); ++row) {
    if (diagnosis_model_.row(row).of == of->of)
      key = diagnosis_model_.index(row, 0).data(TableModelBase::key_role).toString();
  }
  const bool before = std::exchange(showing_, true);
  diagnoses_->select_key(key);
  showing_ = before;
  show_detail();
}

void FindingsPage::show_detail() {
  const auto diagnosis = explained();
  diagnosis_packets_->setEnabled(diagnosis && !diagnosis->of->packets.empty());
  diagnosis_graph_->setEnabled(diagnosis && !diagnosis->of->connections.empty());

  const analyze::Finding* finding = chosen();
  show_packets_->setEnabled(finding != nullptr && !finding->packets.empty());
  for (QAction* action : {show_connection_, show_graph_})
    action->setEnabled(finding != nullptr && !finding->connections.empty());
  if (diagnosis) {
    detail_->show_html(diagnosis_html(*diagnosis->in, *diagnosis->of, session_.files()));
  } else if (finding != nullptr) {
    detail_->show_html(finding_html(*shown(), *finding, session_.files()));
  } else if (!shown()) {
    detail_->show_html(QString());
  } else {
    detail_->show_html(
        QStringLiteral("<p class=\"name\">%1</p>").arg(health_of(*shown()).line.toHtmlEscaped()));
  }
}

void FindingsPage::open_row(const QModelIndex& row) {
  if (row.parent().isValid()) {
    lead_on(PageId::packets);
  } else {
    tree_->setExpanded(row.siblingAtColumn(0), !tree_->isExpanded(row.siblingAtColumn(0)));
  }
}

void FindingsPage::lead_on(PageId page) {
  if (const analyze::Finding* finding = chosen()) lead_to_evidence(*finding, page);
}

void FindingsPage::follow_connection() {
  const analyze::Finding* finding = chosen();
  if (finding == nullptr || finding->connections.empty()) return;
  selection_.set_connection(finding->connections.front());
  Q_EMIT leads_to(PageId::connections);
}

const analyze::Finding* FindingsPage::chosen() const {
  return model_.finding(model_.index_of(selection_.finding()));
}

void FindingsPage::step(int places) {
  catch_up();
  QList<QModelIndex> rows;
  for (int i = 0; i < filter_.rowCount(); ++i) {
    const QModelIndex kind = filter_.index(i, 0);
    for (int j = 0; j < filter_.rowCount(kind); ++j) rows << filter_.index(j, 0, kind);
  }
  if (rows.isEmpty()) {
    const QString why = empty_text();
    Q_EMIT says(why.isEmpty() ? tr("There are no findings") : why);
    return;
  }
  const auto count = rows.size();
  const auto at = rows.indexOf(filter_.mapFromSource(model_.index_of(selection_.finding())));
  const auto next = at < 0 ? 0 : (at + places % count + count) % count;
  selection_.choose_finding(rows[next].data(TableModelBase::key_role).toString());
}

}  // namespace roce::gui
