// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace roce::gui {

/// On a thread of run_in_background(): opens these captures ahead and gives up what their packets could abuse
/// (capture/confine); until the thread ends it can open only them, for reading. The threads that it starts
/// are confined as well, the rest of the window is not. Further calls on the same thread, and calls on the
/// window's own thread, have no effect.
void confine_reading(const std::vector<std::string>& paths);

}  // namespace roce::gui
