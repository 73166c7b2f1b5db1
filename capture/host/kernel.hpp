// SPDX-License-Identifier: Apache-2.0
// Queries to the running kernel besides its file systems: an interface, so that tests can replace it.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

class KernelQueries {
 public:
  virtual ~KernelQueries() = default;

  /// Sends one netlink request (with header) to a family (NETLINK_ROUTE, ...) and returns all messages of the
  /// answer, concatenated. NLMSG_ERROR becomes an Error with its errno. At most 16 MiB; times out after some
  /// seconds.
  [[nodiscard]] virtual Expected<std::vector<std::byte>> netlink(int family,
                                                                 std::span<const std::byte> request) = 0;
  /// SIOCETHTOOL on an interface: `data` begins with the command and is filled in place. Returns 0 or an
  /// errno.
  [[nodiscard]] virtual int ethtool(const std::string& interface, std::span<std::byte> data) = 0;
};

/// The running kernel, in the network namespace of the calling thread. Not thread-safe.
[[nodiscard]] std::unique_ptr<KernelQueries> running_kernel();

}  // namespace roce::capture
