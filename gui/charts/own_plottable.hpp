// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <qcustomplot.h>

namespace roce::gui {

/// Base of plottables with their own painting. Axis ranges and hit tests are done by the plot and its
/// geometry, so those of QCustomPlot are switched off.
class OwnPlottable : public QCPAbstractPlottable {
 public:
  OwnPlottable(QCPAxis* key, QCPAxis* value) : QCPAbstractPlottable(key, value) {
    setSelectable(QCP::stNone);
  }
  double selectTest(const QPointF&, bool, QVariant*) const override { return -1; }
  QCPRange getKeyRange(bool& found, QCP::SignDomain) const override {
    found = false;
    return {};
  }
  QCPRange getValueRange(bool& found, QCP::SignDomain, const QCPRange&) const override {
    found = false;
    return {};
  }
};

}  // namespace roce::gui
