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

/// Above a table: a line to search with, how bad a row must be, whether only those of the chosen time range
/// are shown, and how many there are.
class FilterBar : public QWidget {
  Q_OBJECT

 public:
  explicit FilterBar(const QString& hint, QWidget* parent = nullptr);

  [[nodiscard]] QLineEdit* field() noexcept { return field_; }
  [[nodiscard]] std::optional<analyze::Severity> severity() const;
  void set_severity(std::optional<analyze::Severity> least);
  void show_counts(int shown, int all);
  /// Limits what is below to the chosen time range; `help` says what that leaves out.
  void limit_times(Selection& selection, const QString& help);
  /// The range that it is limited to; nullopt: to none.
  [[nodiscard]] std::optional<TimeSpan> time() const;
  /// What is typed and chosen here goes to `filter`, which lives as long as `owner`.
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
  TimeChip* times_ = nullptr;  ///< none: rows have no times
};

}  // namespace roce::gui
