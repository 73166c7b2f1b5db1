// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <chrono>
#include <cstdlib>

#include "gui/models/worker_threads.hpp"

int main(int argc, char** argv) {
  const QCoreApplication application(argc, argv);
  testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  // A test of a pipe that nobody writes to leaves its thread behind.
  if (!roce::gui::wait_for_background(std::chrono::seconds(5))) std::_Exit(status);
  return status;
}
