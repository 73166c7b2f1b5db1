// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "gui/charts/throughput_geometry.hpp"
#include "gui/charts/time_plot.hpp"

namespace roce::gui {

/// Throughput graph of one side over time: on the wire and goodput, and below them the PSNs in flight.
class ThroughputPlot : public TimePlot {
  Q_OBJECT

 public:
  explicit ThroughputPlot(QWidget* parent = nullptr);

  /// Null: empty. `side`: 0 for what end a sends, 1 for b.
  void show_trace(std::shared_ptr<const analyze::ConnectionTrace> trace, std::int64_t origin_ns,
                  unsigned side);
  void show_side(unsigned side);
  [[nodiscard]] const ThroughputLines& lines() const noexcept { return lines_; }

 protected:
  [[nodiscard]] std::optional<Hit> hit(const QPoint& place) const override;
  [[nodiscard]] QString distance_text(const QPointF& from, const QPointF& to) const override;
  void fit_values() override { compute(); }
  void restyle() override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void refill();
  void compute();

  std::shared_ptr<const analyze::ConnectionTrace> trace_;
  unsigned side_ = 0;
  ThroughputLines lines_;
  QCPAxisRect* below_ = nullptr;
  QCPGraph* throughput_ = nullptr;
  QCPGraph* goodput_ = nullptr;
  QCPGraph* in_flight_ = nullptr;
};

}  // namespace roce::gui
