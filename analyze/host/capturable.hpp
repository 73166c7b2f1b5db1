// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "capture/host/facts.hpp"

namespace roce::analyze {

/// Whether the packets of a port can be captured on this host, and how or why not.
struct Capturable {
  bool possible = false;
  std::string device;  ///< what -i takes: "mlx5_0:1", "eth0"; empty if not possible
  std::string how;     ///< one sentence: what it needs, or what to do instead
};

[[nodiscard]] Capturable capturable_port(const capture::HostFacts& host, const capture::RdmaDevice& device,
                                         const capture::RdmaPort& port);

}  // namespace roce::analyze
