// SPDX-License-Identifier: Apache-2.0
#include "gui/models/version.hpp"

namespace roce::gui {

// Both are defined by CMake, as for the command line.
QString version() {
  return QStringLiteral(ROCE_VERSION);
}

QString build_text() {
  return QStringLiteral(ROCE_BUILD_INFO);
}

}  // namespace roce::gui
