// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/live/live_screen.hpp"

namespace roce::cli {

/// A screen of its own on the terminal at standard output (the alternate one, so that what stood there comes
/// back), redrawn in place. Left when the object goes, before the process is suspended (Ctrl-Z), and when a
/// signal kills it; only SIGKILL leaves it behind. Not drawn while the process is in the background. One at a
/// time; not thread-safe.
class LiveTerminal {
 public:
  /// Whether standard output is a terminal that can be drawn on.
  [[nodiscard]] static bool possible();

  LiveTerminal();
  ~LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  /// Asked anew each time, so that a terminal that is resized is drawn in its new size.
  [[nodiscard]] static ScreenStyle style(bool color);
  /// What puts the lines at the top of the screen and clears the rest, to be written to standard output by
  /// one who can wait for the terminal; empty where it is not ours now.
  [[nodiscard]] std::string drawing(const std::vector<std::string>& lines);
  /// Gives the terminal back, once; any thread.
  void leave() noexcept;
};

/// Gives the terminal back if there is a LiveTerminal; async-signal-safe, for handlers that end the process.
void restore_terminal() noexcept;

}  // namespace roce::cli
