// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/capture/privileges.hpp"
#include "cli/live/capture_observer.hpp"

namespace roce::cli {

struct CaptureOptions;

/// What shows, logs and confines a capture while it runs.
struct LiveOutputs {
  std::string metrics;  ///< ADDRESS:PORT, empty: none
  std::string user;     ///< of -Z
  bool system_log = false;
  bool no_sandbox = false;
  bool plain = false;  ///< no screen

  void add_to(CLI::App& command);
  /// In the order in which they begin. A screen where standard output is a terminal and neither --json nor
  /// --every asks for something else. `as` is who `user` is.
  [[nodiscard]] std::vector<std::unique_ptr<CaptureObserver>> observers(const CaptureOptions& options,
                                                                        const std::optional<User>& as) const;
};

}  // namespace roce::cli
