// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/core/error.hpp"

namespace roce::capture {

/// A user account.
struct User {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;  ///< its primary group
};
/// Finds a user by name or number.
[[nodiscard]] Expected<User> find_user(const std::string& name);

/// Whom a process of root should become that writes into this folder ("" = it writes no file) and was not
/// told whom: the folder's owner, or nobody. None if it is not root, if the folder is root's, or if there is
/// no such user.
[[nodiscard]] std::optional<User> lesser_user(const std::string& folder);

/// During its lifetime the calling thread, if it runs as root, creates and opens files as the user, without
/// the user's supplementary groups. Threads started in the meantime keep that.
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
  std::optional<User> user;             ///< user to become; only for root
  std::uint64_t keep_capabilities = 0;  ///< bits by capability number, to keep if the process has them
  bool user_required = true;            ///< false: stay root where the kernel refuses (user namespaces)
};

/// Drops privileges irrevocably in every thread of the process: becomes `user` with its groups, drops all
/// capabilities except those to keep (also in the bounding, inheritable and ambient sets), and sets
/// no_new_privs. Verifies the result in /proc/self/task. To be called when the device, sockets and first
/// files are open. After an error some privileges may be left: the process should end.
[[nodiscard]] Expected<void> drop_privileges(const PrivilegeOptions& options);

/// Drops all capabilities of the calling thread and of those that it starts, and sets no_new_privs; the user
/// stays. Irrevocable.
[[nodiscard]] Expected<void> drop_capabilities_of_thread();

/// Privileges of one thread, by /proc.
struct Rights {
  pid_t thread = 0;
  std::vector<uid_t> uids;    ///< real, effective, saved, file system
  std::vector<gid_t> gids;    ///< the same
  std::vector<gid_t> groups;  ///< supplementary
  std::uint64_t inheritable = 0, permitted = 0, effective = 0, bounding = 0, ambient = 0;  ///< capabilities
  bool no_new_privs = false;
  bool filtered = false;  ///< has a seccomp filter
};
/// The privileges of every thread; empty if /proc cannot be read.
[[nodiscard]] std::vector<Rights> rights_of_threads();

}  // namespace roce::capture
