// SPDX-License-Identifier: Apache-2.0
// The options that end the reading of captures: --max-packets and --max-time.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "capture/files/reading_limits.hpp"

namespace CLI {
class App;
}

namespace roce::cli {

struct ReadingOptions {
  std::uint64_t packets = 0;  ///< -c, --max-packets; 0 = all
  std::string time;           ///< --max-time: "10", "10s", "500ms"; empty: no limit

  /// `packets_help`: what -c means for the command.
  void add_to(CLI::App& command, const std::string& packets_help);
  /// Limits of a command that begins now.
  [[nodiscard]] capture::ReadingLimits limits() const;
};

}  // namespace roce::cli
