// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <qcustomplot.h>

#include <memory>
#include <optional>

#include "analyze/results/snapshot.hpp"
#include "gui/charts/timeline_geometry.hpp"
#include "gui/models/selection.hpp"

namespace roce::gui {

/// Rates and events over the time of a capture. Dragging selects a time range, a click clears it; the wheel
/// zooms, a double click shows everything again.
class Timeline : public QCustomPlot {
  Q_OBJECT

 public:
  explicit Timeline(QWidget* parent = nullptr);

  void show_snapshot(std::shared_ptr<const analyze::Snapshot> snapshot);
  void show_span(const std::optional<TimeSpan>& span);
  /// What the step at a place of the widget holds, a line each; empty: there is none.
  [[nodiscard]] QString values_at(const QPoint& place) const;

 Q_SIGNALS:
  void span_chosen(const std::optional<roce::gui::TimeSpan>& span);

 protected:
  bool event(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  QCPAxisRect* add_rect(int row);
  QCPGraph* add_graph(QCPAxisRect* rect, const QString& name);
  void restyle();
  void show_all();
  void choose(const QRect& rect);

  std::shared_ptr<const analyze::Snapshot> snapshot_;
  std::optional<TimeSpan> span_;
  std::int64_t origin_ns_ = 0;  ///< time of the capture's first packet
  QCPRange whole_{0, 1};        ///< of the time axis
  TimelineLines lines_;
  QCPAxisRect* rates_ = nullptr;
  QCPAxisRect* events_ = nullptr;
  QCPGraph* throughput_ = nullptr;
  QCPGraph* goodput_ = nullptr;
  QCPGraph* retransmitted_ = nullptr;
  QCPGraph* lost_ = nullptr;
  QCPGraph* ce_ = nullptr;
  QCPGraph* cnps_ = nullptr;
  QCPItemRect* marks_[2] = {};
  QCPItemStraightLine* pointed_[2] = {};  ///< through the place of the pointer
  QCPItemText* nothing_ = nullptr;
};

}  // namespace roce::gui
