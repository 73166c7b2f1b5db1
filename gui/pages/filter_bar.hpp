// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QWidget>
#include <optional>

#include "analyze/results/finding.hpp"
#include "gui/pages/time_chip.hpp"

namespace roce::gui {

/// Bar above a table: search text, minimum severity, limit to the selected time range, and row counts.
class FilterBar : public QWidget {
  Q_OBJECT

 public:
  explicit FilterBar(const QString& hint, QWidget* parent = nullptr);

  [[nodiscard]] QLineEdit* field() noexcept { return field_; }
  [[nodiscard]] std::optional<analyze::Severity> severity() const;
  void set_severity(std::optional<analyze::Severity> least);
  void show_counts(int shown, int all);
  /// Of rows that have none.
  void without_severity() { severity_->hide(); }
  /// Adds the limit to the selected time range; `help` is the tool tip that says what it hides.
  void limit_times(Selection& selection, const QString& help);
  /// The time range in effect; nullopt: no limit.
  [[nodiscard]] std::optional<TimeSpan> time() const;
  /// Connects this bar to `filter`, which must live as long as `owner`.
  template <class Filter>
  void drive(QObject* owner, Filter& filter) {
    connect(this, &FilterBar::text_changed, owner, [&filter](const QString& text) { filter.set_text(text); });
    connect(this, &FilterBar::severity_changed, owner, [this, &filter] { filter.set_severity(severity()); });
    connect(this, &FilterBar::time_changed, owner, [this, &filter] { filter.set_time(time()); });
  }

 Q_SIGNALS:
  void text_changed(const QString& text);
  void severity_changed();
  void time_changed();

 private:
  QLineEdit* field_;
  QComboBox* severity_;
  QLabel* counts_;
  TimeChip* times_ = nullptr;  ///< null: rows have no times
};

}  // namespace roce::gui
