// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAbstractScrollArea>
#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/trace/connection_trace.hpp"
#include "gui/charts/chart.hpp"
#include "gui/charts/ladder_geometry.hpp"

namespace roce::gui {

/// Ladder diagram: both queue pairs as vertical lines, packets as arrows between them, one per row; arrows of
/// lost packets end halfway. Only visible rows are painted.
class LadderView : public QAbstractScrollArea, public Chart {
  Q_OBJECT

 public:
  explicit LadderView(QWidget* parent = nullptr);

  /// Null: empty. `ends` are the texts above the two lines.
  void show_trace(std::shared_ptr<const analyze::ConnectionTrace> trace, std::int64_t origin_ns,
                  const std::array<QString, 2>& ends);
  /// Folds packets alike, and says beside each by which rule it is taken for what it is. Before show_trace().
  void explain_steps() { explains_ = folds_ = true; }
  /// Whether of packets alike in a row only the first and the last are shown.
  void set_folding(bool folds);
  void show_packet(const std::optional<std::uint64_t>& number);
  /// Scrolls to the first packet at that time or later.
  void show_time(std::int64_t time_ns);
  /// Shows a text instead of packets; empty: the packets.
  void say(const QString& text);
  [[nodiscard]] const QString& said() const noexcept { return said_; }

  [[nodiscard]] const std::vector<LadderRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t current() const noexcept { return current_; }
  /// Paints the rows from `first` on that fit, on any device; returns how many.
  std::size_t paint(QPainter& painter, const QRectF& area, std::size_t first) const;
  [[nodiscard]] double row_height() const;

  /// From the first visible row on, as many as fit.
  void draw_chart(QPainter& painter, const QSize& size) override;
  [[nodiscard]] QSize chart_size() const override { return viewport()->size(); }

 Q_SIGNALS:
  void packet_chosen(quint64 number);     ///< another row has become current
  void packet_activated(quint64 number);  ///< Enter or a double click

 protected:
  bool viewportEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void paint_row(QPainter& painter, const QRectF& rect, const LadderColumns& columns, std::size_t row) const;
  void paint_arrow(QPainter& painter, const LadderArrow& arrow, const QColor& colour) const;
  [[nodiscard]] QString label_of(const LadderRow& row) const;
  [[nodiscard]] QStringList remarks_beside(const LadderRow& row) const;
  [[nodiscard]] std::optional<std::size_t> row_at(const QPoint& place) const;
  void set_current(std::size_t row, bool tell);
  void fit_scroll_bar();
  void make_rows();
  [[nodiscard]] std::int64_t gap_before(std::size_t row) const;
  [[nodiscard]] std::uint64_t packet_of(std::size_t row) const {
    return trace_->points[rows_[row].point].packet;
  }

  std::shared_ptr<const analyze::ConnectionTrace> trace_;
  std::vector<LadderRow> rows_;
  std::array<QString, 2> ends_;
  std::int64_t origin_ns_ = 0;
  std::size_t current_ = 0;
  QString said_;
  bool explains_ = false;
  bool folds_ = false;
};

}  // namespace roce::gui
