// SPDX-License-Identifier: Apache-2.0
#include "gui/models/confined_reading.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "capture/confine/privileges.hpp"
#include "capture/confine/sandbox.hpp"
#include "capture/core/source.hpp"
#include "gui/models/worker_threads.hpp"

namespace roce::gui {
namespace {

const std::string rping_file = std::string(ROCE_SAMPLES) + "/03_rping.pcap";

bool opens(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file >= 0) ::close(file);
  return file >= 0;
}

TEST(ConfinedReading, TheThreadThatReadsHasNoRights) {
  if (!capture::sandbox_possible()) GTEST_SKIP() << "sanitizers need what the sandbox refuses";
  confine_reading({rping_file});  // on the window's own thread: no effect
  ASSERT_TRUE(opens("/etc/passwd"));
  bool reads = false, other = true, filtered = false;
  std::uint64_t capabilities = 1;
  run_in_background([&] {
    confine_reading({rping_file});
    auto source = capture::open_files({rping_file});
    capture::FrameBatch batch;
    reads = source && (*source)->next_batch(batch, 10).value_or(0) > 0 && capture::open_files({rping_file});
    other = opens("/etc/passwd");
  });
  ASSERT_TRUE(wait_for_background(std::chrono::seconds(10)));
  EXPECT_TRUE(reads);
  EXPECT_FALSE(other);
  EXPECT_TRUE(opens("/etc/passwd"));
  std::atomic<bool> confined{false}, end{false};
  run_in_background([&] {
    confine_reading({rping_file});
    confined = true;
    while (!end) std::this_thread::yield();
  });
  while (!confined) std::this_thread::yield();
  for (const capture::Rights& rights : capture::rights_of_threads()) {
    if (rights.thread == ::getpid() || !rights.filtered) continue;
    filtered = true;
    capabilities = rights.permitted | rights.effective | rights.bounding | rights.ambient;
    EXPECT_TRUE(rights.no_new_privs);
  }
  end = true;
  ASSERT_TRUE(wait_for_background(std::chrono::seconds(10)));
  EXPECT_TRUE(filtered);
  EXPECT_EQ(capabilities, 0U);
}

}  // namespace
}  // namespace roce::gui
