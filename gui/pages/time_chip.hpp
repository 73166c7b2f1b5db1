// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QToolButton>
#include <optional>

#include "gui/models/selection.hpp"

namespace roce::gui {

/// Button that shows that a page is limited to the selected time range; a click removes the limit for this
/// page. Hidden while no time range is selected.
class TimeChip : public QToolButton {
  Q_OBJECT

 public:
  /// `help` is the tool tip that says what the page hides. `selection` outlives it.
  TimeChip(Selection& selection, const QString& help, QWidget* parent = nullptr);

  /// The time range in effect; nullopt: no limit.
  [[nodiscard]] std::optional<TimeSpan> time() const;

 Q_SIGNALS:
  void changed();

 private:
  Selection& selection_;
};

}  // namespace roce::gui
