// SPDX-License-Identifier: Apache-2.0
#include "capture/write/pcapng_writer.hpp"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <thread>

#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace {

std::size_t files_in(const Folder& folder) {
  std::size_t count = 0;
  DIR* const open = opendir(folder.name("").c_str());
  while (const dirent* const entry = readdir(open)) count += entry->d_name[0] != '.' ? 1U : 0U;
  closedir(open);
  return count;
}

Frame frame_of(const Bytes& data, std::int64_t time, std::uint16_t interface = 0, std::uint32_t wire = 0,
               std::uint16_t link_type = 1) {
  Frame frame;
  frame.data = data.data();
  frame.captured = static_cast<std::uint32_t>(data.size());
  frame.wire = std::max(wire, frame.captured);
  frame.time_ns = time;
  frame.interface = interface;
  frame.link_type = link_type;
  return frame;
}

TEST(PcapngWriter, ReadsBackEqual) {
  const Folder folder;
  InterfaceInfo first;
  first.name = "ens1f0";
  first.description = "to the switch";
  first.filter = "udp port 4791";
  first.operating_system = "Linux 6.1";
  first.hardware = "ConnectX-6 Dx";
  first.link_type = 1;
  first.snap_length = 128;
  first.speed_bps = 100'000'000'000;
  first.fcs_bytes = 4;
  first.received = 12;
  InterfaceInfo second;
  second.link_type = 228;
  const Bytes a = {1, 2, 3};
  const Bytes b = {4, 5, 6, 7};
  const Bytes none;
  const std::string path = folder.name("out.pcapng");
  {
    auto writer = PcapngWriter::create(path, "roceanalyze 0.1.0");
    ASSERT_TRUE(writer) << writer.error().describe();
    ASSERT_TRUE(writer->write(frame_of(a, 1'700'000'000'123'456'789, 5, 1500), first));
    ASSERT_TRUE(writer->write(frame_of(b, 1'700'000'000'123'456'790, 9, 0, 228), second));
    ASSERT_TRUE(writer->write(frame_of(none, INT64_MAX, 5), first));
    std::vector<InterfaceInfo> late(10);
    late[5] = first;
    late[5].dropped_by_kernel = 34;
    EXPECT_EQ(access(path.c_str(), F_OK), -1) << "not there before it is whole";
    ASSERT_TRUE(writer->finish(late));
  }
  const Everything all = read_files({path});
  ASSERT_TRUE(all.errors.empty()) << all.errors[0].describe();
  ASSERT_EQ(all.frames.size(), 3U);
  EXPECT_TRUE(all.frames[0] == (Copy{1'700'000'000'123'456'789, 3, 1500, 0, 1, 0, a}));
  EXPECT_TRUE(all.frames[1] == (Copy{1'700'000'000'123'456'790, 4, 4, 1, 228, 0, b}));
  EXPECT_EQ(all.frames[2].time_ns, INT64_MAX);
  const InterfaceInfo& one = all.interfaces.at(0);
  EXPECT_EQ(one.name, first.name);
  EXPECT_EQ(one.description, first.description);
  EXPECT_EQ(one.filter, first.filter);
  EXPECT_EQ(one.operating_system, first.operating_system);
  EXPECT_EQ(one.hardware, first.hardware);
  EXPECT_EQ(one.snap_length, 128U);
  EXPECT_EQ(one.speed_bps, first.speed_bps);
  EXPECT_EQ(one.fcs_bytes, 4U);
  EXPECT_EQ(one.ticks_per_second, 1'000'000'000U);
  EXPECT_EQ(one.received, 12U);
  EXPECT_EQ(one.dropped_by_kernel, 34U);
  EXPECT_FALSE(one.dropped_by_interface.has_value());
  EXPECT_EQ(all.files[0].application, "roceanalyze 0.1.0");
  EXPECT_EQ(all.all_incidents(), 0U);
  EXPECT_EQ(files_in(folder), 1U);
}

TEST(PcapngWriter, LiteralBytesOfAnEnhancedPacket) {
  const Folder folder;
  const Bytes data = {0xAA, 0xBB, 0xCC};
  auto writer = PcapngWriter::create(folder.name("f"), "x");
  ASSERT_TRUE(writer);
  ASSERT_TRUE(writer->write(frame_of(data, 0x0102030405060708, 0, 64), {}));
  ASSERT_TRUE(writer->finish());
  const Bytes expected = Builder().enhanced_packet(0, 0x0102030405060708, data, 64).bytes;
  const Bytes written = read_bytes(folder.name("f"));
  ASSERT_GT(written.size(), expected.size());
  EXPECT_TRUE(
      std::equal(expected.begin(), expected.end(), written.end() - static_cast<long>(expected.size())));
}

TEST(PcapngWriter, CommentsReadBackEqual) {
  const Folder folder;
  const Bytes data = {0xAA, 0xBB, 0xCC};
  const std::string longest(65'535, 'c');
  auto writer = PcapngWriter::create(folder.name("f"), "x");
  ASSERT_TRUE(writer);
  const std::vector<std::string_view> two = {"lost here?\nask M\xc3\xbcller", "b"};
  const std::vector<std::string> too_long = {longest + "more"};
  ASSERT_TRUE(writer->write(frame_of(data, 1, 0), {}, two));
  ASSERT_TRUE(writer->write(frame_of(data, 2, 0), {}));
  ASSERT_TRUE(writer->write(frame_of(data, 3, 0), {}, std::vector<std::string_view>{too_long[0]}));
  ASSERT_TRUE(writer->finish());
  const Everything all = read_files({folder.name("f")});
  ASSERT_EQ(all.frames.size(), 3U);
  EXPECT_EQ(all.frames[0].comments, (std::vector<std::string>{"lost here?\nask M\xc3\xbcller", "b"}));
  EXPECT_TRUE(all.frames[1].comments.empty());
  EXPECT_EQ(all.frames[2].comments, std::vector<std::string>{longest});
  EXPECT_EQ(all.all_incidents(), 0U);
  const Bytes options = Builder().option(1, "lost here?\nask M\xc3\xbcller").option(1, "b").u32(0).bytes;
  const Bytes expected = Builder().enhanced_packet(0, 1, data, 0, options).bytes;
  const Bytes written = read_bytes(folder.name("f"));
  EXPECT_NE(std::search(written.begin(), written.end(), expected.begin(), expected.end()), written.end());
}

TEST(PcapngWriter, TimesBefore1970KeepTheirPlace) {
  const Folder folder;
  const Bytes data = {1};
  auto writer = PcapngWriter::create(folder.name("f"), "x");
  ASSERT_TRUE(writer);
  const std::int64_t times[] = {INT64_MIN, -1'500'000'001, -1, 0, 1};
  InterfaceInfo info;
  info.received = 1;
  for (const std::int64_t time : times) ASSERT_TRUE(writer->write(frame_of(data, time), info));
  ASSERT_TRUE(writer->finish({info}));
  const Everything all = read_files({folder.name("f")});
  ASSERT_EQ(all.frames.size(), 5U);
  EXPECT_LE(all.frames[0].time_ns, -9'223'372'036'000'000'000)
      << "the very last second of the range is rounded in";
  for (std::size_t i = 1; i < 5; ++i) EXPECT_EQ(all.frames[i].time_ns, times[i]);
}

TEST(PcapngWriter, WithoutFinishNothingStays) {
  const Folder folder;
  const Bytes data(1000, 1);
  {
    auto writer = PcapngWriter::create(folder.name("f"), "x");
    ASSERT_TRUE(writer);
    for (int i = 0; i < 2000; ++i) ASSERT_TRUE(writer->write(frame_of(data, i), {}));
    EXPECT_EQ(files_in(folder), 1U);
  }
  EXPECT_EQ(files_in(folder), 0U);
}

TEST(PcapngWriter, ReplacesAFileOnlyAtTheEnd) {
  const Folder folder;
  folder.write("f", {'o', 'l', 'd'});
  ASSERT_EQ(symlink(folder.name("f").c_str(), folder.name("link").c_str()), 0);
  const OutputRules force{.inputs = {}, .may_replace = nullptr, .force = true};
  {
    auto writer = PcapngWriter::create(folder.name("link"), "x", {}, force);
    ASSERT_TRUE(writer);
    EXPECT_EQ(read_bytes(folder.name("f")).size(), 3U);
  }
  EXPECT_EQ(read_bytes(folder.name("f")), (Bytes{'o', 'l', 'd'})) << "given up: the old one stays";
  auto writer = PcapngWriter::create(folder.name("link"), "x", {}, force);
  ASSERT_TRUE(writer->finish());
  struct stat facts {};
  ASSERT_EQ(lstat(folder.name("link").c_str(), &facts), 0);
  EXPECT_TRUE(S_ISLNK(facts.st_mode)) << "the link stays a link";
  EXPECT_GT(read_bytes(folder.name("f")).size(), 3U);
}

TEST(PcapngWriter, RefusesWhatCannotBeOpened) {
  const Folder folder;
  const auto no_folder = PcapngWriter::create(folder.name("none/f"), "x");
  ASSERT_FALSE(no_folder);
  EXPECT_EQ(no_folder.error().kind, ErrorKind::not_writable);
  EXPECT_EQ(no_folder.error().system_errno, ENOENT);
  const auto directory = PcapngWriter::create(folder.name("."), "x");
  ASSERT_FALSE(directory);
  EXPECT_EQ(directory.error().system_errno, EISDIR);
  if (geteuid() != 0) {
    chmod(folder.write("kept", {1}).c_str(), 0444);
    const OutputRules force{.inputs = {}, .may_replace = nullptr, .force = true};
    EXPECT_EQ(PcapngWriter::create(folder.name("kept"), "x", {}, force).error().system_errno, EACCES);
  }
}

TEST(PcapngWriter, AFullDiskIsAnError) {
  auto writer = PcapngWriter::create("/dev/full", "x");
  ASSERT_TRUE(writer);
  const auto done = writer->finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::not_writable);
  EXPECT_EQ(done.error().system_errno, ENOSPC);
  EXPECT_NE(done.error().describe().find("/dev/full"), std::string::npos);
}

TEST(PcapngWriter, AFileSizeLimitIsAnErrorAndLeavesNothing) {
  const Folder folder;
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 1U << 20U;
  auto writer = PcapngWriter::create(folder.name("f"), "x");
  ASSERT_TRUE(writer);
  setrlimit(RLIMIT_FSIZE, &small);
  const Bytes data(10'000, 1);
  Expected<void> done;
  for (int i = 0; i < 1000 && done; ++i) done = writer->write(frame_of(data, i), {});
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::not_writable);
  EXPECT_EQ(done.error().system_errno, EFBIG);
  EXPECT_EQ(files_in(folder), 0U);
  EXPECT_FALSE(writer->finish());
  EXPECT_EQ(files_in(folder), 0U);
}

TEST(PcapngWriter, AClosedPipeIsAnErrorNotASignal) {
  const Folder folder;
  const std::string fifo = folder.name("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::thread reader([&] { ::close(::open(fifo.c_str(), O_RDONLY)); });
  auto writer = PcapngWriter::create(fifo, "x");
  reader.join();
  ASSERT_TRUE(writer);
  const auto done = writer->finish();
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().system_errno, EPIPE);
  struct stat facts {};
  EXPECT_EQ(stat(fifo.c_str(), &facts), 0) << "a pipe is nothing to remove";
}

TEST(PcapngWriter, WritesIntoAPipe) {
  const Folder folder;
  const std::string fifo = folder.name("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::thread out([&] {
    auto writer = PcapngWriter::create(fifo, "x");
    const Bytes data(500, 3);
    for (int i = 0; i < 5000; ++i) EXPECT_TRUE(writer->write(frame_of(data, i), {}));
    EXPECT_TRUE(writer->finish());
  });
  const Everything all = read_files({fifo});
  out.join();
  EXPECT_TRUE(all.errors.empty());
  EXPECT_EQ(all.frames.size(), 5000U);
}

}  // namespace
}  // namespace roce::capture::test
