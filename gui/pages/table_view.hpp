// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSettings>
#include <QTableView>

#include "gui/models/table_model.hpp"
#include "gui/pages/column_widths.hpp"

namespace roce::gui {

/// What is said in place of rows where all of them are left out.
[[nodiscard]] QString left_out_text(int rows);
/// Paints it into a view, over what it has painted; empty: nothing.
void paint_empty_text(QAbstractItemView& view, const QString& text);

/// A table of columns: sorted by a click on a heading, filtered, its columns chosen and moved by the user,
/// copied as text. Models have the roles of TableModelBase.
class TableView : public QTableView {
  Q_OBJECT

 public:
  /// `name` keeps the columns' layout between sessions and is spoken by screen readers.
  TableView(const QString& name, TableModelBase& model, QWidget* parent = nullptr);

  [[nodiscard]] TableModelBase& rows() noexcept { return model_; }
  /// What is said instead of rows where all are left out; empty where there are rows, or none at all.
  [[nodiscard]] QString empty_text() const;
  /// Makes the row of that key current, if it is there and not filtered out.
  void select_key(const QString& key);
  /// Only these columns, in their order, as long as the user has not chosen others.
  void show_columns(std::initializer_list<std::string_view> names);
  void wrap_rows(bool wrap);  ///< rows as high as their texts

  void save_layout(QSettings& settings) const;
  void restore_layout(QSettings& settings);

  /// Copies the selected rows with their headings, as tab-separated text; many of them on another thread, and
  /// says when they are there.
  void copy_rows();

 Q_SIGNALS:
  void row_chosen();                  ///< another row is current
  void row_activated();               ///< Enter or a double click: lead on
  void says(const QString& message);  ///< for the status bar

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

 private:
  [[nodiscard]] std::vector<RowRun> selected_runs() const;  ///< from the top
  void measure_columns();
  void fit_columns();
  void choose_columns(const QPoint& place);

  QString name_;
  TableModelBase& model_;
  BackgroundCall copying_{*this};
  bool removing_ = false;              ///< rows go: what becomes current then was not chosen
  std::vector<int> cells_;             ///< the widest cell seen, by logical number of its column
  std::vector<ColumnWidth> measured_;  ///< the same; empty before the first rows
  bool dragging_ = false;              ///< the mouse is down on a heading
  bool fitting_ = false;               ///< widths change, and the user does not do it
  bool sized_ = false;                 ///< by the user: from then on widths stay
};

}  // namespace roce::gui
