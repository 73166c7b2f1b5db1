// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QActionGroup>
#include <QComboBox>
#include <QTabWidget>
#include <QToolButton>
#include <array>
#include <vector>

#include "gui/charts/ladder.hpp"
#include "gui/charts/latency.hpp"
#include "gui/charts/latency_spread.hpp"
#include "gui/charts/sequence.hpp"
#include "gui/charts/throughput.hpp"
#include "gui/models/analysis_session.hpp"
#include "gui/models/connection_trace.hpp"
#include "gui/models/selection.hpp"

namespace roce::gui {

/// The selected connection, in tabs: its details, and its packets as graphs and as a ladder diagram. Packets
/// are read when such a tab is visible. The graphs share one time range and follow the selection.
class ConnectionGraphs : public QTabWidget {
  Q_OBJECT

 public:
  enum Tab { details, sequence, latency, spread, throughput, ladder };

  /// `detail` becomes the first tab. Session and selection outlive it.
  ConnectionGraphs(AnalysisSession& session, Selection& selection, QWidget* detail,
                   QWidget* parent = nullptr);

  /// Whether the page that contains it is visible; packets are read only then.
  void set_in_front(bool in_front);

  [[nodiscard]] ConnectionTracer& tracer() noexcept { return tracer_; }
  [[nodiscard]] SequencePlot& sequence_plot() noexcept { return *sequence_; }
  [[nodiscard]] LatencyPlot& latency_plot() noexcept { return *latency_; }
  [[nodiscard]] LatencySpread& latency_spread() noexcept { return *spread_; }
  [[nodiscard]] ThroughputPlot& throughput_plot() noexcept { return *throughput_; }
  [[nodiscard]] LadderView& ladder_view() noexcept { return *ladder_; }
  [[nodiscard]] QAction& fold() noexcept { return *fold_; }
  [[nodiscard]] QComboBox& direction() noexcept { return *direction_; }

 Q_SIGNALS:
  void packet_activated(quint64 number);  ///< show it on the page of packets

 private:
  QWidget* make_tools();
  void connect_plot(TimePlot* plot);
  void look();                         ///< requests packets if they are visible
  void fill();                         ///< the current tab
  [[nodiscard]] bool is_seen() const;  ///< a tab with packets is visible
  void say(const QString& text);
  void show_state();
  void show_times();
  void choose_side(int side);
  [[nodiscard]] TimePlot* plot_in_front() const;
  [[nodiscard]] std::int64_t origin() const;
  [[nodiscard]] std::array<QString, 2> ends() const;

  AnalysisSession& session_;
  Selection& selection_;
  ConnectionTracer tracer_;
  SequencePlot* sequence_;
  LatencyPlot* latency_;
  LatencySpread* spread_;
  ThroughputPlot* throughput_;
  LadderView* ladder_;
  QComboBox* direction_ = nullptr;
  QActionGroup* tools_ = nullptr;
  QAction* all_ = nullptr;
  QAction* fold_ = nullptr;
  QWidget* bar_ = nullptr;
  QWidget* plot_tools_ = nullptr;    ///< of graphs over time, within bar_
  QWidget* ladder_tools_ = nullptr;  ///< of the ladder
  std::array<bool, 6> filled_{};     ///< by tab: it shows the tracer's current trace
  std::optional<QCPRange> times_;    ///< range shown by all graphs, in axis units; nullopt: everything
  bool in_front_ = false;
  bool following_ = false;  ///< ranges are set by code, not by the user
};

}  // namespace roce::gui
