// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QSettings>
#include <QTableView>
#include <QTimer>

#include "gui/models/table_model.hpp"
#include "gui/pages/column_widths.hpp"

namespace roce::gui {

/// The text shown where filters hide all of `rows` rows.
[[nodiscard]] QString left_out_text(int rows);
/// Paints such a text into a view, over its contents; empty: nothing.
void paint_empty_text(QAbstractItemView& view, const QString& text);

/// A table: sorting by a click on a heading, filters, columns that the user can choose and move, copying as
/// text.
class TableView : public QTableView {
  Q_OBJECT

 public:
  /// `name` is the key of the column layout in the settings (a contract) and the accessible name.
  TableView(const QString& name, TableModelBase& model, QWidget* parent = nullptr);

  [[nodiscard]] TableModelBase& rows() noexcept { return model_; }
  /// The text shown where filters hide all rows, or why there are none; empty if some are listed.
  [[nodiscard]] QString empty_text() const;
  /// Why the table has no rows, to be shown in place of it where it has none; empty: that is not said.
  void set_reason(const QString& text);
  /// Makes the row of that key current, if it is listed.
  void select_key(const QString& key);
  /// Default columns, in this order, unless the user has chosen others.
  void show_columns(std::initializer_list<std::string_view> names);
  void wrap_rows(bool wrap);  ///< row heights follow the texts
  /// Of rows without severities: no room for their icons.
  void without_icons() { icons_ = false; }
  [[nodiscard]] bool has_icons() const noexcept { return icons_; }

  void save_layout(QSettings& settings) const;
  void restore_layout(QSettings& settings);

  /// Copies the selected rows with headings as tab-separated text. Large selections are prepared on another
  /// thread; says() reports when they have been copied.
  void copy_rows();

 Q_SIGNALS:
  void row_chosen();                  ///< another row has become current
  void row_activated();               ///< Enter or a double click
  void says(const QString& message);  ///< for the status bar

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* object, QEvent* event) override;
  void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

 private:
  [[nodiscard]] std::vector<RowRun> selected_runs() const;  ///< ascending
  void show_headings();
  void measure_columns();
  void fit_columns();
  void fit_rows();
  void fit_text();
  void scale_columns(int height);
  void choose_columns(const QPoint& place);

  QString name_;
  QString reason_;  ///< why there are no rows
  TableModelBase& model_;
  BackgroundCall copying_{*this};
  QTimer* rescale_ = nullptr;
  int text_height_ = 0;  ///< rows and widths are for text of that height, in pixels
  bool icons_ = true;
  bool removing_ = false;              ///< rows are being removed: a new current row is not the user's choice
  std::vector<int> cells_;             ///< the widest cell seen, by logical column number
  std::vector<ColumnWidth> measured_;  ///< by logical column number; empty before the first rows
  bool dragging_ = false;              ///< the mouse is down on a heading
  bool fitting_ = false;               ///< widths are being set by code
  bool sized_ = false;                 ///< the user has set a width: widths are fixed from then on
};

}  // namespace roce::gui
