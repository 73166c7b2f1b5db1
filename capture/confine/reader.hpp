// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

/// What the kernel granted; false where it does not support it.
struct Confined {
  bool capabilities = false;  ///< none are left
  bool files = false;         ///< Landlock
  bool calls = false;         ///< seccomp
};

/// Takes from the calling thread, and those that it will start, what a packet could abuse that exploits a
/// bug of the dissector: all capabilities, all use of files by name but opening `files` for reading, and all
/// system calls that reading, analysing and printing do not need (enter_sandbox()). To be called when all
/// files are open and before the first byte of a capture is interpreted. Irrevocable. Does what the kernel
/// permits: an old kernel or a container without Landlock is no reason not to read a capture.
Confined confine_reader(const std::vector<std::string>& files);

}  // namespace roce::capture
