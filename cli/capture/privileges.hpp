// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::cli {

struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;  ///< its primary group
};
/// By name or number. What is wrong names the user and how to see which there are.
[[nodiscard]] capture::Expected<User> find_user(const std::string& name);

/// While it lives, the calling thread, if it is root's, makes and opens files as the user would, but for the
/// user's supplementary groups. Threads that it begins meanwhile stay so.
class FilesAs {
 public:
  explicit FilesAs(const User& user);
  ~FilesAs();
  FilesAs(const FilesAs&) = delete;
  FilesAs& operator=(const FilesAs&) = delete;

 private:
  bool changed_ = false;
};

struct PrivilegeOptions {
  std::optional<User> user;             ///< who to become; only root can
  std::uint64_t keep_capabilities = 0;  ///< bits by capability number; only those that are held
};

/// Gives up, in every thread of the process and for good: other users' rights (with `user`), all
/// supplementary groups that are not the user's, capabilities (also of the bounding, inheritable and ambient
/// sets) but for those to keep, and to gain rights by exec(2) (no_new_privs). Checks by the kernel's own
/// words that it is so. To be called when the device, sockets and first files are open. After an error the
/// process may hold some of the rights still: it should end.
[[nodiscard]] capture::Expected<void> drop_privileges(const PrivilegeOptions& options);

/// What the kernel says that one thread may do.
struct Rights {
  pid_t thread = 0;
  std::vector<uid_t> uids;    ///< real, effective, saved, of files
  std::vector<gid_t> gids;    ///< the same
  std::vector<gid_t> groups;  ///< supplementary
  std::uint64_t inheritable = 0, permitted = 0, effective = 0, bounding = 0, ambient = 0;  ///< capabilities
  bool no_new_privs = false;
  bool filtered = false;  ///< by seccomp
};
/// Of every thread; empty where /proc cannot be read.
[[nodiscard]] std::vector<Rights> rights_of_threads();

}  // namespace roce::cli
