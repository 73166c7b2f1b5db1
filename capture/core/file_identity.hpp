// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/stat.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace roce::capture {

/// Which regular file it is, whatever its names.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;

  [[nodiscard]] static FileIdentity of(const struct stat& facts) noexcept {
    return {facts.st_dev, facts.st_ino};
  }
};

/// The regular file that is open at `descriptor`; none for pipes, devices, sockets and folders.
[[nodiscard]] std::optional<FileIdentity> identity_of(int descriptor) noexcept;
/// The regular files behind these arguments: glob patterns are expanded as by expand_paths(), "-" is standard
/// input. What does not exist is left out.
[[nodiscard]] std::vector<FileIdentity> identities_of(const std::vector<std::string>& paths);

}  // namespace roce::capture
