// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/latency_spread.hpp"

#include <QHelpEvent>
#include <QSharedPointer>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/charts/latency_look.hpp"
#include "gui/charts/plot_style.hpp"
#include "gui/models/trace_text.hpp"

namespace roce::gui {

LatencySpread::LatencySpread(QWidget* parent) : QCustomPlot(parent) {
  setAccessibleName(tr("Distribution of latencies"));
  setAccessibleDescription(tr("Share of the operations by latency, and their number by latency."));
  setFocusPolicy(Qt::StrongFocus);
  setMinimumHeight(140);
  setAutoAddPlottableToLegend(false);
  put_legend_above(*this);
  below_ = new QCPAxisRect(this);
  plotLayout()->addElement(2, 0, below_);
  plotLayout()->setRowStretchFactor(1, 3);
  plotLayout()->setRowStretchFactor(2, 2);
  plotLayout()->setRowSpacing(2);
  auto* margins = new QCPMarginGroup(this);
  for (QCPAxisRect* rect : {axisRect(0), below_}) {
    rect->setMarginGroup(QCP::msLeft | QCP::msRight, margins);
    rect->setMinimumMargins(QMargins(4, 4, 12, 2));
    rect->setRangeDrag(Qt::Horizontal);
    rect->setRangeZoom(Qt::Horizontal);
    rect->setRangeZoomAxes(rect->axis(QCPAxis::atBottom), nullptr);
    for (QCPAxis* axis : rect->axes()) {
      axis->setLayer(QStringLiteral("axes"));
      axis->grid()->setLayer(QStringLiteral("grid"));
    }
    QCPAxis* latency = rect->axis(QCPAxis::atBottom);
    latency->setScaleType(QCPAxis::stLogarithmic);
    latency->setTicker(QSharedPointer<DurationTicker>::create());
  }
  setInteractions(QCP::iRangeDrag | QCP::iRangeZoom);
  move_together(xAxis, below_->axis(QCPAxis::atBottom));
  xAxis->setTickLabels(false);
  below_->axis(QCPAxis::atBottom)->setLabel(tr("latency"));
  yAxis->setLabel(tr("% within"));
  yAxis->setRange(0, 102);
  below_->axis(QCPAxis::atLeft)->setLabel(tr("operations"));
  said_ = new QCPItemText(this);
  said_->setClipToAxisRect(false);
  said_->position->setAxisRect(axisRect(0));
  said_->position->setType(QCPItemPosition::ptAxisRectRatio);
  said_->position->setCoords(0.5, 0.5);
  said_->setTextAlignment(Qt::AlignCenter);
  restyle();
}

void LatencySpread::show_trace(std::shared_ptr<const analyze::ConnectionTrace> trace, unsigned side) {
  trace_ = std::move(trace);
  side_ = side;
  refill();
}

void LatencySpread::show_side(unsigned side) {
  side_ = side;
  refill();
}

void LatencySpread::refill() {
  kinds_.clear();
  clearPlottables();
  legend->clearItems();
  double least = 0, longest = 0, highest_bin = 0;
  // Relative to any origin: only latencies are used.
  const auto all = trace_ ? latency_series(*trace_, side_, 0) : std::vector<LatencySeries>();
  for (const LatencySeries& series : all) {
    const auto retried = std::count_if(series.operation.begin(), series.operation.end(),
                                       [this](std::uint32_t i) { return trace_->operations[i].retried; });
    kinds_.push_back({series.kind, latency_shares(series), latency_bins(series), series.latency.size(),
                      static_cast<double>(retried) / static_cast<double>(series.latency.size())});
  }
  for (const Kind& kind : kinds_) {
    least = least > 0 ? std::min(least, kind.shares.front().latency) : kind.shares.front().latency;
    longest = std::max(longest, kind.shares.back().latency);
    QCPGraph* within = addGraph(xAxis, yAxis);
    within->setLineStyle(QCPGraph::lsStepLeft);
    within->setName(tr("%1: %2").arg(operation_text(kind.kind)).arg(kind.operations));
    within->addToLegend();
    QVector<double> x{kind.shares.front().latency}, y{0};
    for (const LatencyShare& step : kind.shares) {
      x << step.latency;
      y << 100 * step.share;
    }
    // On to the right edge, wherever that is.
    x << 1e12;
    y << 100;
    within->setData(x, y, true);
    QCPGraph* often = addGraph(below_->axis(QCPAxis::atBottom), below_->axis(QCPAxis::atLeft));
    often->setLineStyle(QCPGraph::lsStepLeft);
    QVector<double> from, count;
    for (const LatencyBin& bin : kind.bins) {
      from << bin.from;
      count << static_cast<double>(bin.operations);
      highest_bin = std::max(highest_bin, count.back());
    }
    from << kind.bins.back().to;
    count << 0;
    often->setData(from, count, true);
  }
  wrap_legend(*this);
  legend->setVisible(!kinds_.empty());
  if (trace_) {
    say(kinds_.empty()
            ? tr("No operation in this direction was captured from its first packet to its completion.")
            : QString());
  }
  whole_ = kinds_.empty() ? QCPRange(1e-6, 1) : QCPRange(least / 1.5, longest * 1.5);
  below_->axis(QCPAxis::atLeft)->setRange(0, std::max(1.0, highest_bin * 1.05));
  restyle();
  show_all();
}

void LatencySpread::show_all() {
  xAxis->setRange(whole_);
  replot(QCustomPlot::rpQueuedReplot);
}

void LatencySpread::say(const QString& text) {
  said_->setText(text);
  said_->setVisible(!text.isEmpty());
  for (int i = 0; i < plottableCount(); ++i) plottable(i)->setVisible(text.isEmpty());
  replot(QCustomPlot::rpQueuedReplot);
}

QString LatencySpread::values_at(double latency) const {
  QStringList lines;
  for (const Kind& kind : kinds_) {
    const double within = share_within(kind.shares, latency);
    const auto beyond = std::llround((1 - within) * static_cast<double>(kind.operations));
    QString line = tr("%1: %2 % within %3, %4 took longer")
                       .arg(operation_text(kind.kind))
                       .arg(100 * within, 0, 'f', within > 0.99 && within < 1 ? 2 : 1)
                       .arg(latency_text(latency))
                       .arg(beyond);
    if (kind.retried > 0) line += tr("; %1 % of all partly retransmitted").arg(100 * kind.retried, 0, 'g', 2);
    lines << line;
  }
  return lines.join(QLatin1Char('\n'));
}

bool LatencySpread::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QCustomPlot::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const bool inside = axisRect(0)->rect().contains(help->pos()) || below_->rect().contains(help->pos());
  const QString text = inside ? values_at(xAxis->pixelToCoord(help->pos().x())) : QString();
  if (text.isEmpty()) {
    QToolTip::hideText();
  } else {
    QToolTip::showText(help->globalPos(), text, this);
  }
  return true;
}

void LatencySpread::changeEvent(QEvent* event) {
  QCustomPlot::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) {
    restyle();
    replot(QCustomPlot::rpQueuedReplot);
  }
}

void LatencySpread::resizeEvent(QResizeEvent* event) {
  QCustomPlot::resizeEvent(event);
  wrap_legend(*this);
}

void LatencySpread::mouseDoubleClickEvent(QMouseEvent* event) {
  QCustomPlot::mouseDoubleClickEvent(event);
  show_all();
}

void LatencySpread::restyle() {
  setBackground(palette().base());
  for (QCPAxisRect* rect : {axisRect(0), below_}) style_axes(rect, palette(), font());
  style_legend(legend, palette(), font());
  said_->setFont(font());
  said_->setColor(palette().color(QPalette::PlaceholderText));
  // Two graphs for each kind.
  for (int i = 0; i < graphCount(); ++i) {
    const LatencyLook& look =
        latency_looks[static_cast<std::size_t>(kinds_[static_cast<std::size_t>(i / 2)].kind)];
    style_graph(graph(i), colours(palette()).*look.colour, i % 2 == 1);
  }
}

}  // namespace roce::gui
