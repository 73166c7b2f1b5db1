// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "cli/capture/privileges.hpp"
#include "cli/live/capture_observer.hpp"

namespace roce::cli {

struct ConfinementOptions {
  std::optional<User> user;  ///< of -Z
  bool sandbox = true;       ///< off with --no-sandbox
  bool system_log = false;   ///< is in use
  bool more_files = false;   ///< will be made beside the first one: rings, triggers
};

/// Takes from the process what the analysis does not need, before the first packet is dissected: privileges,
/// and system calls. The last of the observers: the others open what they need first.
class Confinement : public CaptureObserver {
 public:
  explicit Confinement(ConfinementOptions options) : options_(std::move(options)) {}

  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;

 private:
  ConfinementOptions options_;
};

}  // namespace roce::cli
