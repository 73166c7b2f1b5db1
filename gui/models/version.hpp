// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

namespace roce::gui {

/// "0.1.0".
[[nodiscard]] QString version();
/// Compiler, libraries and features of this build, one per line.
[[nodiscard]] QString build_text();

}  // namespace roce::gui
