// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "gui/charts/pause_geometry.hpp"
#include "gui/charts/time_plot.hpp"

namespace roce::gui {

/// Who paused which priority when: a row each, as high as the share of the time that was paused, and below
/// them when ports changed what they announce by DCBX. Dragging chooses a time range, as in the timeline.
class PausePlot : public TimePlot {
  Q_OBJECT

 public:
  explicit PausePlot(QWidget* parent = nullptr);
  ~PausePlot() override;

  void show_snapshot(std::shared_ptr<const analyze::Snapshot> snapshot);
  [[nodiscard]] const PauseStrips& strips() const noexcept { return strips_; }
  /// Where the middle of a sign or step is drawn, of the strip of that number.
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
