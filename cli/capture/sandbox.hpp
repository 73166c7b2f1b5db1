// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/core/error.hpp"

namespace roce::cli {

/// What the process still has to do once it is confined.
struct SandboxOptions {
  bool write_files =
      false;  ///< make, write, rename and remove files (rings); else files are opened for reading
  bool system_log = false;  ///< connect to the system log anew when it restarts
  bool rdma = false;        ///< control an RDMA device
};

/// From here on the kernel refuses all threads what the analysis of packets never needs, so that a packet
/// that finds a hole in a dissector finds little behind it: a system call that starts a program or reaches
/// other processes kills the process (SIGSYS), any other that is not on the list fails with EPERM. To be
/// called when the device, sockets and files that stay are open. For good. Fails where the kernel knows no
/// such filters; nothing is confined then.
[[nodiscard]] capture::Expected<void> enter_sandbox(const SandboxOptions& options);

/// False in a build with sanitizers: they start a process to look at this one.
[[nodiscard]] constexpr bool sandbox_possible() noexcept {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

}  // namespace roce::cli
