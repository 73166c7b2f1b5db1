// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QAction>
#include <QMenu>
#include <vector>

namespace roce::gui {

/// Adds an action for each row {name, text, keys, help, handler}; a separator for a row without a handler.
template <class Row, class Receiver>
void add_rows(QMenu* menu, const std::vector<Row>& rows, Receiver* receiver) {
  for (const Row& row : rows) {
    if (!row.handler) {
      menu->addSeparator();
      continue;
    }
    QAction* action = menu->addAction(row.text);
    action->setObjectName(QString::fromLatin1(row.name));
    action->setShortcut(row.keys);
    action->setStatusTip(row.help);
    action->setToolTip(row.help);
    QObject::connect(action, &QAction::triggered, receiver, row.handler);
  }
  menu->setToolTipsVisible(true);
}

}  // namespace roce::gui
