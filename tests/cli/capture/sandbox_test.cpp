// SPDX-License-Identifier: Apache-2.0
#include "cli/capture/sandbox.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
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

#include "analyze/pipeline/analysis.hpp"
#include "analyze/report/json/json_report.hpp"
#include "capture/core/source.hpp"
#include "capture/host/tree.hpp"
#include "cli/capture/privileges.hpp"
#include "cli/live/metrics_server.hpp"
#include "cli/report/report.hpp"
#include "tests/cli/capture/in_child.hpp"

namespace roce::cli {
namespace {

const std::string killed = "signal " + std::to_string(SIGSYS);

/// Why nothing can be confined here; empty if it can.
std::string no_filters() {
  if (!sandbox_possible()) return "sanitizers need what the sandbox refuses";
  return in_child([]() -> std::string {
    const auto entered = enter_sandbox({});
    return entered ? "" : entered.error().describe();
  });
}
#define ROCE_NEEDS_FILTERS() \
  if (const std::string why = no_filters(); !why.empty()) GTEST_SKIP() << why

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
  ring.write_files = true;
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

TEST(Sandbox, changes_nothing_in_what_an_analysis_says) {
  ROCE_NEEDS_FILTERS();
  const auto text_of = [](capture::CaptureSource& source) {
    analyze::AnalysisOptions options;
    options.jobs = 4;  // threads that begin in the sandbox
    const auto snapshot = analyze::analyze(source, options);
    std::string text = report_text(*snapshot, {100, false, 20});
    report_json(*snapshot, false, {text});
    return text;
  };
  const std::string paths[] = {"04_write_loss1.cb.pcap.zst", "13_dumpcap_2if_loss.pcapng.zst",
                               "01_rc_pingpong_s1.pcap"};
  for (const std::string& name : paths) {
    const std::string path = std::string(ROCE_SAMPLES) + "/" + name;
    EXPECT_EQ(in_child([&]() -> std::string {
                auto open = capture::open_files({path}), confined_one = capture::open_files({path});
                if (!open || !confined_one) return "cannot be opened";
                const std::string expected = text_of(**open);
                if (const auto entered = enter_sandbox({}); !entered) return entered.error().describe();
                return text_of(**confined_one) == expected ? "" : "another report";
              }),
              "")
        << name;
  }
}

TEST(Sandbox, lets_the_host_be_read) {
  ROCE_NEEDS_FILTERS();
  EXPECT_EQ(confined([]() -> std::string {
              capture::HostTree tree("");
              return tree.text("proc/sys/kernel/ostype")
                  .value_or(tree.problems().empty() ? "nothing" : tree.problems().front().message);
            }),
            "Linux");
}

TEST(Sandbox, lets_metrics_be_scraped_after_privileges_are_gone) {
  ROCE_NEEDS_FILTERS();
  int ports[2] = {-1, -1}, done[2] = {-1, -1};
  ASSERT_EQ(::pipe(ports), 0);
  ASSERT_EQ(::pipe(done), 0);
  std::thread client([&] {
    std::uint16_t port = 0;
    if (::read(ports[0], &port, sizeof port) != sizeof port) return;
    for (int i = 0; i < 3; ++i) {
      const int peer = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      sockaddr_in where{};
      where.sin_family = AF_INET;
      where.sin_port = htons(port);
      where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      sockaddr generic{};
      std::memcpy(&generic, &where, sizeof where);
      EXPECT_EQ(::connect(peer, &generic, sizeof generic), 0);
      const std::string request = "GET /metrics HTTP/1.0\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n";
      EXPECT_GT(::send(peer, request.data(), request.size(), MSG_NOSIGNAL), 0);
      char part[4096];
      std::string answer;
      for (ssize_t n = 0; (n = ::recv(peer, part, sizeof part, 0)) > 0;)
        answer.append(part, static_cast<std::size_t>(n));
      EXPECT_NE(answer.find(" 200 OK"), std::string::npos) << answer;
      ::close(peer);
    }
    EXPECT_EQ(::write(done[1], "x", 1), 1);
  });
  const std::string result = in_child([&]() -> std::string {
    auto server = MetricsServer::listen({}, [] { return process_metrics(); });
    if (!server) return server.error().describe();
    if (const auto dropped = drop_privileges({}); !dropped) return dropped.error().describe();
    if (const auto entered = enter_sandbox({}); !entered) return entered.error().describe();
    const std::string& url = (*server)->url();
    const auto port = static_cast<std::uint16_t>(std::stoul(url.substr(url.rfind(':') + 1)));
    char byte = 0;
    if (::write(ports[1], &port, sizeof port) != sizeof port || ::read(done[0], &byte, 1) != 1) return "pipe";
    if (process_metrics().size() != 4) return "metrics of the process are missing";
    server->reset();  // ends its threads
    return {};
  });
  EXPECT_EQ(result, "");
  ::close(ports[1]);
  client.join();
  for (const int end : {ports[0], done[0], done[1]}) ::close(end);
}

}  // namespace
}  // namespace roce::cli
