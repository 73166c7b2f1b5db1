// SPDX-License-Identifier: Apache-2.0
// What a recording leaves when its process is killed at any moment.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>

#include "capture/write/recorder.hpp"
#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace recorder_kill_test {
namespace {

constexpr std::int64_t start = 1'795'172'933'000'000'000;

/// Records for ever, in batches of all sizes.
[[noreturn]] void record_until_killed(const std::string& path, bool compress) {
  RecorderOptions options;
  options.path = path;
  options.compress = compress;
  InterfaceInfo info;
  info.link_type = 1;
  const auto recorder = Recorder::create(options, {info});
  if (!recorder) _exit(1);
  std::minstd_rand random(1);
  Bytes bytes(9000);
  for (std::uint8_t& each : bytes) each = static_cast<std::uint8_t>(random());
  std::vector<Frame> frames;
  for (std::int64_t number = 0;;) {
    frames.clear();
    for (std::size_t count = 1 + random() % 200; count > 0; --count) {
      Frame frame;
      frame.data = bytes.data();
      frame.captured = frame.wire = 60 + static_cast<std::uint32_t>(random() % 8000);
      frame.time_ns = start + number++;
      frame.link_type = 1;
      frames.push_back(frame);
    }
    (*recorder)->record(frames, {info});
  }
}

/// Kills a recording when its file has at least so many bytes.
void kill_at(const std::string& path, bool compress, off_t size) {
  const pid_t child = fork();
  if (child == 0) record_until_killed(path, compress);
  struct stat facts {};
  while (stat(path.c_str(), &facts) != 0 || facts.st_size < size) {
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, WNOHANG), 0) << "it ended by itself";
    usleep(100);
  }
  ASSERT_EQ(kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
}

TEST(RecorderKilled, LeavesAFileThatOpensAndHoldsEveryFrameUpToSome) {
  std::minstd_rand random(7);
  for (const bool compress : {false, true}) {
    for (int round = 0; round < 12; ++round) {
      const Folder folder;
      const auto size = static_cast<off_t>(round == 0 ? 1 : random() % 4'000'000);
      ASSERT_NO_FATAL_FAILURE(kill_at(folder.name("f"), compress, size));
      const Everything all = read_files({folder.name("f")});
      // Only what the kill itself interrupted is cut.
      for (const Error& error : all.errors) EXPECT_EQ(error.kind, ErrorKind::cut_short) << error.describe();
      EXPECT_LE(all.all_incidents(), 2U);
      for (std::size_t i = 0; i < all.frames.size(); ++i)
        ASSERT_EQ(all.frames[i].time_ns, start + static_cast<std::int64_t>(i));
      EXPECT_GE(all.frames.size(), static_cast<std::size_t>(size) / 20'000);
    }
  }
}

}  // namespace
}  // namespace recorder_kill_test
}  // namespace roce::capture::test
