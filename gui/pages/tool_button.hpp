// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QToolButton>

namespace roce::gui {

/// Makes a button with a text and a tool tip. Owned by the widget into whose layout it is put.
[[nodiscard]] inline QToolButton* tool_button(const QString& text, const QString& help) {
  auto* made = new QToolButton;
  made->setText(text);
  made->setToolTip(help);
  return made;
}

}  // namespace roce::gui
