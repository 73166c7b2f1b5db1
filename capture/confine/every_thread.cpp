// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/every_thread.hpp"

#include <dirent.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace roce::capture {
namespace {

// For the handler; one call at a time.
std::atomic<int (*)()> current{nullptr};
std::atomic<bool> answered{false};
std::atomic<int> answer{0};

void on_signal(int) {
  const int before = errno;
  if (int (*work)() = current.exchange(nullptr)) {
    answer = work();
    answered = true;
  }
  errno = before;
}

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { (void)::closedir(folder); }
};

std::optional<std::vector<pid_t>> threads() {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir("/proc/self/task"));
  if (folder == nullptr) return std::nullopt;
  std::vector<pid_t> ids;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    pid_t id = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), id).ec == std::errc()) ids.push_back(id);
  }
  return ids;
}

tl::unexpected<Error> thread_failure(std::string message, int error) {
  return tl::unexpected(Error{.kind = ErrorKind::unsupported,
                              .path = "threads of this process",
                              .offset = std::nullopt,
                              .message = std::move(message),
                              .system_errno = error});
}

/// Returns 0, the errno of `work`, or ETIMEDOUT. 0 also if the thread has ended.
int run_in(pid_t thread, int signal, int (*work)(), std::chrono::milliseconds patience) {
  answered = false;
  current = work;
  if (::syscall(SYS_tgkill, ::getpid(), thread, signal) != 0) {
    current = nullptr;
    return errno == ESRCH ? 0 : errno;
  }
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (!answered && std::chrono::steady_clock::now() < deadline) {
    if (::syscall(SYS_tgkill, ::getpid(), thread, 0) != 0 && current.exchange(nullptr) != nullptr) return 0;
    (void)::poll(nullptr, 0, 1);
  }
  // If the request can still be withdrawn, the thread has not answered and never will.
  if (!answered && current.exchange(nullptr) != nullptr) return ETIMEDOUT;
  while (!answered) (void)::poll(nullptr, 0, 1);
  return answer;
}

}  // namespace

Expected<void> in_every_thread(int (*work)(), std::chrono::milliseconds patience) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const int signal = SIGRTMAX - 1;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  struct sigaction before {};
  if (sigaction(signal, &action, &before) != 0) return thread_failure("cannot be reached by a signal", errno);

  Expected<void> result;
  const pid_t own = static_cast<pid_t>(::syscall(SYS_gettid));
  if (const int error = work(); error != 0) result = thread_failure(std::strerror(error), error);
  std::vector<pid_t> done{own};
  for (bool found = true; found && result;) {
    found = false;
    const std::optional<std::vector<pid_t>> all = threads();
    if (!all) {
      result = thread_failure("cannot be listed: /proc/self/task is not readable (is /proc mounted?)", errno);
      break;
    }
    for (const pid_t thread : *all) {
      if (std::find(done.begin(), done.end(), thread) != done.end()) continue;
      found = true;
      done.push_back(thread);
      const int error = run_in(thread, signal, work, patience);
      if (error != 0)
        result = thread_failure("thread " + std::to_string(thread) + ": " + std::strerror(error), error);
      if (!result) break;
    }
  }
  // Ignoring the signal discards it where a thread still blocks it: its default action would kill the
  // process.
  (void)std::signal(signal, SIG_IGN);
  (void)sigaction(signal, &before, nullptr);
  return result;
}

}  // namespace roce::capture
