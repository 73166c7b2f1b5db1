// SPDX-License-Identifier: Apache-2.0
// What cannot be undone is tried in a process of its own.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <string>

#include "capture/confine/sandbox.hpp"

namespace roce::capture {

/// Runs `work` (which returns what is wrong, empty if nothing is) in a child process. What comes back is
/// that, or how the child died: "signal 31".
template <class Work>
[[nodiscard]] std::string in_child(Work&& work) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return "no pipe";
  const pid_t child = ::fork();
  if (child < 0) return "no process";
  if (child == 0) {
    ::close(ends[0]);
    std::string wrong;
    try {
      wrong = work();
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    const ssize_t written = ::write(ends[1], wrong.data(), wrong.size());
    ::_exit(written == static_cast<ssize_t>(wrong.size()) && wrong.empty() ? 0 : 1);
  }
  ::close(ends[1]);
  std::string wrong;
  char part[512];
  for (ssize_t n = 0; (n = ::read(ends[0], part, sizeof part)) > 0;)
    wrong.append(part, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return "signal " + std::to_string(WTERMSIG(status));
  if (WEXITSTATUS(status) != 0 && wrong.empty()) return "status " + std::to_string(WEXITSTATUS(status));
  return wrong;
}

/// Why nothing can be confined here; empty if it can.
[[nodiscard]] inline std::string no_filters() {
  if (!sandbox_possible()) return "sanitizers need what the sandbox refuses";
  return in_child([]() -> std::string {
    const auto entered = enter_sandbox({});
    return entered ? "" : entered.error().describe();
  });
}
#define ROCE_NEEDS_FILTERS() \
  if (const std::string why = ::roce::capture::no_filters(); !why.empty()) GTEST_SKIP() << why

}  // namespace roce::capture
