// SPDX-License-Identifier: Apache-2.0
// What is asked of the running kernel besides its file systems: a narrow seam, so that tests can answer.
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

  /// Sends one netlink request (header included) to a family (NETLINK_ROUTE, ...) and returns all messages
  /// of the answer as they came, one behind the other. An answer that is an error becomes an Error with its
  /// errno. At most 16 MiB, at most some seconds.
  [[nodiscard]] virtual Expected<std::vector<std::byte>> netlink(int family,
                                                                 std::span<const std::byte> request) = 0;
  /// SIOCETHTOOL on an interface: `data` begins with the command and is filled in place. 0 or an errno.
  [[nodiscard]] virtual int ethtool(const std::string& interface, std::span<std::byte> data) = 0;
};

/// The kernel that runs, in the network namespace of the calling thread. Not thread-safe.
[[nodiscard]] std::unique_ptr<KernelQueries> running_kernel();

}  // namespace roce::capture
