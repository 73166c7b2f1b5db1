// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/evidence_bar.hpp"

#include <QEvent>
#include <QHBoxLayout>
#include <algorithm>

#include "gui/charts/theme.hpp"
#include "gui/models/details.hpp"
#include "gui/models/table_model.hpp"
#include "gui/models/tables.hpp"
#include "gui/pages/tool_button.hpp"

namespace roce::gui {

EvidenceBar::EvidenceBar(AnalysisSession& session, Selection& selection, QWidget* parent)
    : QWidget(parent),
      session_(session),
      selection_(selection),
      finding_(tool_button(tr("Finding"), tr("Explanation of the finding, and what to do"))),
      title_(new QLabel),
      place_(new QLabel),
      previous_(tool_button(tr("Previous"), tr("Previous evidence packet of the finding (Shift+F7)"))),
      all_(tool_button(tr("Show all"), tr("List all packets that show the finding, not only the first few"))),
      next_(tool_button(tr("Next"), tr("Next evidence packet of the finding (Shift+F8)"))) {
  finding_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  for (QLabel* label : {title_, place_}) label->setTextFormat(Qt::PlainText);
  title_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // must not widen the window
  auto* close = tool_button(tr("Hide"), tr("Hide this bar until another finding is selected"));
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(finding_);
  row->addWidget(title_, 1);
  row->addWidget(place_);
  row->addWidget(previous_);
  row->addWidget(next_);
  row->addWidget(all_);
  row->addWidget(close);
  connect(finding_, &QToolButton::clicked, this, &EvidenceBar::explanation_wanted);
  connect(previous_, &QToolButton::clicked, this, [this] { step(-1); });
  connect(next_, &QToolButton::clicked, this, [this] { step(1); });
  connect(all_, &QToolButton::clicked, this, [this] { Q_EMIT filter_wanted(filter_); });
  connect(close, &QToolButton::clicked, this, [this] {
    closed_ = selection_.finding();
    hide();
  });
  connect(&selection_, &Selection::finding_changed, this, &EvidenceBar::show_finding);
  connect(&session_, &AnalysisSession::snapshot_changed, this, &EvidenceBar::show_finding);
  show_finding();
}

void EvidenceBar::show_current(std::uint64_t packet) {
  current_ = packet;
  show_place();
}

void EvidenceBar::show_finding() {
  const auto& snapshot = session_.snapshot();
  const analyze::Finding* finding = snapshot ? find_finding(*snapshot, selection_.finding()) : nullptr;
  packets_.clear();
  filter_.clear();
  more_ = false;
  if (finding != nullptr) {
    packets_.assign(finding->packets.begin(), finding->packets.end());
    std::sort(packets_.begin(), packets_.end());
    more_ = finding->count > packets_.size();
    filter_ = evidence_filter(*finding);
    finding_->setIcon(severity_icon(finding->severity, palette()));
    const QString text = QStringLiteral("%1: %2").arg(to_qt(finding->title), to_qt(finding->subject));
    title_->setText(text);
    title_->setToolTip(text);
  }
  all_->setVisible(more_ && !filter_.isEmpty());
  if (selection_.finding() != closed_) closed_.clear();
  setVisible(!packets_.empty() && closed_.isEmpty());
  show_place();
}

void EvidenceBar::show_place() {
  const auto at = std::lower_bound(packets_.begin(), packets_.end(), current_);
  const bool is_one = at != packets_.end() && *at == current_;
  const QString of = (more_ ? tr("the first %1") : QStringLiteral("%1")).arg(packets_.size());
  place_->setText(is_one ? tr("evidence %1 of %2").arg(at - packets_.begin() + 1).arg(of)
                         : tr("evidence – of %1").arg(of));
  previous_->setEnabled(next(-1) != 0);
  next_->setEnabled(next(1) != 0);
}

std::uint64_t EvidenceBar::next(int step) const {
  if (step > 0) {
    const auto behind = std::upper_bound(packets_.begin(), packets_.end(), current_);
    return behind == packets_.end() ? 0 : *behind;
  }
  const auto here = std::lower_bound(packets_.begin(), packets_.end(), current_);
  return here == packets_.begin() ? 0 : *(here - 1);
}

void EvidenceBar::step(int step) {
  if (packets_.empty()) {
    Q_EMIT says(tr("No finding with packets is selected"));
  } else if (const std::uint64_t to = next(step); to == 0) {
    Q_EMIT says(tr("The finding has no further packet in this direction"));
  } else {
    Q_EMIT packet_wanted(to);
  }
}

void EvidenceBar::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange && next_ != nullptr) show_finding();
}

}  // namespace roce::gui
