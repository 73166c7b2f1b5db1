// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <QApplication>
#include <memory>

#include "gui/pages/main_window.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {

/// A window that asks nobody anything.
inline std::unique_ptr<MainWindow> make_window() {
  auto window = std::make_unique<MainWindow>();
  window->set_questions({[](QWidget*) { return QStringList(); }, [](QWidget*) { return QString(); },
                         [](QWidget*) {}, [](QWidget*) { return MainWindow::Unsaved::discard; }});
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

}  // namespace roce::gui
