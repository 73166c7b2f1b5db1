// SPDX-License-Identifier: Apache-2.0
#include "capture/confine/privileges.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "capture/confine/every_thread.hpp"
#include "capture/confine/sandbox.hpp"
#include "tests/capture/confine/in_child.hpp"

namespace roce::capture {
namespace {

bool privileged() {
  const std::vector<Rights> all = rights_of_threads();
  constexpr std::uint64_t needed = 1U << CAP_SETUID | 1U << CAP_SETGID | 1U << CAP_NET_RAW;
  return sandbox_possible() && ::geteuid() == 0 && !all.empty() && (all.front().effective & needed) == needed;
}

/// Threads that wait until the object goes.
class Waiting {
 public:
  explicit Waiting(std::size_t count, bool block_signals = false) {
    sigset_t all, before;
    sigfillset(&all);
    if (block_signals) pthread_sigmask(SIG_SETMASK, &all, &before);
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this] {
        ++begun_;
        while (!end_) (void)::poll(nullptr, 0, 5);
      });
    }
    if (block_signals) pthread_sigmask(SIG_SETMASK, &before, nullptr);
    while (begun_ != count) (void)::poll(nullptr, 0, 1);
  }
  ~Waiting() {
    end_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> end_{false};
  std::atomic<std::size_t> begun_{0};
  std::vector<std::thread> threads_;
};

std::atomic<int> calls{0};
std::atomic<pid_t> stubborn{0};

TEST(EveryThread, is_reached_once) {
  if (!sandbox_possible()) GTEST_SKIP() << "sanitizers have threads of their own";
  calls = 0;
  const Waiting threads(7);
  const auto result = in_every_thread([] {
    ++calls;
    return 0;
  });
  EXPECT_TRUE(result.has_value());
  EXPECT_EQ(calls, 8);
}

TEST(EveryThread, says_which_one_failed) {
  if (!sandbox_possible()) GTEST_SKIP() << "sanitizers have threads of their own";
  const Waiting threads(1);
  stubborn = ::getpid();
  const auto result = in_every_thread([] { return ::syscall(SYS_gettid) == stubborn ? 0 : EPERM; });
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(result.error().describe().find("Operation not permitted"), std::string::npos);
}

TEST(EveryThread, that_blocks_all_signals_is_an_error_and_no_hang) {
  const Waiting threads(1, true);
  const auto result = in_every_thread([] { return 0; }, std::chrono::milliseconds(50));
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().system_errno, ETIMEDOUT);
}

TEST(Privileges, users_are_found_by_name_and_number) {
  const auto root = find_user("root");
  ASSERT_TRUE(root.has_value());
  EXPECT_EQ(root->uid, 0U);
  EXPECT_EQ(find_user("0")->name, "root");
  for (const char* none : {"", "no such user", "4294967294", "-1", "0x0"}) {
    const auto user = find_user(none);
    ASSERT_FALSE(user.has_value()) << none;
    EXPECT_NE(user.error().describe().find("getent passwd"), std::string::npos);
  }
}

std::string raw_socket() {
  const int raw = ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);
  if (raw < 0) return errno == EPERM ? "EPERM" : "error";
  ::close(raw);
  return "open";
}

TEST(Privileges, are_gone_in_every_thread) {
  if (!privileged()) GTEST_SKIP() << "only root has privileges to drop";
  EXPECT_EQ(in_child([]() -> std::string {
              const Waiting threads(3);
              if (const auto dropped = drop_privileges({}); !dropped) return dropped.error().describe();
              const std::vector<Rights> all = rights_of_threads();
              if (all.size() != 4) return "threads: " + std::to_string(all.size());
              for (const Rights& rights : all) {
                if ((rights.permitted | rights.effective | rights.inheritable | rights.ambient) != 0)
                  return "capabilities";
                if (!rights.no_new_privs) return "new privileges";
                if (rights.uids != std::vector<uid_t>(4, 0)) return "another user";
              }
              if (raw_socket() != "EPERM") return "a raw socket";
              return {};
            }),
            "");
}

TEST(Privileges, a_user_is_become_for_good) {
  if (!privileged()) GTEST_SKIP() << "only root can become another user";
  const auto nobody = find_user("nobody");
  if (!nobody) GTEST_SKIP() << "there is no user nobody here";
  EXPECT_EQ(in_child([&]() -> std::string {
              const Waiting threads(3);
              if (const auto dropped = drop_privileges({*nobody, 0}); !dropped)
                return dropped.error().describe();
              for (const Rights& rights : rights_of_threads()) {
                if (rights.uids != std::vector<uid_t>(4, nobody->uid)) return "user";
                if (rights.gids != std::vector<gid_t>(4, nobody->gid)) return "group";
                for (const gid_t group : rights.groups) {
                  if (group == 0) return "the group root";
                }
                if ((rights.permitted | rights.effective) != 0) return "capabilities";
              }
              if (::setuid(0) == 0 || ::seteuid(0) == 0 || ::setgid(0) == 0) return "root again";
              if (::open("/etc/shadow", O_RDONLY | O_CLOEXEC) >= 0) return "read /etc/shadow";
              if (const auto again = drop_privileges({*nobody, 0}); !again) return again.error().describe();
              const auto other = drop_privileges({find_user("root").value(), 0});
              if (other || other.error().describe().find("only root can") == std::string::npos) return "root";
              return {};
            }),
            "");
}

TEST(Privileges, what_is_kept_is_kept_and_nothing_else) {
  if (!privileged()) GTEST_SKIP() << "only root has privileges to keep";
  const auto nobody = find_user("nobody");
  if (!nobody) GTEST_SKIP() << "there is no user nobody here";
  constexpr std::uint64_t raw = 1U << CAP_NET_RAW;
  EXPECT_EQ(in_child([&]() -> std::string {
              const Waiting threads(2);
              if (const auto dropped = drop_privileges({*nobody, raw}); !dropped)
                return dropped.error().describe();
              for (const Rights& rights : rights_of_threads()) {
                if (rights.permitted != raw || rights.effective != raw) return "capabilities";
                if ((rights.inheritable | rights.ambient) != 0) return "inheritable";
                if ((rights.bounding & ~raw) != 0) return "bounding";
              }
              return raw_socket() == "open" ? "" : "no raw socket";
            }),
            "");
}

}  // namespace
}  // namespace roce::capture
