// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QString>

namespace roce::gui {

/// "0.1.0".
[[nodiscard]] QString version();
/// What this build was made of: compiler, libraries, features; a line each.
[[nodiscard]] QString build_text();

}  // namespace roce::gui
