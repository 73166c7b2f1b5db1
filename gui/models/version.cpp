// SPDX-License-Identifier: Apache-2.0
#include "gui/models/version.hpp"

namespace roce::gui {

// Both come from CMake, as those of the command line do.
QString version() {
  return QStringLiteral(ROCE_VERSION);
}

QString build_text() {
  return QStringLiteral(ROCE_BUILD_INFO);
}

}  // namespace roce::gui
