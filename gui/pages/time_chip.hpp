// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QToolButton>
#include <optional>

#include "gui/models/selection.hpp"

namespace roce::gui {

/// Says that a page shows only what was in the chosen time range, and shows all when it is clicked. Not
/// there while no range is chosen.
class TimeChip : public QToolButton {
  Q_OBJECT

 public:
  /// `help` says what the page leaves out. `selection` outlives it.
  TimeChip(Selection& selection, const QString& help, QWidget* parent = nullptr);

  /// The range that the page is limited to; nullopt: to none.
  [[nodiscard]] std::optional<TimeSpan> time() const;

 Q_SIGNALS:
  void changed();

 private:
  Selection& selection_;
};

}  // namespace roce::gui
