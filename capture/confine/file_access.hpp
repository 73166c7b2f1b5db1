// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

/// What may still be done with files by name. Open descriptors keep working.
struct FileAccess {
  std::vector<std::string>
      read;  ///< files that may be opened for reading; those that do not exist are left out
  std::vector<std::string> write;  ///< folders in which files may be made, written, renamed and removed
};

/// Refuses all other use of files by name to the calling thread and those that it starts, with EACCES
/// (Landlock). Irrevocable; needs no_new_privs. False, without any effect, if the kernel has no Landlock.
[[nodiscard]] Expected<bool> restrict_files(const FileAccess& access);

/// The same for every thread of the process.
[[nodiscard]] Expected<bool> restrict_files_of_threads(const FileAccess& access);

}  // namespace roce::capture
