// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <csignal>

#include "bytes_builder.hpp"

namespace roce::capture::test {
namespace {

/// Frames that are still there.
std::size_t left_of(CaptureSource& source, FrameBatch& batch) {
  const std::size_t before = batch.frames.size();
  const std::size_t dropped = source.drop_vanished(batch);
  EXPECT_EQ(batch.frames.size() + dropped, before);
  return batch.frames.size();
}

constexpr std::size_t record = 16 + 4080;  // so that record i begins at 24 + 4096 * i

std::string large_pcap(const Folder& folder, std::uint32_t records) {
  Builder file;
  file.pcap_header();
  for (std::uint32_t i = 0; i < records; ++i) file.pcap_record(i, 0, Bytes(record - 16, 0x55));
  return folder.write("shrinking", file.bytes);
}

void touch(const FrameBatch& batch) {
  for (const Frame& frame : batch.frames) {
    const volatile std::uint8_t* const bytes = frame.data;
    for (std::uint32_t i = 0; i < frame.captured; ++i) [[maybe_unused]] const std::uint8_t byte = bytes[i];
  }
}

TEST(Shrink, BetweenBatchAndUse) {
  const Folder folder;
  const std::string path = large_pcap(folder, 100);
  auto source = open_mapped({path});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 60).value(), 60U);
  EXPECT_EQ(left_of(**source, batch), 60U);
  ASSERT_EQ(truncate(path.c_str(), 24 + 40 * record + 100), 0);
  touch(batch);  // zeros instead of death
  EXPECT_EQ(left_of(**source, batch), 40U);
  batch.clear();
  const auto next = (*source)->next_batch(batch, 60);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, ErrorKind::shrunk);
  EXPECT_EQ(next.error().offset, 24 + 40 * record + 100);
  EXPECT_EQ(next.error().path, path);
  EXPECT_EQ((*source)->statistics().incidents[static_cast<std::size_t>(Incident::shrunk_while_read)], 1U);
  EXPECT_EQ((*source)->next_batch(batch, 60).value(), 0U);
}

TEST(Shrink, BetweenBatches) {
  const Folder folder;
  const std::string path = large_pcap(folder, 100);
  auto source = open_mapped({path});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 10).value(), 10U);
  ASSERT_EQ(truncate(path.c_str(), 24 + 20 * record + 7), 0);
  EXPECT_EQ(left_of(**source, batch), 10U);
  batch.clear();
  ASSERT_EQ((*source)->next_batch(batch, 60).value(), 10U) << "what is still there is delivered";
  EXPECT_EQ(left_of(**source, batch), 10U);
  batch.clear();
  const auto next = (*source)->next_batch(batch, 60);
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().kind, ErrorKind::shrunk);
  EXPECT_EQ((*source)->statistics().frames, 20U);
  EXPECT_EQ((*source)->statistics().incidents[static_cast<std::size_t>(Incident::cut_short)], 0U);
}

TEST(Shrink, BehindTheLastBatch) {
  const Folder folder;
  const std::string path = large_pcap(folder, 10);
  const std::string later = folder.write("later", Builder().pcap_header().pcap_record(1000, 0, {1}).bytes);
  for (const bool two : {false, true}) {
    large_pcap(folder, 10);
    auto source = open_mapped(two ? std::vector<std::string>{path, later} : std::vector<std::string>{path});
    ASSERT_TRUE(source);
    FrameBatch batch;
    ASSERT_EQ((*source)->next_batch(batch, 100).value(), two ? 11U : 10U);
    ASSERT_EQ(truncate(path.c_str(), 24 + 3 * record), 0);
    EXPECT_EQ(left_of(**source, batch), two ? 4U : 3U);  // what the other file gave stays
    EXPECT_EQ((*source)->files()[0].packets, 3U);
    batch.clear();
    const auto next = (*source)->next_batch(batch, 100);
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().kind, ErrorKind::shrunk);
    EXPECT_EQ(next.error().path, path);
    EXPECT_EQ((*source)->next_batch(batch, 100).value(), 0U);
    EXPECT_EQ((*source)->statistics().incidents[static_cast<std::size_t>(Incident::shrunk_while_read)], 1U);
  }
}

TEST(Shrink, FramesThatWaitedForTheirTurnAreNotDelivered) {
  const Folder folder;
  const std::string path = large_pcap(folder, 50);
  Builder other;
  other.pcap_header();
  for (std::uint32_t i = 0; i < 50; ++i) other.pcap_record(i, 500, {7});
  auto source = open_mapped({path, folder.write("other", other.bytes)});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 20).value(), 20U);
  ASSERT_EQ(truncate(path.c_str(), 24 + 15 * record), 0);
  const Everything rest = read_all(**source, 20);
  EXPECT_EQ(rest.errors.size(), 1U);
  std::size_t of_other = 0;
  for (const Copy& frame : rest.frames) of_other += frame.file;
  EXPECT_EQ(of_other, 40U);
  EXPECT_EQ(rest.frames.size() - of_other, 5U);
  EXPECT_EQ(rest.statistics.frames, 65U);
  EXPECT_EQ(rest.files[0].packets, 15U);
}

TEST(Shrink, ToNothing) {
  const Folder folder;
  const std::string path = large_pcap(folder, 50);
  auto source = open_mapped({path});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 10).value(), 10U);
  ASSERT_EQ(truncate(path.c_str(), 0), 0);
  touch(batch);
  EXPECT_EQ(left_of(**source, batch), 0U);
  batch.clear();
  EXPECT_EQ((*source)->next_batch(batch, 10).error().kind, ErrorKind::shrunk);
}

TEST(Shrink, AFaultIsRememberedThoughTheFileGrowsBack) {
  const Folder folder;
  const std::string path = large_pcap(folder, 50);
  auto source = open_mapped({path});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 20).value(), 20U);
  ASSERT_EQ(truncate(path.c_str(), 4096), 0);
  touch(batch);
  ASSERT_EQ(truncate(path.c_str(), 24 + 50 * record), 0);
  EXPECT_EQ(left_of(**source, batch), 0U) << "its first frame ends in the page that could not be read";
}

TEST(Shrink, OnlyTheFileThatShrank) {
  const Folder folder;
  const std::string steady = folder.write("steady", Builder().pcap_header().pcap_record(1000, 0, {1}).bytes);
  const std::string path = large_pcap(folder, 50);
  auto source = open_mapped({path, steady});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 10).value(), 10U);
  ASSERT_EQ(truncate(path.c_str(), 24 + 5 * record), 0);
  EXPECT_EQ(left_of(**source, batch), 5U);
  const Everything rest = read_all(**source);
  ASSERT_EQ(rest.errors.size(), 1U);
  EXPECT_EQ(rest.errors[0].kind, ErrorKind::shrunk);
  ASSERT_EQ(rest.frames.size(), 1U);
  EXPECT_EQ(rest.frames[0].data, Bytes{1});
}

TEST(Shrink, AFileThatIsReadNotMapped) {
  const Folder folder;
  for (const std::size_t left : {24 + 20 * record + 7, 24 + 20 * record}) {
    const std::string path = large_pcap(folder, 1000);
    auto source = open_files({path});
    ASSERT_TRUE(source);
    FrameBatch batch;
    ASSERT_EQ((*source)->next_batch(batch, 10).value(), 10U);
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(left)), 0);
    touch(batch);
    EXPECT_EQ(left_of(**source, batch), 10U) << "what was read stays";
    const Everything rest = read_all(**source);
    ASSERT_EQ(rest.errors.size(), 1U);
    EXPECT_EQ(rest.errors[0].kind, ErrorKind::shrunk);
    EXPECT_EQ(rest.errors[0].path, path);
    EXPECT_LT(rest.frames.size(), 990U);
    EXPECT_EQ(rest.statistics.incidents[static_cast<std::size_t>(Incident::shrunk_while_read)], 1U);
    EXPECT_EQ(rest.statistics.incidents[static_cast<std::size_t>(Incident::cut_short)], 0U);
  }
}

TEST(Shrink, WhatIsAppendedMeanwhileIsLeftForLater) {
  const Folder folder;
  const std::string path = large_pcap(folder, 1000);
  auto source = open_files({path});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 10).value(), 10U);
  std::ofstream(path, std::ios::binary | std::ios::app) << "more";
  const Everything rest = read_all(**source);
  EXPECT_TRUE(rest.errors.empty());
  EXPECT_EQ(rest.frames.size(), 990U);
  EXPECT_EQ(rest.statistics.incidents[static_cast<std::size_t>(Incident::cut_short)], 0U);
}

/// Runs `body` in a child and gives its wait status.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Shrink, InAForkedChildToo) {
  const Folder folder;
  const std::string path = large_pcap(folder, 100);
  auto source = open_mapped({path});
  ASSERT_TRUE(source);
  FrameBatch batch;
  ASSERT_EQ((*source)->next_batch(batch, 100).value(), 100U);
  ASSERT_EQ(truncate(path.c_str(), 8192), 0);
  const int status = in_child([&] {
    touch(batch);
    _exit(left_of(**source, batch) == 1 ? 7 : 8);
  });
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

/// A fault in a mapping that is not ours.
void fault_elsewhere(const Folder& folder) {
  const std::string other = folder.write("other", Bytes(8192));
  const int descriptor = ::open(other.c_str(), O_RDONLY);
  const auto* const memory =
      static_cast<const volatile std::uint8_t*>(mmap(nullptr, 8192, PROT_READ, MAP_SHARED, descriptor, 0));
  if (truncate(other.c_str(), 0) != 0) return;
  [[maybe_unused]] const std::uint8_t byte = memory[4096];
}

TEST(Shrink, ForeignFaultsEndTheProcessAsBefore) {
  const Folder folder;
  auto source = open_mapped({large_pcap(folder, 2)});
  ASSERT_TRUE(source);
  const int status = in_child([&] {
    // Whatever stood there (a sanitizer's report) would be asked first.
    fault_elsewhere(folder);
  });
  const bool died = WIFSIGNALED(status) ? WTERMSIG(status) == SIGBUS : WEXITSTATUS(status) != 0;
  EXPECT_TRUE(died) << status;
}

}  // namespace
}  // namespace roce::capture::test
