// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>
#include <QToolButton>

namespace roce::gui {

/// A button with a text, and a help for who waits on it. The layout that it is put into owns it.
[[nodiscard]] inline QToolButton* tool_button(const QString& text, const QString& help) {
  auto* made = new QToolButton;
  made->setText(text);
  made->setToolTip(help);
  return made;
}

}  // namespace roce::gui
