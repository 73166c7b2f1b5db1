// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "capture/host/facts.hpp"
#include "capture/host/kernel.hpp"

namespace roce::capture {

struct HostOptions {
  std::string root = "/";           ///< of the tree with sys/ and proc/
  KernelQueries* kernel = nullptr;  ///< null: netlink and ethtool are not asked
  std::int64_t time_ns = 0;         ///< now, since the epoch
};

/// Reads all that a host says. Never fails: what is missing or wrong is in the facts' problems.
[[nodiscard]] HostFacts read_host(const HostOptions& options);

}  // namespace roce::capture
