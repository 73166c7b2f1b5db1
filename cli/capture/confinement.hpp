// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "capture/confine/privileges.hpp"
#include "cli/live/capture_observer.hpp"

namespace roce::cli {

struct ConfinementOptions {
  std::optional<capture::User> user;  ///< of -Z, or chosen
  bool user_required = true;          ///< of -Z
  bool sandbox = true;                ///< off with --no-sandbox
  bool system_log = false;            ///< with --syslog
  bool more_files = false;            ///< further files will be created: rings, triggers
  std::string spool;                  ///< folder of --store, in which files are written; empty: none
};

/// Drops privileges and restricts system calls before the first packet is dissected. Comes after all
/// observers that open files or sockets.
class Confinement : public CaptureObserver {
 public:
  explicit Confinement(ConfinementOptions options) : options_(std::move(options)) {}

  [[nodiscard]] capture::Expected<void> on_start(const CaptureStart& start) override;

 private:
  ConfinementOptions options_;
};

}  // namespace roce::cli
