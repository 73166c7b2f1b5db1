// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/connection_graphs.hpp"

#include <QAction>
#include <QHBoxLayout>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/charts/timeline_geometry.hpp"
#include "gui/models/shown_names.hpp"

namespace roce::gui {

using State = ConnectionTracer::State;

ConnectionGraphs::ConnectionGraphs(AnalysisSession& session, Selection& selection, QWidget* detail,
                                   QWidget* parent)
    : QTabWidget(parent),
      session_(session),
      selection_(selection),
      tracer_(session),
      sequence_(new SequencePlot),
      latency_(new LatencyPlot),
      spread_(new LatencySpread),
      throughput_(new ThroughputPlot),
      ladder_(new LadderView) {
  setDocumentMode(true);
  setAccessibleName(tr("Details and graphs of the connection"));
  addTab(detail, tr("Details"));
  addTab(sequence_, tr("Sequence"));
  addTab(latency_, tr("Latency"));
  addTab(spread_, tr("Distribution"));
  addTab(throughput_, tr("Throughput"));
  addTab(ladder_, tr("Ladder"));
  bar_ = make_tools();
  setCornerWidget(bar_);
  for (TimePlot* plot : {static_cast<TimePlot*>(sequence_), static_cast<TimePlot*>(latency_),
                         static_cast<TimePlot*>(throughput_)})
    connect_plot(plot);
  connect(ladder_, &LadderView::packet_chosen, this,
          [this](quint64 number) { selection_.set_packet(number); });
  connect(ladder_, &LadderView::packet_activated, this, &ConnectionGraphs::packet_activated);
  connect(this, &QTabWidget::currentChanged, this, [this] {
    look();
    fill();
  });
  connect(&tracer_, &ConnectionTracer::changed, this, [this] {
    times_.reset();
    filled_.fill(false);
    if (tracer_.trace())
      direction_->setCurrentIndex(static_cast<int>(SequencePlot::busier_side(*tracer_.trace())));
    fill();
  });
  // The time format may have changed.
  connect(&session_, &AnalysisSession::snapshot_changed, ladder_, [this] { ladder_->viewport()->update(); });
  connect(&tracer_, &ConnectionTracer::progress_changed, this, &ConnectionGraphs::show_state);
  connect(&session_, &AnalysisSession::state_changed, this, [this] {
    // Not visible: packets are requested again when it becomes visible.
    if (!is_seen()) tracer_.choose({});
    show_state();
  });
  connect(&selection_, &Selection::connection_changed, this, &ConnectionGraphs::look);
  connect(&selection_, &Selection::packet_changed, this, [this] {
    sequence_->show_packet(selection_.packet());
    ladder_->show_packet(selection_.packet());
  });
  connect(&selection_, &Selection::time_changed, this, &ConnectionGraphs::show_times);
  show_state();
}

QWidget* ConnectionGraphs::make_tools() {
  auto* bar = new QWidget;
  auto* both = new QHBoxLayout(bar);
  both->setContentsMargins(0, 0, 4, 2);
  both->setSpacing(0);
  both->addStretch(1);
  const auto part = [both] {
    auto* widget = new QWidget;
    auto* line = new QHBoxLayout(widget);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(2);
    both->addWidget(widget);
    return widget;
  };
  plot_tools_ = part();
  ladder_tools_ = part();
  auto* row = static_cast<QHBoxLayout*>(plot_tools_->layout());
  direction_ = new QComboBox;
  direction_->addItems({tr("Requests of a"), tr("Requests of b")});
  direction_->setAccessibleName(tr("Direction"));
  direction_->setToolTip(tr("Which end's requests are drawn, with the responses to them"));
  connect(direction_, &QComboBox::activated, this, &ConnectionGraphs::choose_side);
  row->addWidget(direction_);
  row->addSpacing(8);
  tools_ = new QActionGroup(this);
  struct Row {
    TimePlot::Tool tool;
    QString text, help;
  };
  const Row rows[] = {
      {TimePlot::Tool::move, tr("Move"),
       tr("Drag to move the graph; the wheel zooms (with Shift only the time axis, with Ctrl "
          "only the value axis)")},
      {TimePlot::Tool::zoom, tr("Zoom"), tr("Drag to select the area to zoom to")},
      {TimePlot::Tool::measure, tr("Measure"), tr("Drag to measure time, PSNs and rate between two points")},
      {TimePlot::Tool::choose_time, tr("Time range"), tr("Drag to select a time range for all pages")}};
  const auto add = [&row](QAction* action) {
    auto* button = new QToolButton;
    button->setDefaultAction(action);
    button->setAutoRaise(true);
    row->addWidget(button);
  };
  for (const Row& r : rows) {
    auto* action = new QAction(r.text, this);
    action->setToolTip(r.help);
    action->setCheckable(true);
    action->setChecked(r.tool == TimePlot::Tool::move);
    tools_->addAction(action);
    connect(action, &QAction::triggered, this, [this, tool = r.tool] {
      sequence_->set_tool(tool);
      latency_->set_tool(tool);
      throughput_->set_tool(tool);
    });
    add(action);
  }
  all_ = new QAction(tr("Show all"), this);
  all_->setToolTip(tr("Show everything (Home, or a double click on an empty spot)"));
  connect(all_, &QAction::triggered, this, [this] {
    if (TimePlot* plot = plot_in_front()) plot->show_all();
    if (currentWidget() == spread_) spread_->show_all();
  });
  add(all_);
  fold_ = new QAction(tr("Fold"), this);
  fold_->setToolTip(tr("Show only the first and the last of four or more packets alike in a row"));
  fold_->setCheckable(true);
  connect(fold_, &QAction::toggled, ladder_, &LadderView::set_folding);
  fold_->setChecked(true);
  row = static_cast<QHBoxLayout*>(ladder_tools_->layout());
  add(fold_);
  return bar;
}

void ConnectionGraphs::connect_plot(TimePlot* plot) {
  connect(plot, &TimePlot::packet_chosen, this, [this](quint64 number) { selection_.set_packet(number); });
  connect(plot, &TimePlot::packet_activated, this, &ConnectionGraphs::packet_activated);
  connect(plot, &TimePlot::span_chosen, this, [this](const std::optional<TimeSpan>& span) {
    following_ = true;  // do not scroll: the range was selected here
    selection_.set_time(span);
    following_ = false;
  });
  connect(plot, &TimePlot::range_changed, this, [this, plot](double from, double to) {
    if (!following_ && plot == currentWidget()) times_ = QCPRange(from, to);
  });
  // Escape switches back to Move.
  connect(plot, &TimePlot::tool_changed, this, [this, plot] {
    if (plot == currentWidget()) tools_->actions()[static_cast<int>(plot->tool())]->setChecked(true);
  });
}

void ConnectionGraphs::set_in_front(bool in_front) {
  in_front_ = in_front;
  look();
}

void ConnectionGraphs::look() {
  bar_->setVisible(currentIndex() != details);
  plot_tools_->setVisible(currentIndex() != ladder);
  ladder_tools_->setVisible(currentIndex() == ladder);
  // Reading a capture again takes time: only for a visible tab. A trace that is there already may stay.
  if (is_seen()) tracer_.choose(selection_.connection());
}

bool ConnectionGraphs::is_seen() const {
  return currentIndex() != details && in_front_;
}

TimePlot* ConnectionGraphs::plot_in_front() const {
  return qobject_cast<TimePlot*>(currentWidget());
}

std::int64_t ConnectionGraphs::origin() const {
  const auto& snapshot = session_.snapshot();
  return snapshot ? snapshot->first_read_ns.value_or(snapshot->totals.first_time_ns) : 0;
}

std::array<QString, 2> ConnectionGraphs::ends() const {
  std::array<QString, 2> texts{tr("a"), tr("b")};
  const auto& snapshot = session_.snapshot();
  const auto& trace = tracer_.trace();
  if (!snapshot || !trace || trace->connection >= snapshot->connections.size()) return texts;
  const analyze::Connection& connection = snapshot->connections[trace->connection];
  for (std::size_t side = 0; side < 2; ++side) {
    const analyze::Endpoint& end = connection.ends[side];
    texts[side] += QStringLiteral("  ") + shown_host(end.address);
    if (end.qp) texts[side] += QStringLiteral("  QP 0x%1").arg(*end.qp, 6, 16, QLatin1Char('0'));
  }
  return texts;
}

void ConnectionGraphs::fill() {
  const int tab = currentIndex();
  const auto& trace = tracer_.trace();
  if (tab == details) return;
  following_ = true;
  const auto side = static_cast<unsigned>(direction_->currentIndex());
  if (!std::exchange(filled_[static_cast<std::size_t>(tab)], true)) {
    if (tab == sequence) sequence_->show_trace(trace, origin(), side);
    if (tab == latency) latency_->show_trace(trace, session_.snapshot(), origin(), side);
    if (tab == spread) spread_->show_trace(trace, side);
    if (tab == throughput) throughput_->show_trace(trace, origin(), side);
    if (tab == ladder) ladder_->show_trace(trace, origin(), ends());
    sequence_->show_packet(selection_.packet());
    ladder_->show_packet(selection_.packet());
    if (TimePlot* plot = plot_in_front()) plot->show_span(selection_.time());
  }
  if (TimePlot* plot = plot_in_front(); plot != nullptr && times_)
    plot->show_range(times_->lower, times_->upper);
  if (tab == ladder && times_ && trace && trace->timed && !selection_.packet()) {
    constexpr double longest = 4e9;  // seconds
    ladder_->show_time(origin() + std::llround(std::clamp(times_->lower, -longest, longest) * 1e9));
  }
  following_ = false;
  show_state();
}

void ConnectionGraphs::choose_side(int side) {
  const auto chosen = static_cast<unsigned>(side);
  const bool before = std::exchange(following_, true);
  if (filled_[sequence]) sequence_->show_side(chosen);
  if (filled_[latency]) latency_->show_side(chosen);
  if (filled_[spread]) spread_->show_side(chosen);
  if (filled_[throughput]) throughput_->show_side(chosen);
  if (TimePlot* plot = plot_in_front(); plot != nullptr && times_)
    plot->show_range(times_->lower, times_->upper);
  following_ = before;
}

void ConnectionGraphs::say(const QString& text) {
  sequence_->say(text);
  latency_->say(text);
  spread_->say(text);
  throughput_->say(text);
  ladder_->say(text);
}

void ConnectionGraphs::show_state() {
  // Without a time axis there is nothing to measure or to choose.
  const bool tools = tracer_.state() == State::done && currentIndex() != spread;
  for (QAction* action : tools_->actions()) action->setEnabled(tools);
  all_->setEnabled(tracer_.state() == State::done);
  direction_->setEnabled(tracer_.state() == State::done);
  switch (tracer_.state()) {
    case State::done:
      return;  // the graphs show their own texts
    case State::none:
      if (session_.state() != AnalysisSession::State::loading) {
        const auto& snapshot = session_.snapshot();
        return say(!snapshot                       ? QString()
                   : snapshot->connections.empty() ? tr("This capture has no connections.")
                                                   : tr("Select a connection above."));
      }
      [[fallthrough]];
    case State::waiting:
      return say(tr("The capture is still being read: packets of connections are shown afterwards."));
    case State::reading:
      return say(tr("Reading the packets of connection %1: %2 %")
                     .arg(*tracer_.connection())
                     .arg(100 * tracer_.progress(), 0, 'f', 0));
    case State::impossible:
    case State::failed:
      return say(tracer_.reason());
  }
}

/// Shows a time range selected elsewhere, if the connection has packets in it.
void ConnectionGraphs::show_times() {
  const auto& span = selection_.time();
  for (TimePlot* plot : {static_cast<TimePlot*>(sequence_), static_cast<TimePlot*>(latency_),
                         static_cast<TimePlot*>(throughput_)})
    plot->show_span(span);
  const auto& trace = tracer_.trace();
  if (following_ || !span || !trace || !trace->timed || trace->points.empty()) return;
  if (span->to < trace->points.front().time_ns || span->from > trace->points.back().time_ns) return;
  times_ = QCPRange(seconds_of(origin(), span->from), seconds_of(origin(), span->to));
  following_ = true;
  if (TimePlot* plot = plot_in_front()) plot->show_range(times_->lower, times_->upper);
  if (currentIndex() == ladder) ladder_->show_time(span->from);
  following_ = false;
}

}  // namespace roce::gui
