// SPDX-License-Identifier: Apache-2.0
// Names and errors as the window shows them: control characters (a line feed in a file name, ESC) are
// escaped, as on the command line.
#pragma once

#include <QString>
#include <string>

#include "capture/core/error.hpp"

namespace roce::gui {

[[nodiscard]] QString shown_name(const QString& name);
/// In UTF-8. Lines below the first one are kept.
[[nodiscard]] std::string error_text(const capture::Error& error);

}  // namespace roce::gui
