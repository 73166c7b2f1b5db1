// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <memory>
#include <string>

#include "gui/pages/main_window.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {

/// A window that asks nobody anything.
inline std::unique_ptr<MainWindow> make_window() {
  auto window = std::make_unique<MainWindow>();
  window->set_questions({[](QWidget*) { return QStringList(); }, [](QWidget*) { return QString(); },
                         [](QWidget*) {},
                         [](QWidget*, const QString&) { return MainWindow::Unsaved::discard; },
                         [](QWidget*, const QString&) { return true; }});
  window->show();
  return window;
}

inline bool has_ended(MainWindow& window) {
  return eventually([&] { return window.session().state() != AnalysisSession::State::loading; });
}

inline void open_sample(MainWindow& window, const std::string& name) {
  window.open({QString::fromStdString(sample(name))});
  ASSERT_TRUE(has_ended(window));
  ASSERT_EQ(window.session().state(), AnalysisSession::State::done);
  ASSERT_TRUE(eventually([&] { return window.is_settled(); }));
}

/// Texts that are wider or higher than their place, a line each.
inline std::string cut_off(const QWidget& top) {
  QStringList found;
  for (const QWidget* widget : top.findChildren<QWidget*>()) {
    // What is behind the page in front has not been laid out.
    if (widget->visibleRegion().isEmpty() || widget->sizePolicy().horizontalPolicy() == QSizePolicy::Ignored)
      continue;
    const auto* label = qobject_cast<const QLabel*>(widget);
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const auto* box = qobject_cast<const QComboBox*>(widget);
    if (label == nullptr && button == nullptr && box == nullptr) continue;
    const QString text = label != nullptr    ? label->text()
                         : button != nullptr ? button->text()
                                             : box->currentText();
    if (text.isEmpty() || (label != nullptr && label->wordWrap())) continue;
    const QSize wanted = widget->minimumSizeHint();
    if (widget->width() < wanted.width() || widget->height() < wanted.height()) found << text;
  }
  return found.join(QLatin1Char('\n')).toStdString();
}

/// The same when the layouts have come to rest: what was set last asks for its room later.
inline std::string cut_off_at_rest(const QWidget& top) {
  static_cast<void>(eventually([&] { return cut_off(top).empty(); }));
  return cut_off(top);
}

}  // namespace roce::gui
