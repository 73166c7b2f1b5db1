// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

namespace roce::gui {

/// Runs `work` on a thread of its own. Nobody has to wait for it: a thread that was told to stop may still be
/// inside of a system call that nothing wakes (opening a pipe that nobody writes to), and the window shall
/// not stand still for that. Exceptions may not leave `work`.
void run_in_background(std::function<void()> work);

/// Waits until no such thread runs, at most so long; false if one still does. To be called before the program
/// ends: threads that still run then must not see its static objects go.
[[nodiscard]] bool wait_for_background(std::chrono::milliseconds limit);

}  // namespace roce::gui
