// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "capture/core/error.hpp"

namespace roce::capture {

/// How files may be opened by name. Reading and writing open ones is always possible.
enum class SandboxFiles : std::uint8_t {
  none,
  read,
  write,  ///< also create, write, rename and remove them (rings)
};
enum class SandboxThreads : std::uint8_t {
  all,      ///< of the process
  calling,  ///< the calling one, and those that it starts
};

/// What the process has to do after it is confined.
struct SandboxOptions {
  SandboxFiles files = SandboxFiles::read;
  bool system_log = false;   ///< reconnect to the system log when it restarts
  bool rdma = false;         ///< control an RDMA device
  SandboxThreads threads = SandboxThreads::all;
};

/// Installs a seccomp filter that limits what a packet can do that exploits a bug of a
/// dissector: system calls that start programs or affect other processes kill the process (SIGSYS), all
/// others that are not on the list fail with EPERM. Irrevocable. To be called when the device, sockets and
/// files are open. Fails, without any effect, if the kernel does not support it.
[[nodiscard]] Expected<void> enter_sandbox(const SandboxOptions& options);

/// False in a build with sanitizers, which start another process to inspect this one.
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

}  // namespace roce::capture
