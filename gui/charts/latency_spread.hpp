// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <qcustomplot.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "analyze/trace/connection_trace.hpp"
#include "gui/charts/latency_geometry.hpp"

namespace roce::gui {

/// How the latencies of one side's operations are spread, by kind: above the share of operations that took at
/// most so long, below how many took about so long. The wheel zooms the axis of latencies, dragging moves it,
/// a double click shows everything.
class LatencySpread : public QCustomPlot {
  Q_OBJECT

 public:
  explicit LatencySpread(QWidget* parent = nullptr);

  /// Null: empty. `side`: 0 for requests of end a, 1 for those of b.
  void show_trace(std::shared_ptr<const analyze::ConnectionTrace> trace, unsigned side);
  void show_side(unsigned side);
  void show_all();
  /// Shows a text instead of the plot; empty: the plot.
  void say(const QString& text);

  /// What is to be seen at a latency in seconds, a line for each kind; empty: nothing.
  [[nodiscard]] QString values_at(double latency) const;

 protected:
  bool event(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;

 private:
  struct Kind {
    analyze::OperationKind kind;
    std::vector<LatencyShare> shares;
    std::vector<LatencyBin> bins;
    std::size_t operations;
    double retried;  ///< share of operations that were partly retransmitted
  };
  void refill();
  void restyle();

  std::shared_ptr<const analyze::ConnectionTrace> trace_;
  unsigned side_ = 0;
  std::vector<Kind> kinds_;
  QCPAxisRect* below_ = nullptr;
  QCPItemText* said_ = nullptr;
  QCPRange whole_{1e-6, 1};
};

}  // namespace roce::gui
