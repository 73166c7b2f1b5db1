// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/privileges.hpp"

#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

#include "capture/confine/every_thread.hpp"

namespace roce::capture {
namespace {

namespace fs = std::filesystem;

constexpr unsigned capability_limit = 64;

tl::unexpected<Error> privilege_failure(std::string message, int error) {
  return tl::unexpected(Error{.kind = ErrorKind::unsupported,
                              .path = "dropping privileges",
                              .offset = std::nullopt,
                              .message = std::move(message),
                              .system_errno = error});
}

std::atomic<std::uint64_t> kept{0};  // for the functions that run in every thread

/// Capabilities survive the change of the user until drop_capabilities().
int keep_over_user_change() {
  return ::prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

int drop_capabilities_but(std::uint64_t keep) {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct now[2] = {};
  if (::syscall(SYS_capget, &header, now) != 0) return errno;
  // The change of the user cleared the effective set, and lowering the bounding set needs CAP_SETPCAP.
  for (__user_cap_data_struct& word : now) word.effective = word.permitted;
  (void)::syscall(SYS_capset, &header, now);
  // Without CAP_SETPCAP the bounding set stays, but has no effect with no_new_privs.
  for (unsigned capability = 0; capability < capability_limit; ++capability) {
    if ((keep >> capability & 1U) == 0) (void)::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return errno;
  for (unsigned word = 0; word < 2; ++word) {
    const auto wanted = static_cast<std::uint32_t>(keep >> (32 * word));
    now[word].permitted &= wanted;
    now[word].effective = now[word].permitted;
    now[word].inheritable = 0;
  }
  if (::syscall(SYS_capset, &header, now) != 0) return errno;
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

int drop_capabilities() {
  return drop_capabilities_but(kept);
}

/// libc changes user and groups of all threads.
Expected<void> become(const User& user) {
  const bool already = ::geteuid() == user.uid && ::getuid() == user.uid && ::getegid() == user.gid;
  if (already && ::geteuid() != 0) return {};
  const std::string hint = "cannot become user " + user.name + ": ";
  if (::geteuid() != 0) return privilege_failure(hint + "only root can (omit -Z, or run with sudo)", EPERM);
  if (::initgroups(user.name.c_str(), user.gid) != 0)
    return privilege_failure(hint + "its groups: " + std::strerror(errno), errno);
  if (::setresgid(user.gid, user.gid, user.gid) != 0)
    return privilege_failure(hint + "its group: " + std::strerror(errno), errno);
  if (::setresuid(user.uid, user.uid, user.uid) != 0)
    return privilege_failure(hint + std::strerror(errno), errno);
  return {};
}

/// "Name:<blank>values" of a status file.
template <class Take>
void take_values(const std::string& line, Take&& take) {
  std::istringstream values(line.substr(std::min(line.find(':'), line.size() - 1) + 1));
  for (std::string word; values >> word;) take(word);
}
template <class Number>
std::vector<Number> numbers(const std::string& line) {
  std::vector<Number> all;
  take_values(line, [&](const std::string& word) {
    Number number = 0;
    if (std::from_chars(word.data(), word.data() + word.size(), number).ec == std::errc())
      all.push_back(number);
  });
  return all;
}
std::uint64_t mask(const std::string& line) {
  std::uint64_t bits = 0;
  take_values(line, [&](const std::string& word) {
    (void)std::from_chars(word.data(), word.data() + word.size(), bits, 16);
  });
  return bits;
}

std::optional<Rights> rights_of(const fs::path& status) {
  std::ifstream file(status);
  if (!file) return std::nullopt;
  Rights rights;
  for (std::string line; std::getline(file, line);) {
    const std::string_view name = std::string_view(line).substr(0, line.find(':'));
    const auto one = [&] { return numbers<unsigned>(line) == std::vector<unsigned>{1}; };
    if (name == "Pid") rights.thread = mask(line) != 0 ? numbers<pid_t>(line).front() : 0;
    if (name == "Uid") rights.uids = numbers<uid_t>(line);
    if (name == "Gid") rights.gids = numbers<gid_t>(line);
    if (name == "Groups") rights.groups = numbers<gid_t>(line);
    if (name == "CapInh") rights.inheritable = mask(line);
    if (name == "CapPrm") rights.permitted = mask(line);
    if (name == "CapEff") rights.effective = mask(line);
    if (name == "CapBnd") rights.bounding = mask(line);
    if (name == "CapAmb") rights.ambient = mask(line);
    if (name == "NoNewPrivs") rights.no_new_privs = one();
    if (name == "Seccomp") rights.filtered = numbers<unsigned>(line) == std::vector<unsigned>{2};
  }
  return rights;
}

std::string hexadecimal(std::uint64_t bits) {
  char digits[16];
  return "0x" + std::string(digits, std::to_chars(digits, std::end(digits), bits, 16).ptr);
}

Expected<void> verify(const PrivilegeOptions& options, bool became_user) {
  const std::vector<Rights> all = rights_of_threads();
  if (all.empty())
    return privilege_failure("cannot be checked: /proc/self/task is not readable (is /proc mounted?)",
                             ENOENT);
  for (const Rights& rights : all) {
    const std::string thread = "thread " + std::to_string(rights.thread);
    const std::uint64_t held = rights.permitted | rights.effective | rights.inheritable | rights.ambient;
    if ((held & ~options.keep_capabilities) != 0)
      return privilege_failure(thread + " still has capabilities " + hexadecimal(held), EPERM);
    if (!rights.no_new_privs) return privilege_failure(thread + " may still gain privileges", EPERM);
    if (!became_user) continue;
    const auto is_user = [&](uid_t uid) { return uid == options.user->uid; };
    const auto is_group = [&](gid_t gid) { return gid == options.user->gid; };
    if (!std::all_of(rights.uids.begin(), rights.uids.end(), is_user) ||
        !std::all_of(rights.gids.begin(), rights.gids.end(), is_group))
      return privilege_failure(thread + " still has another user or group", EPERM);
  }
  return {};
}

}  // namespace

Expected<User> find_user(const std::string& name) {
  errno = 0;
  const passwd* entry = ::getpwnam(name.c_str());
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  if (entry == nullptr && error == std::errc() && end == name.data() + name.size() && !name.empty())
    entry = ::getpwuid(uid);
  if (entry == nullptr) {
    return tl::unexpected(Error{.kind = ErrorKind::not_found,
                                .path = "user " + name,
                                .offset = std::nullopt,
                                .message = "there is no such user (see getent passwd)",
                                .system_errno = errno});
  }
  return User{entry->pw_name, entry->pw_uid, entry->pw_gid};
}

std::optional<User> lesser_user(const std::string& folder) {
  if (::geteuid() != 0) return std::nullopt;
  if (folder.empty()) {
    auto nobody = find_user("nobody");
    return nobody ? std::optional(std::move(*nobody)) : std::nullopt;
  }
  struct stat facts {};
  if (::stat(folder.c_str(), &facts) != 0 || facts.st_uid == 0) return std::nullopt;
  auto owner = find_user(std::to_string(facts.st_uid));
  if (owner) return std::move(*owner);
  return User{std::to_string(facts.st_uid), facts.st_uid, facts.st_gid};  // of another host (NFS)
}

FilesAs::FilesAs(const User& user) : changed_(::geteuid() == 0 && user.uid != 0) {
  if (!changed_) return;
  ::setfsgid(user.gid);
  ::setfsuid(user.uid);  // also drops CAP_DAC_OVERRIDE from the effective set
}

FilesAs::~FilesAs() {
  if (!changed_) return;
  ::setfsuid(::geteuid());
  ::setfsgid(::getegid());
}

Expected<void> drop_privileges(const PrivilegeOptions& options) {
  kept = options.keep_capabilities;
  bool became_user = false;
  if (options.user) {
    if (kept != 0) {
      if (auto result = in_every_thread(keep_over_user_change); !result) return result;
    }
    const auto became = become(*options.user);
    if (!became && options.user_required) return became;
    became_user = became.has_value();
  }
  if (auto result = in_every_thread(drop_capabilities); !result) return result;
  return verify(options, became_user);
}

Expected<void> drop_capabilities_of_thread() {
  if (const int error = drop_capabilities_but(0); error != 0)
    return privilege_failure(std::string("capabilities: ") + std::strerror(error), error);
  return {};
}

std::vector<Rights> rights_of_threads() {
  std::vector<Rights> all;
  std::error_code error;
  for (fs::directory_iterator task("/proc/self/task", error), end; !error && task != end;
       task.increment(error)) {
    if (const std::optional<Rights> rights = rights_of(task->path() / "status")) all.push_back(*rights);
  }
  return all;
}

}  // namespace roce::capture
