// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/live/live_screen.hpp"

namespace roce::cli {

/// Draws on the alternate screen of the terminal at standard output. The normal screen is restored by the
/// destructor, before the process is suspended (Ctrl-Z), and when a signal kills it (except SIGKILL). Nothing
/// is drawn while the process is in the background. One at a time; not thread-safe except for leave().
class LiveTerminal {
 public:
  /// Whether standard output is a terminal that can be drawn on.
  [[nodiscard]] static bool possible();

  LiveTerminal();
  ~LiveTerminal();
  LiveTerminal(const LiveTerminal&) = delete;
  LiveTerminal& operator=(const LiveTerminal&) = delete;

  /// The present size of the terminal, to be called for each drawing.
  [[nodiscard]] static ScreenStyle style(bool color);
  /// The bytes that draw the lines at the top of the screen and clear the rest, to be written to standard
  /// output (which may block); empty while the process is in the background.
  [[nodiscard]] std::string drawing(const std::vector<std::string>& lines);
  /// Restores the terminal, once; any thread.
  void leave() noexcept;
};

/// Restores the terminal if there is a LiveTerminal. Async-signal-safe, for handlers that end the process.
void restore_terminal() noexcept;

}  // namespace roce::cli
