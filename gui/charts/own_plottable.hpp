// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <qcustomplot.h>

namespace roce::gui {

/// What is drawn by hand between two axes. Ranges are set by whoever has the data, and packets found by the
/// geometry: nobody asks this for either.
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
