// SPDX-License-Identifier: Apache-2.0
#include "capture/core/file_identity.hpp"

#include <unistd.h>

#include "capture/core/paths.hpp"

namespace roce::capture {

std::optional<FileIdentity> identity_of(int descriptor) noexcept {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  return FileIdentity::of(facts);
}

std::vector<FileIdentity> identities_of(const std::vector<std::string>& paths) {
  std::vector<FileIdentity> found;
  std::vector<Error> ignored;
  for (const std::string& path : expand_paths(paths, ignored)) {
    struct stat facts {};
    const int status = path == "-" ? fstat(STDIN_FILENO, &facts) : stat(path.c_str(), &facts);
    if (status == 0 && S_ISREG(facts.st_mode)) found.push_back(FileIdentity::of(facts));
  }
  return found;
}

}  // namespace roce::capture
