// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "gui/charts/sequence_geometry.hpp"
#include "gui/charts/time_plot.hpp"

namespace roce::gui {

/// Time-sequence graph, as tcptrace draws for TCP: requests and responses as bars over their PSNs,
/// acknowledged PSNs as steps, symbols for anomalies, ticks for CE and CNPs, bands while a port was paused.
class SequencePlot : public TimePlot {
  Q_OBJECT

 public:
  explicit SequencePlot(QWidget* parent = nullptr);
  ~SequencePlot() override;

  /// Null: empty. `side`: 0 for requests of end a, 1 for those of b.
  void show_trace(std::shared_ptr<const analyze::ConnectionTrace> trace, std::int64_t origin_ns,
                  unsigned side);
  /// The side whose requests are drawn.
  void show_side(unsigned side);
  [[nodiscard]] unsigned side() const noexcept { return side_; }
  /// The side with more requests.
  [[nodiscard]] static unsigned busier_side(const analyze::ConnectionTrace& trace) noexcept;
  void show_packet(const std::optional<std::uint64_t>& number);

  [[nodiscard]] const SequenceLines& lines() const noexcept { return lines_; }
  /// Position of a packet in pixels; nullopt: it is not drawn.
  [[nodiscard]] std::optional<QPoint> place_of(std::uint64_t packet) const;

 protected:
  [[nodiscard]] std::optional<Hit> hit(const QPoint& place) const override;
  [[nodiscard]] QString distance_text(const QPointF& from, const QPointF& to) const override;
  void fit_values() override;
  void restyle() override;

 private:
  class Layer;
  class Pauses;
  void refill();
  void mark_packet();

  std::shared_ptr<const analyze::ConnectionTrace> trace_;
  SequenceLines lines_;
  unsigned side_ = 0;
  std::optional<std::uint64_t> packet_;
  std::vector<Layer*> layers_;  ///< by TraceMark; owned by the plot
  Pauses* pauses_ = nullptr;
  QCPItemTracer* cross_ = nullptr;
};

}  // namespace roce::gui
