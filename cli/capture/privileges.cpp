// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/privileges.hpp"

#include <fmt/format.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
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

#include "cli/capture/every_thread.hpp"

namespace roce::cli {
namespace {

namespace fs = std::filesystem;

constexpr unsigned capability_limit = 64;

tl::unexpected<capture::Error> privilege_failure(std::string message, int error) {
  return tl::unexpected(capture::Error{.kind = capture::ErrorKind::unsupported,
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

int drop_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct now[2] = {};
  if (::syscall(SYS_capget, &header, now) != 0) return errno;
  // The change of the user cleared the effective set, and lowering the bounding set needs CAP_SETPCAP.
  for (__user_cap_data_struct& word : now) word.effective = word.permitted;
  (void)::syscall(SYS_capset, &header, now);
  // Without CAP_SETPCAP the bounding set stays, but has no effect with no_new_privs.
  for (unsigned capability = 0; capability < capability_limit; ++capability) {
    if ((kept >> capability & 1U) == 0) (void)::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0);
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 && errno != EINVAL) return errno;
  for (unsigned word = 0; word < 2; ++word) {
    const auto wanted = static_cast<std::uint32_t>(kept >> (32 * word));
    now[word].permitted &= wanted;
    now[word].effective = now[word].permitted;
    now[word].inheritable = 0;
  }
  if (::syscall(SYS_capset, &header, now) != 0) return errno;
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
}

/// libc changes user and groups of all threads.
capture::Expected<void> become(const User& user) {
  const bool already = ::geteuid() == user.uid && ::getuid() == user.uid && ::getegid() == user.gid;
  if (already && ::geteuid() != 0) return {};
  const std::string hint = fmt::format("cannot become user {}: ", user.name);
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

capture::Expected<void> verify(const PrivilegeOptions& options) {
  const std::vector<Rights> all = rights_of_threads();
  if (all.empty())
    return privilege_failure("cannot be checked: /proc/self/task is not readable (is /proc mounted?)",
                             ENOENT);
  for (const Rights& rights : all) {
    const std::uint64_t held = rights.permitted | rights.effective | rights.inheritable | rights.ambient;
    if ((held & ~options.keep_capabilities) != 0)
      return privilege_failure(fmt::format("thread {} still has capabilities {:#x}", rights.thread, held),
                               EPERM);
    if (!rights.no_new_privs)
      return privilege_failure(fmt::format("thread {} may still gain privileges", rights.thread), EPERM);
    if (!options.user) continue;
    const auto is_user = [&](uid_t uid) { return uid == options.user->uid; };
    const auto is_group = [&](gid_t gid) { return gid == options.user->gid; };
    if (!std::all_of(rights.uids.begin(), rights.uids.end(), is_user) ||
        !std::all_of(rights.gids.begin(), rights.gids.end(), is_group))
      return privilege_failure(fmt::format("thread {} still has another user or group", rights.thread),
                               EPERM);
  }
  return {};
}

}  // namespace

capture::Expected<User> find_user(const std::string& name) {
  errno = 0;
  const passwd* entry = ::getpwnam(name.c_str());
  uid_t uid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), uid);
  if (entry == nullptr && error == std::errc() && end == name.data() + name.size() && !name.empty())
    entry = ::getpwuid(uid);
  if (entry == nullptr) {
    return tl::unexpected(capture::Error{.kind = capture::ErrorKind::not_found,
                                         .path = "user " + name,
                                         .offset = std::nullopt,
                                         .message = "there is no such user (see getent passwd)",
                                         .system_errno = errno});
  }
  return User{entry->pw_name, entry->pw_uid, entry->pw_gid};
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

capture::Expected<void> drop_privileges(const PrivilegeOptions& options) {
  kept = options.keep_capabilities;
  if (options.user) {
    if (kept != 0) {
      if (auto result = in_every_thread(keep_over_user_change); !result) return result;
    }
    if (auto result = become(*options.user); !result) return result;
  }
  if (auto result = in_every_thread(drop_capabilities); !result) return result;
  return verify(options);
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

}  // namespace roce::cli
