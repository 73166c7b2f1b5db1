// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/sandbox.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "capture/confine/privileges.hpp"
#include "capture/host/tree.hpp"
#include "tests/capture/confine/in_child.hpp"

namespace roce::capture {
namespace {

const std::string killed = "signal " + std::to_string(SIGSYS);

/// What becomes of a child that does this in the sandbox.
std::string confined(const std::function<std::string()>& work, const SandboxOptions& options = {}) {
  return in_child([&]() -> std::string {
    if (const auto entered = enter_sandbox(options); !entered) return entered.error().describe();
    return work();
  });
}

/// "ok", or the name of the error.
std::string outcome(long result) {
  if (result >= 0) return "ok";
  return errno == EPERM ? "EPERM" : std::strerror(errno);
}

TEST(Sandbox, kills_who_starts_a_program_or_reaches_other_processes) {
  ROCE_NEEDS_FILTERS();
  EXPECT_EQ(confined([] { return outcome(::execl("/bin/true", "true", nullptr)); }), killed);
  EXPECT_EQ(confined([] { return outcome(::ptrace(PTRACE_ATTACH, ::getppid(), 0, 0)); }), killed);
  EXPECT_EQ(confined([] { return outcome(::setuid(0)); }), killed);
  EXPECT_EQ(confined([] { return outcome(::syscall(SYS_unshare, 0)); }), killed);
  EXPECT_EQ(confined([] { return outcome(::chroot("/")); }), killed);
  EXPECT_EQ(confined([] { return outcome(::syscall(SYS_bpf, 0, nullptr, 0)); }), killed);
  EXPECT_EQ(confined([] { return outcome(::syscall(SYS_process_vm_readv, 1, nullptr, 0, nullptr, 0, 0)); }),
            killed);
}

TEST(Sandbox, refuses_what_is_not_on_the_list) {
  ROCE_NEEDS_FILTERS();
  EXPECT_EQ(confined([] { return outcome(::fork()); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::socket(AF_INET, SOCK_STREAM, 0)); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::socket(AF_PACKET, SOCK_RAW, 0)); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::socket(AF_UNIX, SOCK_DGRAM, 0)); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::kill(::getppid(), 0)); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::kill(1, 0)); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::mkdir("/tmp/roce_sandbox", 0700)); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::symlink("a", "/tmp/roce_sandbox")); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::chmod("/tmp", 0700)); }), "EPERM");
  EXPECT_EQ(confined([] { return outcome(::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)); }), "EPERM");
  EXPECT_EQ(confined([] {
              void* code = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
              return outcome(code == MAP_FAILED ? -1 : 0);
            }),
            "EPERM");
}

TEST(Sandbox, opens_files_for_writing_only_where_they_are_written) {
  ROCE_NEEDS_FILTERS();
  const std::string file =
      std::filesystem::temp_directory_path() / ("roce_sandbox_" + std::to_string(::getpid()));
  const auto write = [&] { return outcome(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)); };
  const auto read = [] { return outcome(::open("/proc/self/status", O_RDONLY | O_CLOEXEC)); };
  EXPECT_EQ(confined(write), "EPERM");
  EXPECT_EQ(confined(read), "ok");
  EXPECT_FALSE(std::filesystem::exists(file));
  SandboxOptions ring;
  ring.files = SandboxFiles::write;
  EXPECT_EQ(confined(write, ring), "ok");
  EXPECT_EQ(confined([&] { return outcome(::rename(file.c_str(), (file + ".1").c_str())); }), "EPERM");
  EXPECT_EQ(confined([&] { return outcome(::rename(file.c_str(), (file + ".1").c_str())); }, ring), "ok");
  EXPECT_EQ(confined([&] { return outcome(::unlink((file + ".1").c_str())); }), "EPERM");
  EXPECT_EQ(confined([&] { return outcome(::unlink((file + ".1").c_str())); }, ring), "ok");
  EXPECT_EQ(confined([] { return outcome(::execl("/bin/true", "true", nullptr)); }, ring), killed);
}

TEST(Sandbox, lets_the_system_log_be_found_again_and_nobody_else) {
  ROCE_NEEDS_FILTERS();
  SandboxOptions log;
  log.system_log = true;
  EXPECT_EQ(confined([] { return outcome(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }, log), "ok");
  EXPECT_EQ(confined([] { return outcome(::socket(AF_INET, SOCK_DGRAM, 0)); }, log), "EPERM");
}

TEST(Sandbox, holds_for_threads_that_are_there_and_for_those_that_come) {
  ROCE_NEEDS_FILTERS();
  EXPECT_EQ(in_child([]() -> std::string {
              std::atomic<bool> go{false};
              std::string before, after;
              std::thread early([&] {
                while (!go) (void)::poll(nullptr, 0, 1);
                before = outcome(::socket(AF_INET, SOCK_STREAM, 0));
              });
              const auto entered = enter_sandbox({});
              go = true;
              early.join();
              if (!entered) return entered.error().describe();
              std::thread late([&] { after = outcome(::socket(AF_INET, SOCK_STREAM, 0)); });
              late.join();
              for (const Rights& rights : rights_of_threads()) {
                if (!rights.filtered || !rights.no_new_privs) return "a thread without a filter";
              }
              return before + " " + after;
            }),
            "EPERM EPERM");
}

TEST(Sandbox, lets_the_host_be_read) {
  ROCE_NEEDS_FILTERS();
  EXPECT_EQ(confined([]() -> std::string {
              HostTree tree("");
              return tree.text("proc/sys/kernel/ostype")
                  .value_or(tree.problems().empty() ? "nothing" : tree.problems().front().message);
            }),
            "Linux");
}

}  // namespace
}  // namespace roce::capture
