// SPDX-License-Identifier: Apache-2.0
// Names and errors as a window shows them: what a display would obey (a new line in the name of a file, ESC)
// is written as an escape, as the command line does.
#pragma once

#include <QString>
#include <string>

#include "capture/core/error.hpp"

namespace roce::gui {

[[nodiscard]] QString shown_name(const QString& name);
/// In UTF-8. What is below the first line stays in lines of its own.
[[nodiscard]] std::string error_text(const capture::Error& error);

}  // namespace roce::gui
