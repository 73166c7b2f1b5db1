// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QApplication>
#include <QClipboard>
#include <QSettings>
#include <QTemporaryDir>
#include <chrono>
#include <cstdlib>

#include "gui/charts/theme.hpp"
#include "gui/models/time_format.hpp"
#include "gui/models/worker_threads.hpp"
#include "gui/pages/main_window.hpp"

namespace {

using namespace roce::gui;

/// Every test begins as the program does when it is started for the first time, whatever tests ran before it
/// in this process: what windows share is their settings, and what the application is asked for by them.
class FirstStart final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo&) override {
    settings().clear();
    set_time_display(TimeDisplay::relative);
    apply_theme(Theme::light);
    QApplication::setFont(font_);
    QApplication::clipboard()->clear();
  }
  void OnTestEnd(const testing::TestInfo& test) override {
    // Windows that actions have opened and closed go now.
    QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    for (const QWidget* left : QApplication::topLevelWidgets()) {
      if (qobject_cast<const QMainWindow*>(left) != nullptr)
        ADD_FAILURE() << test.test_suite_name() << '.' << test.name() << " leaves a window behind";
    }
  }
  const QFont font_ = QApplication::font();
};

}  // namespace

int main(int argc, char** argv) {
  // Nobody's screen and nobody's settings.
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  const QTemporaryDir folder;
  QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder.path());
  const QApplication application(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(new FirstStart);
  const int status = RUN_ALL_TESTS();
  if (!wait_for_background(std::chrono::seconds(5))) std::_Exit(status);
  return status;
}
