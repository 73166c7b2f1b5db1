// SPDX-License-Identifier: Apache-2.0
// What all graphs of latencies have in common: the axis, and how kinds of operations look.
#pragma once

#include <qcustomplot.h>

#include <QColor>
#include <QString>
#include <array>

#include "analyze/trace/connection_trace.hpp"
#include "gui/charts/theme.hpp"

namespace roce::gui {

/// "1.25 ms"
[[nodiscard]] QString latency_text(double seconds);
/// "read", "atomic compare swap"
[[nodiscard]] QString operation_text(analyze::OperationKind kind);

/// Labels such as "1 ms" of a logarithmic axis in seconds; with few decades, also ticks at 2 and 5.
class DurationTicker final : public QCPAxisTickerLog {
 protected:
  QVector<double> createTickVector(double step, const QCPRange& range) override;
  QString getTickLabel(double tick, const QLocale& locale, QChar format, int precision) override;
};

struct LatencyLook {
  QColor Colours::*colour;
  QCPScatterStyle::ScatterShape shape;
};
/// By OperationKind.
inline constexpr std::array<LatencyLook, analyze::operation_kind_count> latency_looks{
    {{&Colours::throughput, QCPScatterStyle::ssDisc},
     {&Colours::goodput, QCPScatterStyle::ssSquare},
     {&Colours::ce, QCPScatterStyle::ssDiamond},
     {&Colours::cnp, QCPScatterStyle::ssTriangle},
     {&Colours::lost, QCPScatterStyle::ssCross},
     {&Colours::info, QCPScatterStyle::ssPlus}}};

}  // namespace roce::gui
