// SPDX-License-Identifier: Apache-2.0
// Files that follow each other: rings, their names, and files that somebody removes or moves meanwhile.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "capture/write/recorder.hpp"
#include "capture/write/ring_name.hpp"
#include "tests/capture/write/recorder_support.hpp"

namespace roce::capture::test {
namespace {

using RecorderRingTest = RecorderTest;

TEST_F(RecorderRingTest, StatisticsOfTheFilesOfARingAddUp) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_packets = 10;
  const auto recorder = create(std::move(ring));
  for (std::uint64_t i = 1; i <= 4; ++i) {
    interfaces[0].received = i * 11;
    interfaces[0].dropped_by_kernel = i * i;
    interfaces[0].dropped_by_interface = 3;
    EXPECT_EQ(record(*recorder, 10), 10U);
  }
  interfaces[0].received = 100;
  interfaces[0].dropped_by_kernel = 60;
  EXPECT_TRUE(recorder->finish(interfaces));
  const std::vector<std::string> paths = paths_in(folder);
  ASSERT_EQ(paths.size(), 4U);
  EXPECT_EQ(frames_of(paths), 40U);
  std::uint64_t received = 0;
  std::uint64_t by_kernel = 0;
  std::uint64_t by_interface = 0;
  for (const InterfaceInfo& info : read_files(paths).interfaces) {
    received += info.received.value_or(1'000'000);
    by_kernel += info.dropped_by_kernel.value_or(1'000'000);
    by_interface += info.dropped_by_interface.value_or(1'000'000);
  }
  EXPECT_EQ(received, 100U);
  EXPECT_EQ(by_kernel, 60U);
  EXPECT_EQ(by_interface, 3U);
}

TEST_F(RecorderRingTest, NamesOfARing) {
  ASSERT_EQ(setenv("TZ", "UTC", 1), 0);
  tzset();
  const auto at = std::chrono::system_clock::time_point(seconds(1'795'172'933));
  EXPECT_EQ(ring_name("/d.x/a.pcapng", 1, at), "/d.x/a_00001_20261120110853.pcapng");
  EXPECT_EQ(ring_name("a.b.pcapng.zst", 23, at), "a.b_00023_20261120110853.pcapng.zst");
  EXPECT_EQ(ring_name("/d.x/a", 100'000, at), "/d.x/a_100000_20261120110853");
  EXPECT_EQ(ring_name(".zst", 1, at), ".zst_00001_20261120110853");
  EXPECT_EQ(ring_name("d/.hidden", 1, at), "d/.hidden_00001_20261120110853");
  EXPECT_EQ(ring_name("a.zst", 1, at), "a_00001_20261120110853.zst");
}

TEST_F(RecorderRingTest, ARingKeepsItsNumberOfFilesAndSaysWhatItRemoved) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_packets = 7;
  ring.files_kept = 3;
  const auto recorder = create(std::move(ring));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(record(*recorder, 7), 7U);
    EXPECT_LE(names_in(folder).size(), 3U);
    time.pass(seconds(1));
  }
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(frames_of(paths_in(folder), 49), 21U) << "the newest";
  const RecordingSummary sum = recorder->summary();
  EXPECT_EQ(sum.files, 3U);
  EXPECT_EQ(sum.packets, 21U);
  EXPECT_EQ(sum.removed_files, 7U);
  EXPECT_EQ(sum.removed_packets, 49U);
  EXPECT_EQ(sum.given, 70U);
  EXPECT_EQ(folder.name(names_in(folder).back()), sum.last_path);
}

TEST_F(RecorderRingTest, AWholeRingHasTheFilesOfCapturesBefore) {
  const auto one = [&](bool whole) {
    RecorderOptions ring = options("r.pcapng");
    ring.file_packets = 7;
    ring.files_kept = 3;
    ring.whole_ring = whole;
    return create(std::move(ring));
  };
  for (int run = 0; run < 2; ++run) {
    const auto recorder = one(false);
    EXPECT_EQ(record(*recorder, 21), 21U);
    EXPECT_TRUE(recorder->finish(interfaces));
    time.pass(seconds(10));
  }
  EXPECT_EQ(names_in(folder).size(), 6U) << "of two captures that know nothing of each other";
  // Not of this ring, whatever they look like.
  const std::vector<std::string> others{"r_00001_20260714133501.pcapng.zst", "r_1_20260714133501.pcapng",
                                        "r_00001_2026071413350.pcapng",      "r_00001_20260714133501_.pcapng",
                                        "r2_00001_20260714133501.pcapng",    "r.pcapng",
                                        "r_0000x_20260714133501.pcapng"};
  for (const std::string& name : others) std::ofstream(folder.name(name)) << "mine";
  std::filesystem::create_directory(folder.name("r_00001_20000101000000.pcapng"));
  std::filesystem::create_symlink(folder.name("r.pcapng"), folder.name("r_00002_20000101000000.pcapng"));
  const std::size_t strangers = others.size() + 2;

  const auto beside = one(false);  // another capture, that still writes
  time.pass(seconds(10));
  const auto recorder = one(true);
  EXPECT_EQ(names_in(folder).size(), strangers + 1 + 3) << "at once";
  EXPECT_EQ(recorder->summary().removed_earlier, 4U);
  EXPECT_EQ(record(*recorder, 21), 21U);
  const RecordingSummary sum = recorder->summary();
  EXPECT_EQ(sum.removed_earlier, 6U);
  EXPECT_EQ(sum.removed_files, 0U);
  EXPECT_EQ(sum.files, 3U);
  EXPECT_EQ(sum.packets, 21U);
  EXPECT_EQ(names_in(folder).size(), strangers + 1 + 3);
  EXPECT_TRUE(std::filesystem::exists(beside->summary().last_path));
  EXPECT_EQ(record(*recorder, 7), 7U);
  EXPECT_EQ(recorder->summary().removed_files, 1U) << "then its own";
}

TEST_F(RecorderRingTest, AFileThatHoldsNothingDoesNotStay) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  for (const bool compress : {false, true}) {
    RecorderOptions ring = options("r.pcapng");
    ring.file_packets = 7;
    ring.compress = compress;
    rlimit none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_FSIZE, &none);
    const auto made = Recorder::create(std::move(ring), interfaces);
    setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().system_errno, EFBIG);
    EXPECT_TRUE(names_in(folder).empty());
  }
}

TEST_F(RecorderRingTest, ARingSaysAtOnceWhatItCannotRemove) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_packets = 7;
  ring.files_kept = 2;
  const auto recorder = create(std::move(ring));
  const std::string oldest = recorder->summary().last_path;
  EXPECT_EQ(record(*recorder, 7), 7U);
  time.pass(seconds(1));
  // Not even root can unlink a folder.
  std::filesystem::rename(oldest, oldest + ".moved");
  std::filesystem::create_directory(oldest);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(record(*recorder, 7), 7U);
    time.pass(seconds(1));
  }
  RecordingSummary sum = recorder->summary();
  ASSERT_EQ(sum.notices.size(), 1U);
  EXPECT_EQ(sum.notices[0].find(oldest + ": cannot be removed from the ring: "), 0U);
  EXPECT_TRUE(recorder->finish(interfaces));
  sum = recorder->summary();
  EXPECT_EQ(sum.files, 3U) << "the one that stayed, too";
  EXPECT_EQ(sum.removed_files, 1U);
  EXPECT_EQ(sum.removed_packets, 7U);
  EXPECT_EQ(sum.packets, 21U);
  EXPECT_EQ(sum.given, 28U);
}

TEST_F(RecorderRingTest, AFileThatSomebodyRemovedIsNotCountedAsKept) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_packets = 7;
  const auto recorder = create(std::move(ring));
  const std::string first = recorder->summary().last_path;
  EXPECT_EQ(record(*recorder, 7), 7U);
  std::filesystem::remove(first);
  EXPECT_EQ(record(*recorder, 5), 5U);
  EXPECT_TRUE(recorder->finish(interfaces));
  const RecordingSummary sum = recorder->summary();
  ASSERT_EQ(sum.notices.size(), 1U);
  EXPECT_EQ(sum.notices[0],
            first + ": this file was removed by another program while it was written, with 7 packets");
  EXPECT_EQ(sum.files, 1U);
  EXPECT_EQ(sum.packets, 5U);
  EXPECT_EQ(sum.bytes, std::filesystem::file_size(sum.last_path));
  EXPECT_EQ(sum.given, 12U);
}

TEST_F(RecorderRingTest, NoFileOfARingIsLargerThanToldPlainOrCompressed) {
  for (const bool compress : {false, true}) {
    RecorderOptions ring = options(compress ? "c.pcapng.zst" : "p.pcapng");
    const std::size_t limit = compress ? 10'000 : 50'000;
    ring.file_bytes = limit;
    ring.compress = compress;
    const auto recorder = create(std::move(ring));
    const std::int64_t first = next;
    interfaces[0].received = 1;
    for (int i = 0; i < 300; ++i) record(*recorder, 10, 20 + static_cast<std::uint32_t>(i) * 3);
    EXPECT_TRUE(recorder->finish(interfaces));
    std::vector<std::string> paths;
    for (const std::string& name : names_in(folder)) {
      if (name.front() == (compress ? 'c' : 'p')) paths.push_back(folder.name(name));
    }
    EXPECT_GT(paths.size(), compress ? 1U : 20U);
    for (const std::string& path : paths) EXPECT_LE(read_bytes(path).size(), limit) << path;
    EXPECT_GT(read_bytes(paths[0]).size(), limit * 8 / 10) << "well filled";
    EXPECT_EQ(frames_of(paths, first), 3000U);
  }
}

TEST_F(RecorderRingTest, APacketLargerThanAFileGetsAFileOfItsOwn) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_bytes = 1000;
  const auto recorder = create(std::move(ring));
  EXPECT_EQ(record(*recorder, 3, 5000), 3U);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(paths_in(folder).size(), 3U);
  EXPECT_EQ(frames_of(paths_in(folder)), 3U);
}

TEST_F(RecorderRingTest, FilesChangeByTimeAlsoWhereNothingComes) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_time = seconds(10);
  const auto recorder = create(std::move(ring));
  record(*recorder, 1);
  time.pass(seconds(9));
  recorder->tick();
  record(*recorder, 1);
  EXPECT_EQ(paths_in(folder).size(), 1U);
  time.pass(seconds(1));
  recorder->tick();
  EXPECT_EQ(paths_in(folder).size(), 2U);
  time.pass(seconds(10));
  record(*recorder, 1);
  EXPECT_TRUE(recorder->finish(interfaces));
  const std::vector<std::string> paths = paths_in(folder);
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(frames_of({paths[0]}), 2U);
  EXPECT_EQ(frames_of({paths[1]}), 0U);
  EXPECT_EQ(frames_of({paths[2]}, 2), 1U);
}

TEST_F(RecorderRingTest, AFileThatHasTheNameAlreadyIsNotOverwritten) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_packets = 2;
  folder.write(ring_name("r.pcapng", 2, time.wall), {'o', 'l', 'd'});
  const auto recorder = create(std::move(ring));
  EXPECT_EQ(record(*recorder, 5), 5U);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(paths_in(folder).size(), 4U);
  EXPECT_EQ(read_bytes(folder.name(ring_name("r.pcapng", 2, time.wall))).size(), 3U);
}

TEST_F(RecorderRingTest, AMovedFileLeavesItsNameToTheNext) {
  const auto recorder = create(options("a.pcapng"));
  record(*recorder, 3);
  ASSERT_EQ(rename(folder.name("a.pcapng").c_str(), folder.name("moved").c_str()), 0);
  recorder->rotate();
  record(*recorder, 2);
  recorder->rotate();
  record(*recorder, 1);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(frames_of({folder.name("moved")}), 3U);
  EXPECT_EQ(frames_of({folder.name("a.pcapng")}, 3), 2U);
  EXPECT_EQ(frames_of({recorder->summary().last_path}, 5), 1U);
  EXPECT_EQ(paths_in(folder).size(), 3U);
}

}  // namespace
}  // namespace roce::capture::test
