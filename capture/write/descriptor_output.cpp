// SPDX-License-Identifier: Apache-2.0
#include "capture/write/descriptor_output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace roce::capture {
namespace {

/// Blocks SIGPIPE and SIGXFSZ in this thread, whose default is to end the process before it can report the
/// error. A signal that our write raised is consumed.
class QuietSignals {
 public:
  QuietSignals() {
    sigemptyset(&ours_);
    sigaddset(&ours_, SIGPIPE);
    sigaddset(&ours_, SIGXFSZ);
    sigpending(&pending_before_);
    pthread_sigmask(SIG_BLOCK, &ours_, &mask_before_);
  }
  ~QuietSignals() {
    const int kept_errno = errno;
    for (const int number : {SIGPIPE, SIGXFSZ}) {
      if (sigismember(&pending_before_, number) == 1) continue;
      sigset_t one;
      sigemptyset(&one);
      sigaddset(&one, number);
      const timespec at_once{};
      while (sigtimedwait(&one, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    errno = kept_errno;
  }
  QuietSignals(const QuietSignals&) = delete;
  QuietSignals& operator=(const QuietSignals&) = delete;

 private:
  sigset_t ours_{};
  sigset_t pending_before_{};
  sigset_t mask_before_{};
};

}  // namespace

int write_all(int descriptor, const std::uint8_t* data, std::size_t size, std::uint64_t& written) noexcept {
  const QuietSignals quiet;
  while (size > 0) {
    const ssize_t done = ::write(descriptor, data, size);
    if (done >= 0) {
      data += done;
      size -= static_cast<std::size_t>(done);
      written += static_cast<std::uint64_t>(done);
      continue;
    }
    if (errno == EINTR) continue;
    if (errno == EAGAIN) {  // a non-blocking pipe is full
      pollfd waiting{descriptor, POLLOUT, 0};
      poll(&waiting, 1, -1);
      continue;
    }
    return errno;
  }
  return 0;
}

Error not_writable(const std::string& path, int number, const std::string& what) {
  Error error;
  error.kind = ErrorKind::not_writable;
  error.path = path == "-" ? "standard output" : path;
  error.system_errno = number;
  error.message = what + ": " + std::strerror(number);
  return error;
}

int standard_output() noexcept {
  return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
}

}  // namespace roce::capture
