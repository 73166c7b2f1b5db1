// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/filter_bar.hpp"

#include <QHBoxLayout>

namespace roce::gui {

FilterBar::FilterBar(const QString& hint, QWidget* parent)
    : QWidget(parent), field_(new QLineEdit), severity_(new QComboBox), counts_(new QLabel) {
  field_->setPlaceholderText(hint);
  field_->setAccessibleName(hint);
  field_->setClearButtonEnabled(true);
  severity_->setAccessibleName(tr("Severity"));
  severity_->addItem(tr("All"));
  const std::pair<QString, analyze::Severity> choices[] = {
      {tr("Odd and above"), analyze::Severity::notice},
      {tr("Degraded and fatal"), analyze::Severity::warning},
      {tr("Fatal"), analyze::Severity::error}};
  for (const auto& [text, severity] : choices) severity_->addItem(text, static_cast<int>(severity));
  counts_->setMinimumWidth(fontMetrics().horizontalAdvance(QStringLiteral("00000 of 00000")));
  counts_->setAlignment(Qt::AlignRight | Qt::AlignVCenter);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(field_, 1);
  row->addWidget(severity_);
  row->addWidget(counts_);
  connect(field_, &QLineEdit::textChanged, this, &FilterBar::text_changed);
  connect(severity_, &QComboBox::currentIndexChanged, this, &FilterBar::severity_changed);
}

std::optional<analyze::Severity> FilterBar::severity() const {
  const QVariant least = severity_->currentData();
  return least.isValid() ? std::optional(static_cast<analyze::Severity>(least.toInt())) : std::nullopt;
}

void FilterBar::set_severity(std::optional<analyze::Severity> least) {
  const int place = least ? severity_->findData(static_cast<int>(*least)) : 0;
  severity_->setCurrentIndex(std::max(0, place));
}

void FilterBar::limit_times(Selection& selection, const QString& help) {
  times_ = new TimeChip(selection, help);
  static_cast<QHBoxLayout*>(layout())->insertWidget(1, times_);
  connect(times_, &TimeChip::changed, this, &FilterBar::time_changed);
}

std::optional<TimeSpan> FilterBar::time() const {
  return times_ == nullptr ? std::nullopt : times_->time();
}

void FilterBar::show_counts(int shown, int all) {
  counts_->setText(shown == all ? QString::number(all) : tr("%1 of %2").arg(shown).arg(all));
}

}  // namespace roce::gui
