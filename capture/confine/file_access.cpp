// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/file_access.hpp"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "capture/confine/every_thread.hpp"

namespace roce::capture {
namespace {

// All rights of the first version of Landlock, and those that later ones added (index + 2 is the version):
// what a ruleset handles, it refuses unless a rule permits it.
constexpr std::uint64_t first_rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1U) - 1;
constexpr std::uint64_t truncate_right = 1U << 14U;
constexpr std::uint64_t later_rights[] = {
    1U << 13U,  // renaming and linking from one folder to another
    truncate_right,
    0,          // (networks)
    1U << 15U,  // ioctl on devices
};

constexpr std::uint64_t rights_to_write = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_READ_FILE |
                                          LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_MAKE_REG |
                                          LANDLOCK_ACCESS_FS_REMOVE_FILE | truncate_right;
constexpr std::uint64_t rights_to_read = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;
constexpr std::uint64_t rights_of_files =
    LANDLOCK_ACCESS_FS_READ_FILE;  // a rule of a file can have no others

class Ruleset {
 public:
  explicit Ruleset(std::uint64_t handled) : handled_(handled) {
    const landlock_ruleset_attr attributes{.handled_access_fs = handled};
    descriptor_ = static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0));
  }
  ~Ruleset() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Ruleset(const Ruleset&) = delete;
  Ruleset& operator=(const Ruleset&) = delete;

  [[nodiscard]] bool made() const noexcept { return descriptor_ >= 0; }
  /// An errno, or 0.
  int permit(int file, std::uint64_t rights) const {
    const landlock_path_beneath_attr rule{.allowed_access = rights & handled_, .parent_fd = file};
    if (::syscall(SYS_landlock_add_rule, descriptor_, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) return 0;
    return errno == EBADFD ? 0 : errno;  // a pipe without a name, which no ruleset refuses
  }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  std::uint64_t handled_;
  int descriptor_ = -1;
};

tl::unexpected<Error> landlock_failure(int error) {
  return tl::unexpected(Error{.kind = ErrorKind::unsupported,
                              .path = "sandbox",
                              .offset = std::nullopt,
                              .message = std::string("Landlock: ") + std::strerror(error),
                              .system_errno = error});
}

Expected<void> permit_path(const Ruleset& rules, const std::string& path, std::uint64_t rights) {
  const int file = ::open(path.c_str(), O_PATH | O_CLOEXEC);
  if (file < 0) return {};
  struct stat facts {};
  const bool folder = ::fstat(file, &facts) == 0 && S_ISDIR(facts.st_mode);
  const int error = rules.permit(file, folder ? rights : rights & rights_of_files);
  ::close(file);
  if (error != 0) return landlock_failure(error);
  return {};
}

std::atomic<int> enforced{-1};  // the ruleset, for the function that runs in every thread

int enforce_here() {
  return ::syscall(SYS_landlock_restrict_self, enforced.load(), 0) == 0 ? 0 : errno;
}

Expected<bool> restricted(const FileAccess& access, Expected<void> (*enforce)(int ruleset)) {
  const long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return false;  // not built in, switched off, or refused by the sandbox of a container
  std::uint64_t handled = first_rights;
  long since = 2;
  for (const std::uint64_t rights : later_rights) {
    if (version >= since++) handled |= rights;
  }
  const Ruleset rules(handled);
  if (!rules.made()) return landlock_failure(errno);
  for (const auto& [paths, rights] :
       {std::pair{&access.read, rights_to_read}, std::pair{&access.write, rights_to_write}}) {
    for (const std::string& path : *paths) {
      if (auto permitted = permit_path(rules, path, rights); !permitted)
        return tl::unexpected(std::move(permitted.error()));
    }
  }
  if (auto done = enforce(rules.descriptor()); !done) return tl::unexpected(std::move(done.error()));
  return true;
}

}  // namespace

Expected<bool> restrict_files(const FileAccess& access) {
  return restricted(access, [](int ruleset) -> Expected<void> {
    if (::syscall(SYS_landlock_restrict_self, ruleset, 0) != 0) return landlock_failure(errno);
    return {};
  });
}

Expected<bool> restrict_files_of_threads(const FileAccess& access) {
  return restricted(access, [](int ruleset) {
    enforced = ruleset;
    return in_every_thread(enforce_here);
  });
}

}  // namespace roce::capture
