// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/markings_page.hpp"

#include <QSplitter>
#include <QVBoxLayout>
#include <algorithm>

#include "analyze/policy/marking_policy.hpp"

namespace roce::gui {
namespace {

QString judged_text(const analyze::Snapshot* snapshot) {
  if (snapshot == nullptr) return {};
  QString text;
  if (!snapshot->policy) {
    text = MarkingsPage::tr("Judged by no policy: Analyze > Marking policy chooses what marks should be.");
  } else {
    const auto& rows = snapshot->markings.rows;
    const auto broken = std::count_if(rows.begin(), rows.end(),
                                      [](const analyze::Marking& m) { return m.verdict == "violation"; });
    text = MarkingsPage::tr("Judged by policy %1: %2 of %3 marks violate it.")
               .arg(to_qt(snapshot->policy->name()), QString::number(broken), QString::number(rows.size()));
  }
  if (snapshot->markings.directions != analyze::MarkingMatrix::Directions::pairs)
    text += MarkingsPage::tr(" There are too many directions to list each, so they are summed up.");
  if (snapshot->markings.others != 0)
    text += MarkingsPage::tr(" %1 packets more are of flows with more marks than are kept.")
                .arg(snapshot->markings.others);
  return text;
}

}  // namespace

MarkingsPage::MarkingsPage(AnalysisSession& session, Selection& selection, QWidget* parent)
    : Page(session, selection, parent),
      judged_(new QLabel),
      bar_(new FilterBar(tr("Search marks: class, address, ECN, verdict"))),
      matrix_(new TableView(tr("Matrix of marks"), matrix_model_)),
      table_(new TableView(tr("Marks"), model_)) {
  judged_->setWordWrap(true);
  judged_->setTextFormat(Qt::PlainText);
  matrix_->wrap_rows(true);
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
  layout->addWidget(split, 1);

  bar_->drive(this, table_->filter(), [this] { refresh(); });
  // A direction leads to its marks, one of them to nothing further.
  connect(matrix_, &TableView::row_activated, this, [this] {
    const analyze::Marking* first = nullptr;
    const MarkDirection& row = matrix_model_.row(matrix_->current_row().row());
    for (const auto& marks : row.classes) {
      if (first == nullptr && !marks.empty()) first = marks.front();
    }
    if (first != nullptr && first->src) bar_->field()->setText(to_qt(analyze::address_of(*first->src)));
  });
  connect(&session_, &AnalysisSession::snapshot_changed, this, [this] {
    matrix_model_.show(session_.snapshot());
    model_.show(session_.snapshot());
    refresh();
  });
  refresh();
}

void MarkingsPage::refresh() {
  judged_->setText(judged_text(session_.snapshot().get()));
  bar_->show_counts(table_->filter().rowCount(), model_.rowCount());
  // Classes that never occur would be empty columns.
  for (int column = 1; column < matrix_model_.columnCount(); ++column) {
    bool any = false;
    for (int row = 0; row < matrix_model_.rowCount() && !any; ++row)
      any = !matrix_model_.row(row).classes[static_cast<std::size_t>(column) - 1].empty();
    matrix_->setColumnHidden(column, !any);
  }
}

}  // namespace roce::gui
