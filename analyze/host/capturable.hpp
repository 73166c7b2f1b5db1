// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "capture/host/facts.hpp"

namespace roce::analyze {

/// Whether RDMA packets of a port can be captured on this host.
struct Capturable {
  bool possible = false;
  std::string device;  ///< name for -i: "mlx5_0:1", "eth0"; empty if not possible
  std::string how;     ///< one sentence: requirements, or what to do instead
};

[[nodiscard]] Capturable capturable_port(const capture::HostFacts& host, const capture::RdmaDevice& device,
                                         const capture::RdmaPort& port);

}  // namespace roce::analyze
