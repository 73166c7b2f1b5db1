// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capture/confine/privileges.hpp"
#include "cli/live/capture_observer.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

struct CaptureOptions;

/// The options of the observers, which display, log and confine a running capture.
struct LiveOutputs {
  std::string metrics;  ///< ADDRESS:PORT, empty: none
  std::string user;     ///< of -Z
  bool system_log = false;
  bool no_sandbox = false;
  bool plain = false;       ///< no screen
  std::string toolbar_in;   ///< pipe of messages from Wireshark's toolbar; empty: none
  std::string toolbar_out;  ///< pipe of messages to it
  std::string spool;        ///< of --store; empty: none

  void add_to(CLI::App& command);
  /// The observers, in the order in which they start. There is a screen if standard output is a terminal and
  /// neither
  /// --json nor --every is used. `as`: the account of `user`.
  [[nodiscard]] std::vector<std::unique_ptr<CaptureObserver>> observers(
      const CaptureOptions& options, const std::optional<capture::User>& as) const;
};

}  // namespace roce::cli
