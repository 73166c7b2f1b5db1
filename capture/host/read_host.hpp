// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "capture/host/facts.hpp"
#include "capture/host/kernel.hpp"

namespace roce::capture {

struct HostOptions {
  std::string root = "/";           ///< folder of the tree with sys/ and proc/
  KernelQueries* kernel = nullptr;  ///< null: without netlink and ethtool. Borrowed for the call
  std::int64_t time_ns = 0;         ///< now, since the epoch
};

/// Reads everything a host reports. Never fails: what cannot be read is listed in HostFacts::problems.
[[nodiscard]] HostFacts read_host(const HostOptions& options);

}  // namespace roce::capture
