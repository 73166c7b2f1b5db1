// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QPoint>
#include <QRectF>
#include <QWidget>
#include <cstddef>
#include <memory>
#include <optional>

#include "gui/charts/chart.hpp"
#include "gui/models/host_matrix.hpp"

namespace roce::gui {

/// Hosts against hosts: a row is what one sends, a column what one receives, a square the pair, shaded by a
/// measure. Below, how many send to each. The wheel zooms, dragging moves, arrow keys choose.
class HostMatrixView : public QWidget, public Chart {
  Q_OBJECT

 public:
  explicit HostMatrixView(QWidget* parent = nullptr);

  /// Never null. The view stays where it was if the hosts are the same.
  void show_matrix(std::shared_ptr<const HostMatrix> matrix);
  /// Index of matrix_measures().
  void set_measure(std::size_t measure);
  [[nodiscard]] std::size_t measure() const noexcept { return measure_; }
  /// Shows a text instead, why there is nothing to be seen; empty: the matrix.
  void say(const QString& text);
  [[nodiscard]] const QString& said() const noexcept { return said_; }

  [[nodiscard]] const HostMatrix& matrix() const noexcept { return *matrix_; }
  /// The chosen pair; nullopt: none.
  [[nodiscard]] std::optional<std::size_t> current() const noexcept { return current_; }
  void set_current(std::optional<std::size_t> cell);
  /// What is to be seen, in hosts.
  [[nodiscard]] const QRectF& view() const noexcept { return view_; }
  /// Where the squares of a cell's hosts meet, in the coordinates of the widget; for tests.
  [[nodiscard]] QPoint place_of(std::size_t cell) const;
  /// What a square stands for, in words.
  [[nodiscard]] QString cell_text(std::size_t cell) const;

  void draw_chart(QPainter& painter, const QSize& size) override;
  [[nodiscard]] QSize sizeHint() const override;
  [[nodiscard]] QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void pair_chosen();     ///< another pair has become current
  void pair_activated();  ///< Enter or a double click on it

 protected:
  bool event(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  /// Where what stands.
  struct Rooms {
    QRectF squares;
    QRectF senders;    ///< names, left
    QRectF receivers;  ///< names, above
    QRectF fan_in;     ///< below
    QRectF legend;
  };
  [[nodiscard]] Rooms rooms(const QSizeF& size) const;
  void paint_squares(QPainter& painter, const QRectF& room) const;
  void paint_names(QPainter& painter, const Rooms& rooms) const;
  void paint_fan_in(QPainter& painter, const Rooms& rooms) const;
  void paint_legend(QPainter& painter, const QRectF& room) const;
  [[nodiscard]] QColor colour_of(const MatrixBin& bin) const;
  [[nodiscard]] QPointF hosts_at(const QPointF& place, const QRectF& squares) const;
  [[nodiscard]] std::optional<std::size_t> cell_at(const QPoint& place) const;
  void choose(std::optional<std::size_t> cell);
  void choose_beside(int down, int right);
  void keep_in_view(const HostMatrix::Cell& cell);

  std::shared_ptr<const HostMatrix> matrix_;
  std::size_t measure_ = 0;
  MatrixScale scale_;
  QRectF view_;
  std::optional<std::size_t> current_;
  std::optional<QPoint> dragged_from_;
  bool dragged_ = false;
  QString said_;
};

}  // namespace roce::gui
