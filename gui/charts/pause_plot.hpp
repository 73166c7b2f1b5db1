// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "gui/charts/pause_geometry.hpp"
#include "gui/charts/time_plot.hpp"

namespace roce::gui {

/// Pause graph: one row per port and priority with the share of time it was paused, and below them the
/// changes of DCBX announcements by port. Dragging selects a time range, as in the timeline.
class PausePlot : public TimePlot {
  Q_OBJECT

 public:
  explicit PausePlot(QWidget* parent = nullptr);
  ~PausePlot() override;

  void show_snapshot(std::shared_ptr<const analyze::Snapshot> snapshot);
  [[nodiscard]] const PauseStrips& strips() const noexcept { return strips_; }
  /// Centre of an event or step of that strip, in pixels.
  [[nodiscard]] QPoint place_of(std::size_t strip, std::int64_t time_ns) const;

 protected:
  [[nodiscard]] std::optional<Hit> hit(const QPoint& place) const override;
  [[nodiscard]] QString distance_text(const QPointF& from, const QPointF& to) const override;
  void fit_values() override;
  void restyle() override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  class Bars;
  class Signs;
  void name_rows();

  std::shared_ptr<const analyze::Snapshot> snapshot_;
  PauseStrips strips_;
  QCPRange whole_{0, 1};
  Bars* bars_ = nullptr;
  std::vector<Signs*> signs_;
};

}  // namespace roce::gui
