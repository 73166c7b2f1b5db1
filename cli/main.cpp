// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "cli/capture/extcap.hpp"
#include "cli/core/command_line.hpp"
#include "cli/core/output.hpp"

namespace {

using namespace roce::cli;

/// Opens descriptors 0 to 2 if the caller closed them: else the first files opened would get these numbers,
/// and standard output would be written into one of them.
void occupy_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    (void)::open("/dev/null", descriptor == 0 ? O_RDONLY : O_PATH);  // O_PATH: writing fails, as it should
  }
}

/// A ring may have thousands of files: raise the limit of open files to the maximum allowed.
void raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

/// Returns large blocks to the system when they are freed (glibc would raise the threshold): the parts of the
/// analysis are freed one by one while the report is built from them.
void give_memory_back() {
#ifdef __GLIBC__
  (void)::mallopt(M_MMAP_THRESHOLD, 128 * 1024);
#endif
}

/// Calls of Wireshark, see extcap.hpp.
int run_extcap(const std::vector<std::string>& words, char* program) {
  ExtcapCall call = extcap(words);
  if (!call.error.empty()) return usage_error(call.error);
  if (call.capture.empty()) return print_text(call.answer, exit_ok, Encoding::utf8);
  // Packets go to a pipe, and nobody reads a report that a capture with analysis ends with.
  if (const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0) {
    (void)::dup2(nowhere, STDOUT_FILENO);
    (void)::close(nowhere);
  }
  std::vector<char*> arguments{program};
  for (std::string& word : call.capture) arguments.push_back(word.data());
  return run_command_line(static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_descriptors();
  raise_file_limit();
  give_memory_back();
  // write() to a closed pipe must fail instead of ending the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // the same for a file at its limit (ulimit -f)
  try {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    if (is_extcap(words)) return run_extcap(words, argv[0]);
    return run_command_line(argc, argv);
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
    return exit_input;
  } catch (const std::exception& error) {
    print_error(fmt::format("defect of the program: {}", error.what()));
    return exit_defect;
  }
}
