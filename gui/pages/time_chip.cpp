// SPDX-License-Identifier: Apache-2.0
#include "gui/pages/time_chip.hpp"

#include <QSignalBlocker>

namespace roce::gui {

TimeChip::TimeChip(Selection& selection, const QString& help, QWidget* parent)
    : QToolButton(parent), selection_(selection) {
  setText(tr("Time range"));
  setToolTip(help);
  setCheckable(true);
  setChecked(true);
  setVisible(false);
  connect(this, &QToolButton::toggled, this, &TimeChip::changed);
  connect(&selection_, &Selection::time_changed, this, [this] {
    {
      const QSignalBlocker quiet(this);
      setChecked(true);  // a newly selected range is always applied
    }
    setVisible(selection_.time().has_value());
    Q_EMIT changed();
  });
}

std::optional<TimeSpan> TimeChip::time() const {
  return isChecked() ? selection_.time() : std::nullopt;
}

}  // namespace roce::gui
