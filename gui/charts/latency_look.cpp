// SPDX-License-Identifier: Apache-2.0
#include "gui/charts/latency_look.hpp"

#include <algorithm>
#include <cmath>

#include "analyze/base/units.hpp"
#include "gui/models/table_model.hpp"

namespace roce::gui {

QString latency_text(double seconds) {
  return to_qt(analyze::duration_text(std::llround(std::clamp(seconds, 0.0, 9e9) * 1e9)));
}

QString operation_text(analyze::OperationKind kind) {
  return to_qt(analyze::operation_kind_name(kind)).replace(QLatin1Char('_'), QLatin1Char(' '));
}

QVector<double> DurationTicker::createTickVector(double, const QCPRange& range) {
  QVector<double> ticks;
  const double first = std::floor(std::log10(std::max(range.lower, 1e-12)));
  const double last = std::ceil(std::log10(std::max(range.upper, 1e-12)));
  for (double decade = first; decade <= last; ++decade) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor == 1 || last - first <= 4) ticks << factor * std::pow(10.0, decade);
    }
  }
  return ticks;
}

QString DurationTicker::getTickLabel(double tick, const QLocale&, QChar, int) {
  return latency_text(tick);
}

}  // namespace roce::gui
