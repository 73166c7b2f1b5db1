// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "analyze/results/snapshot.hpp"
#include "gui/charts/latency_geometry.hpp"
#include "gui/charts/time_plot.hpp"

namespace roce::gui {

/// Latency graph: each operation of one side by its start time and latency, on a logarithmic axis. The
/// percentiles are those of the snapshot, as in the report.
class LatencyPlot : public TimePlot {
  Q_OBJECT

 public:
  explicit LatencyPlot(QWidget* parent = nullptr);
  ~LatencyPlot() override;

  /// Null: empty. `side`: 0 for requests of end a, 1 for those of b.
  void show_trace(std::shared_ptr<const analyze::ConnectionTrace> trace,
                  std::shared_ptr<const analyze::Snapshot> snapshot, std::int64_t origin_ns, unsigned side);
  void show_side(unsigned side);
  [[nodiscard]] const std::vector<LatencySeries>& series() const noexcept { return series_; }

 protected:
  [[nodiscard]] std::optional<Hit> hit(const QPoint& place) const override;
  [[nodiscard]] QString distance_text(const QPointF& from, const QPointF& to) const override;
  void fit_values() override;
  void restyle() override;

 private:
  class Dots;
  void refill();
  void add_percentiles(const analyze::OperationStats& stats);
  [[nodiscard]] LatencyView view() const;

  std::shared_ptr<const analyze::ConnectionTrace> trace_;
  std::shared_ptr<const analyze::Snapshot> snapshot_;
  unsigned side_ = 0;
  std::vector<LatencySeries> series_;
  std::vector<Dots*> dots_;                    ///< by OperationKind; owned by the plot
  std::vector<QCPAbstractItem*> percentiles_;  ///< lines and their labels
};

}  // namespace roce::gui
