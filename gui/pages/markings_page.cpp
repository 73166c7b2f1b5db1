// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/markings_page.hpp"

#include <QSplitter>
#include <QStyledItemDelegate>
#include <QVBoxLayout>
#include <algorithm>
#include <cmath>

#include "analyze/base/address_text.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "gui/charts/theme.hpp"

namespace roce::gui {
namespace {

QString judged_text(const analyze::Snapshot* snapshot, bool range) {
  if (snapshot == nullptr) return {};
  QString text;
  if (!snapshot->policy) {
    text =
        MarkingsPage::tr("No policy: Analyze > Marking policy selects one to validate the markings against.");
  } else {
    const auto& rows = snapshot->markings.rows;
    const auto broken = std::count_if(rows.begin(), rows.end(),
                                      [](const analyze::Marking& m) { return m.verdict == "violation"; });
    text = MarkingsPage::tr("Policy %1: %2 of %3 markings violate it.")
               .arg(to_qt(snapshot->policy->name()), QString::number(broken), QString::number(rows.size()));
  }
  if (snapshot->markings.directions != analyze::MarkingMatrix::Directions::pairs)
    text += MarkingsPage::tr(" There are too many directions to list each: they are aggregated.");
  if (snapshot->markings.others != 0)
    text += MarkingsPage::tr(" %1 more packets are from flows with more different markings than are kept.")
                .arg(snapshot->markings.others);
  if (range)
    text += MarkingsPage::tr(" All tables here cover the whole capture, not the selected time range.");
  return text;
}

/// Shades the cells of the matrix: what violates the policy, else by the share of CE marks, so that the class
/// and direction that suffer are seen at once. The cells' texts say the same.
class HeatDelegate final : public QStyledItemDelegate {
 public:
  HeatDelegate(const MarkMatrixModel& model, QObject* parent) : QStyledItemDelegate(parent), model_(model) {}

 protected:
  void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
    QStyledItemDelegate::initStyleOption(option, index);
    const MarkHeat heat = mark_heat(model_.row(index.row()), static_cast<std::size_t>(index.column()));
    if (!heat.violation && heat.ce <= 0) return;
    const Colours& all = colours(option->palette);
    QColor colour = heat.violation ? all.error : all.ce;
    // From one in ten thousand to all of them.
    const double strength = heat.violation ? 0.5 : std::clamp(1 + std::log10(heat.ce) / 4, 0.1, 1.0);
    colour.setAlphaF(static_cast<float>(0.15 + 0.45 * strength));
    option->backgroundBrush = colour;
  }

 private:
  const MarkMatrixModel& model_;
};

}  // namespace

MarkingsPage::MarkingsPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      judged_(new QLabel),
      bar_(new FilterBar(tr("Search markings: class, address, ECN, verdict"))),
      matrix_(new TableView(tr("Matrix of marks"), matrix_model_)),
      table_(new TableView(tr("Marks"), model_)),
      editor_(new PolicyEditor),
      tabs_(new QTabWidget),
      pause_plot_(new PausePlot) {
  tabs_->setAccessibleName(tr("Markings, policy, DCBX, pauses and source ports"));
  judged_->setWordWrap(true);
  judged_->setTextFormat(Qt::PlainText);
  matrix_->wrap_rows(true);
  auto* heat = new HeatDelegate(matrix_model_, this);
  for (int column = 1; column < matrix_model_.columnCount(); ++column)
    matrix_->setItemDelegateForColumn(column, heat);
  auto* bottom = new QWidget;
  auto* column = new QVBoxLayout(bottom);
  column->setContentsMargins(0, 0, 0, 0);
  column->addWidget(bar_);
  column->addWidget(table_, 1);
  auto* split = new QSplitter(Qt::Vertical);
  split->addWidget(matrix_);
  split->addWidget(bottom);
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addWidget(judged_);
  layout->addWidget(tabs_, 1);
  setFocusProxy(tabs_);
  auto* dcbx = new TableView(tr("DCBX by port"), dcbx_model_);
  auto* pauses = new TableView(tr("PAUSE and PFC by port and priority"), pause_model_);
  auto* spreads = new TableView(tr("UDP source ports by addresses"), spread_model_);
  const QString no_marks = tr("No RoCE packets with marks");
  reasons_ = {
      {matrix_, no_marks},
      {table_, no_marks},
      {dcbx, tr("No DCBX in this capture. LLDP goes from port to port, every 30 seconds as a rule: only a "
                "capture at one of them has it")},
      {pauses, tr("No PAUSE or PFC frames in this capture. They go from port to port and are seldom "
                  "mirrored: counters of NIC and switch tell of them, too")},
      {spreads, tr("No RoCE v2 packets: only these have UDP source ports")}};
  tabs_->setDocumentMode(true);
  tabs_->addTab(split, tr("&Markings"));
  tabs_->addTab(editor_, tr("P&olicy"));
  tabs_->addTab(dcbx, QString());
  auto* links = new QSplitter(Qt::Vertical);
  links->addWidget(pause_plot_);
  links->addWidget(pauses);
  links->setChildrenCollapsible(false);
  tabs_->addTab(links, QString());
  tabs_->addTab(spreads, QString());

  bar_->drive(this, model_);
  // A row of the matrix lists the markings of its direction below.
  connect(matrix_, &TableView::row_activated, this, [this] {
    const analyze::Marking* first = nullptr;
    const MarkDirection& row = matrix_model_.row(matrix_->currentIndex().row());
    for (const auto& marks : row.classes) {
      if (first == nullptr && !marks.empty()) first = marks.front();
    }
    if (first != nullptr && first->src) bar_->field()->setText(to_qt(analyze::address_text(*first->src)));
  });
  // A marking leads to its first packet and to the connections that have it.
  connect(table_, &TableView::row_activated, this, [this] {
    const analyze::Marking& row = model_.row(table_->currentIndex().row());
    if (row.first_packet != 0) selection_.set_packet(row.first_packet);
    QStringList words;
    for (const auto& address : {row.src, row.dst}) {
      if (address) words << to_qt(analyze::address_text(*address));
    }
    lead_to_addresses(words);
  });
  connect(spreads, &TableView::row_activated, this, [this, spreads] {
    const PortSpread& row = spread_model_.row(spreads->currentIndex().row());
    lead_to_addresses({to_qt(row.src), to_qt(row.dst)});
  });
  // A row leads to the frame that started its longest pause.
  connect(pauses, &TableView::row_activated, this, [this, pauses] {
    const analyze::PauseRow& row = pause_model_.row(pauses->currentIndex().row());
    lead_to_packet(row.counts().longest_packet);
  });
  connect(pause_plot_, &TimePlot::packet_chosen, this, [this](quint64 packet) {
    if (packet != 0) selection_.set_packet(packet);
  });
  connect(pause_plot_, &TimePlot::packet_activated, this, &MarkingsPage::lead_to_packet);
  connect(pause_plot_, &TimePlot::span_chosen, &selection_, &Selection::set_time);
  connect(&selection_, &Selection::time_changed, this, [this] {
    pause_plot_->show_span(selection_.time());
    show_judged();
  });
  connect(editor_, &PolicyEditor::applied, this,
          [this](const std::shared_ptr<const analyze::MarkingPolicy>& policy) {
            session_.set_policy(policy);
            Q_EMIT says(tr("Markings are validated against policy %1").arg(to_qt(policy->name())));
          });
  connect(editor_, &PolicyEditor::says, this, &MarkingsPage::says);
  for (const TableModelBase* model : models())
    connect(model, &TableModelBase::rows_changed, this, &MarkingsPage::refresh);
  show_snapshot();
  refresh();
}

std::array<TableModelBase*, 5> MarkingsPage::models() {
  return {&dcbx_model_, &pause_model_, &spread_model_, &matrix_model_, &model_};
}

bool MarkingsPage::is_settled() const {
  return Page::is_settled() && dcbx_model_.is_settled() && pause_model_.is_settled() &&
         spread_model_.is_settled() && matrix_model_.is_settled() && model_.is_settled();
}

void MarkingsPage::show_snapshot() {
  for (const auto& [view, none] : reasons_) view->set_reason(why_empty(none));
  for (TableModelBase* model : models()) model->show(shown());
  pause_plot_->show_snapshot(shown());
}

void MarkingsPage::lead_to_addresses(const QStringList& words) {
  if (words.isEmpty()) return;
  Q_EMIT addresses_chosen(words.join(QLatin1Char(' ')));
  Q_EMIT leads_to(PageId::connections);
}

void MarkingsPage::show_judged() {
  judged_->setText(judged_text(shown().get(), selection_.time().has_value()));
}

void MarkingsPage::refresh() {
  // Empty tables stay: "(0)" shows that nothing of the kind was captured.
  const auto title = [this](int tab, const QString& name, int rows) {
    tabs_->setTabText(tab, QStringLiteral("%1 (%2)").arg(name).arg(rows));
  };
  title(2, tr("&DCBX"), dcbx_model_.rowCount());
  title(3, tr("Pa&uses"), pause_model_.rowCount());
  title(4, tr("&Source ports"), spread_model_.rowCount());
  show_judged();
  bar_->show_counts(model_.rowCount(), model_.all_rows());
  // Hide the columns of classes that do not occur.
  for (int column = 1; column < matrix_model_.columnCount(); ++column) {
    bool any = false;
    for (int row = 0; row < matrix_model_.rowCount() && !any; ++row)
      any = !matrix_model_.row(row).classes[static_cast<std::size_t>(column) - 1].empty();
    matrix_->setColumnHidden(column, !any);
  }
}

}  // namespace roce::gui
