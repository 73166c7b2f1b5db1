// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "capture/confine/broker.hpp"
#include "capture/core/kept_files.hpp"
#include "capture/core/placed_output.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

/// --no-sandbox
void add_sandbox_option(CLI::App& command, bool& no_sandbox);

/// Patterns expanded; those that match nothing stay as they are, for the message of who opens them.
[[nodiscard]] std::vector<std::string> expanded_files(const std::vector<std::string>& files);

/// Opens the captures of a command, then gives up what their packets could abuse: nothing else can be opened
/// from here on (capture/confine). To be made when the options are checked and the outputs are open; the
/// captures can be opened during its lifetime.
class ConfinedInputs {
 public:
  /// `files` of expanded_files(). The outputs have temporary names; they are finished during its lifetime,
  /// and removed if the process ends before.
  explicit ConfinedInputs(const std::vector<std::string>& files, bool no_sandbox,
                          std::vector<capture::PlacedOutput*> outputs = {});

 private:
  capture::KeptFiles kept_;
  std::unique_ptr<capture::Broker> broker_;  ///< null if there is nothing for it to do
};

}  // namespace roce::cli
