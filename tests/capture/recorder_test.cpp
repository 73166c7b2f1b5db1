// SPDX-License-Identifier: Apache-2.0
#include "capture/recorder.hpp"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>

#include "bytes_builder.hpp"
#include "capture/recording_source.hpp"
#include "capture/ring_name.hpp"

namespace roce::capture::test {
namespace {

using std::chrono::seconds;

/// Names in the folder, sorted.
std::vector<std::string> names_in(const Folder& folder) {
  std::vector<std::string> names;
  DIR* const open = opendir(folder.name("").c_str());
  while (const dirent* const entry = readdir(open)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(open);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> paths_in(const Folder& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : names_in(folder)) paths.push_back(folder.name(name));
  return paths;
}

/// A time that stands until it is told to go on.
struct Time {
  std::chrono::steady_clock::time_point steady{};
  std::chrono::system_clock::time_point wall{seconds(1'795'172'933)};

  void pass(std::chrono::nanoseconds time) {
    steady += std::chrono::duration_cast<std::chrono::steady_clock::duration>(time);
    wall += std::chrono::duration_cast<std::chrono::system_clock::duration>(time);
  }
  Clocks clocks() {
    return {[this] { return steady; }, [this] { return wall; }};
  }
};

std::vector<InterfaceInfo> one_interface() {
  InterfaceInfo info;
  info.name = "veth0";
  info.link_type = 1;
  info.snap_length = 262'144;
  info.filter = "udp port 4791";
  info.operating_system = "Linux";
  info.hardware = "a pair of wires";
  info.speed_bps = 10'000'000'000;
  return {info};
}

class RecorderTest : public ::testing::Test {
 protected:
  RecorderOptions options(const std::string& name) {
    RecorderOptions options;
    options.path = folder.name(name);
    options.section.application = "roceanalyze test";
    options.clocks = time.clocks();
    return options;
  }
  std::unique_ptr<Recorder> create(RecorderOptions options) {
    auto made = Recorder::create(std::move(options), interfaces);
    EXPECT_TRUE(made) << made.error().describe();
    return made ? std::move(*made) : nullptr;
  }
  /// Frames of `size` bytes that hold their number.
  std::size_t record(Recorder& recorder, std::size_t count, std::uint32_t size = 100) {
    std::vector<Bytes> bytes;
    std::vector<Frame> frames;
    for (std::size_t i = 0; i < count; ++i) {
      bytes.emplace_back(size, static_cast<std::uint8_t>(next));
      Frame frame;
      frame.captured = frame.wire = size;
      frame.time_ns = 1'795'172'933'000'000'000 + next++;
      frame.link_type = 1;
      frames.push_back(frame);
    }
    for (std::size_t i = 0; i < count; ++i) frames[i].data = bytes[i].data();
    return recorder.record(frames, interfaces);
  }
  /// All frames of these files, which must be whole and hold each number once, from `first` on.
  std::uint64_t frames_of(const std::vector<std::string>& paths, std::int64_t first = 0) {
    const Everything all = read_files(paths);
    EXPECT_TRUE(all.errors.empty()) << all.errors[0].describe();
    EXPECT_EQ(all.all_incidents(), 0U);
    for (std::size_t i = 0; i < all.frames.size(); ++i)
      EXPECT_EQ(all.frames[i].time_ns - 1'795'172'933'000'000'000, first + static_cast<std::int64_t>(i));
    return all.frames.size();
  }

  const Folder folder;
  Time time;
  std::vector<InterfaceInfo> interfaces = one_interface();
  std::int64_t next = 0;
};

TEST_F(RecorderTest, EveryFrameIsInTheFileWhenRecordReturns) {
  const auto recorder = create(options("a.pcapng"));
  EXPECT_EQ(frames_of({folder.name("a.pcapng")}), 0U) << "whole before the first packet";
  for (const std::size_t count : {1U, 2U, 5000U, 1U}) {
    EXPECT_EQ(record(*recorder, count, 123), count);
    EXPECT_EQ(frames_of({folder.name("a.pcapng")}), static_cast<std::uint64_t>(next));
  }
  EXPECT_EQ(recorder->summary().packets, 5004U);
  EXPECT_TRUE(recorder->finish(interfaces));
  const Everything all = read_files({folder.name("a.pcapng")});
  EXPECT_EQ(all.frames.size(), 5004U);
  EXPECT_EQ(all.frames[0].data, Bytes(123, 0));
  EXPECT_EQ(all.frames[5003].data, Bytes(123, static_cast<std::uint8_t>(5003)));
  const InterfaceInfo& read = all.interfaces.at(0);
  EXPECT_EQ(read.name, "veth0");
  EXPECT_EQ(read.filter, "udp port 4791");
  EXPECT_EQ(read.operating_system, "Linux");
  EXPECT_EQ(read.hardware, "a pair of wires");
  EXPECT_EQ(read.speed_bps, 10'000'000'000U);
  EXPECT_EQ(read.ticks_per_second, 1'000'000'000U);
  EXPECT_EQ(all.files[0].application, "roceanalyze test");
  EXPECT_EQ(recorder->summary().bytes, read_bytes(folder.name("a.pcapng")).size());
}

TEST_F(RecorderTest, StatisticsOfTheFilesOfARingAddUp) {
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

TEST_F(RecorderTest, NamesOfARing) {
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

TEST_F(RecorderTest, ARingKeepsItsNumberOfFilesAndSaysWhatItRemoved) {
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

TEST_F(RecorderTest, ARingSaysAtOnceWhatItCannotRemove) {
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
  EXPECT_EQ(sum.notices[0].find(oldest + ": stays, for it cannot be removed from the ring: "), 0U);
  EXPECT_TRUE(recorder->finish(interfaces));
  sum = recorder->summary();
  EXPECT_EQ(sum.files, 3U) << "the one that stayed, too";
  EXPECT_EQ(sum.removed_files, 1U);
  EXPECT_EQ(sum.removed_packets, 7U);
  EXPECT_EQ(sum.packets, 21U);
  EXPECT_EQ(sum.given, 28U);
}

TEST_F(RecorderTest, AFileThatSomebodyRemovedIsNotCountedAsKept) {
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
  EXPECT_EQ(sum.notices[0], first + ": somebody removed this file while it was written, with 7 packets");
  EXPECT_EQ(sum.files, 1U);
  EXPECT_EQ(sum.packets, 5U);
  EXPECT_EQ(sum.bytes, std::filesystem::file_size(sum.last_path));
  EXPECT_EQ(sum.given, 12U);
}

TEST_F(RecorderTest, TwoDoNotWriteOneFile) {
  const auto first = create(options("a.pcapng"));
  EXPECT_EQ(record(*first, 7), 7U);
  const auto second = Recorder::create(options("a.pcapng"), interfaces);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().describe().find("another capture writes this file"), std::string::npos);
  EXPECT_TRUE(first->finish(interfaces));
  EXPECT_EQ(frames_of(paths_in(folder), 0), 7U);
  EXPECT_TRUE(Recorder::create(options("a.pcapng"), interfaces)) << "behind the end of the first";
}

TEST_F(RecorderTest, NoFileOfARingIsLargerThanToldPlainOrCompressed) {
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

TEST_F(RecorderTest, APacketLargerThanAFileGetsAFileOfItsOwn) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_bytes = 1000;
  const auto recorder = create(std::move(ring));
  EXPECT_EQ(record(*recorder, 3, 5000), 3U);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(paths_in(folder).size(), 3U);
  EXPECT_EQ(frames_of(paths_in(folder)), 3U);
}

TEST_F(RecorderTest, FilesChangeByTimeAlsoWhereNothingComes) {
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

TEST_F(RecorderTest, AFileThatHasTheNameAlreadyIsNotOverwritten) {
  RecorderOptions ring = options("r.pcapng");
  ring.file_packets = 2;
  folder.write(ring_name("r.pcapng", 2, time.wall), {'o', 'l', 'd'});
  const auto recorder = create(std::move(ring));
  EXPECT_EQ(record(*recorder, 5), 5U);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(paths_in(folder).size(), 4U);
  EXPECT_EQ(read_bytes(folder.name(ring_name("r.pcapng", 2, time.wall))).size(), 3U);
}

TEST_F(RecorderTest, EndsWithItsLimits) {
  RecorderOptions limited = options("a.pcapng");
  limited.all_bytes = 10'000;
  auto recorder = create(std::move(limited));
  std::size_t taken = 0;
  for (int i = 0; i < 100; ++i) taken += record(*recorder, 10);
  EXPECT_TRUE(recorder->ended());
  EXPECT_FALSE(recorder->error());
  EXPECT_EQ(recorder->summary().given, taken);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_LE(read_bytes(folder.name("a.pcapng")).size(), 10'000U);
  EXPECT_GT(read_bytes(folder.name("a.pcapng")).size(), 9'500U);
  EXPECT_EQ(frames_of({folder.name("a.pcapng")}), taken);

  RecorderOptions ring = options("r.pcapng");
  ring.file_packets = 4;
  ring.all_files = 2;
  recorder = create(std::move(ring));
  EXPECT_EQ(record(*recorder, 10), 8U);
  EXPECT_TRUE(recorder->ended());
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(recorder->summary().files, 2U);
}

TEST_F(RecorderTest, AMovedFileLeavesItsNameToTheNext) {
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

TEST_F(RecorderTest, CompressedFilesAreWholeBetweenTheirFrames) {
  RecorderOptions zst = options("a.pcapng.zst");
  zst.compress = true;
  const auto recorder = create(std::move(zst));
  record(*recorder, 100);
  time.pass(std::chrono::milliseconds(600));
  recorder->tick();
  // The thread writes when it likes: finish() waits for it.
  EXPECT_TRUE(recorder->finish(interfaces));
  const Bytes whole = read_bytes(folder.name("a.pcapng.zst"));
  EXPECT_EQ(frames_of({folder.name("a.pcapng.zst")}), 100U);
  EXPECT_EQ(whole.size(), recorder->summary().bytes);
  std::vector<std::size_t> frames;
  const Bytes magic = {0x28, 0xB5, 0x2F, 0xFD};
  for (auto at = whole.begin();; ++at) {
    at = std::search(at, whole.end(), magic.begin(), magic.end());
    if (at == whole.end()) break;
    frames.push_back(static_cast<std::size_t>(at - whole.begin()));
  }
  ASSERT_GE(frames.size(), 2U) << "the description of the interface, then the packets";
  const auto second = whole.begin() + static_cast<std::ptrdiff_t>(frames[1]);
  EXPECT_EQ(frames_of({folder.write("cut.zst", Bytes(whole.begin(), second))}), 0U);
}

TEST_F(RecorderTest, AFullDiskLeavesWholeBlocksAndTheCountOfThem) {
  for (const bool compress : {false, true}) {
    RecorderOptions full = options("full");
    full.compress = compress;
    const auto recorder = create(std::move(full));
    const std::int64_t first = next;
    rlimit before{};
    getrlimit(RLIMIT_FSIZE, &before);
    rlimit small = before;
    small.rlim_cur = 3'000;
    setrlimit(RLIMIT_FSIZE, &small);
    std::size_t calls = 0;
    while (!recorder->ended() && ++calls < 1000) {
      EXPECT_EQ(record(*recorder, 10, 1000 + static_cast<std::uint32_t>(calls)), 10U);
      time.pass(seconds(1));
    }
    setrlimit(RLIMIT_FSIZE, &before);
    ASSERT_TRUE(recorder->error());
    EXPECT_EQ(recorder->error()->kind, ErrorKind::not_writable);
    EXPECT_EQ(recorder->error()->system_errno, EFBIG);
    EXPECT_EQ(record(*recorder, 1), 0U) << "no more is wanted";
    EXPECT_FALSE(recorder->finish(interfaces));
    const std::uint64_t kept = frames_of({folder.name("full")}, first);
    EXPECT_EQ(recorder->summary().packets, kept);
    EXPECT_EQ(recorder->summary().bytes, read_bytes(folder.name("full")).size());
    EXPECT_LE(recorder->summary().bytes, 3'000U);
    EXPECT_GT(recorder->summary().given, kept);
    EXPECT_GE(kept, 2U);
    next = static_cast<std::int64_t>(first) + 100'000;
  }
}

TEST_F(RecorderTest, CommentsStandOnTheNextPacketOrAtTheEnd) {
  const auto recorder = create(options("a.pcapng"));
  record(*recorder, 1);
  recorder->comment("first words");
  recorder->comment("second words");
  record(*recorder, 1);
  recorder->comment("last words");
  interfaces[0].received = 2;
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(frames_of({folder.name("a.pcapng")}), 2U);
  const Bytes bytes = read_bytes(folder.name("a.pcapng"));
  const auto place = [&](const std::string& text) {
    return std::search(bytes.begin(), bytes.end(), text.begin(), text.end()) - bytes.begin();
  };
  EXPECT_LT(place("first words"), place("second words"));
  EXPECT_LT(place("second words"), place("last words"));
  EXPECT_LT(place("last words"), static_cast<std::ptrdiff_t>(bytes.size()));
}

TEST_F(RecorderTest, RefusesWhatCannotBeOpened) {
  const auto none = Recorder::create(options("no/such/folder.pcapng"), interfaces);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::not_writable);
  EXPECT_EQ(none.error().system_errno, ENOENT);
  RecorderOptions device;
  device.path = "/dev/full";
  const auto full = Recorder::create(device, interfaces);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().system_errno, ENOSPC);
}

TEST_F(RecorderTest, AClosedPipeIsAnErrorNotASignal) {
  const std::string fifo = folder.name("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  std::thread reader([&] {
    const int descriptor = ::open(fifo.c_str(), O_RDONLY);
    char byte = 0;
    EXPECT_EQ(::read(descriptor, &byte, 1), 1);
    ::close(descriptor);
  });
  const auto recorder = create(options("fifo"));
  reader.join();
  EXPECT_EQ(record(*recorder, 1), 1U);
  ASSERT_TRUE(recorder->error());
  EXPECT_EQ(recorder->error()->system_errno, EPIPE);
  EXPECT_TRUE(recorder->ended());
}

/// Frames one by one, as a device would give them.
class FewFrames final : public CaptureSource {
 public:
  explicit FewFrames(std::size_t count) : left_(count), bytes_(60, 7) {
    interfaces_ = one_interface();
    files_.resize(1);
  }
  Expected<std::size_t> next_batch(FrameBatch& batch, std::size_t limit) override {
    const std::size_t count = std::min({limit, left_, std::size_t{3}});
    for (std::size_t i = 0; i < count; ++i) {
      Frame frame;
      frame.data = bytes_.data();
      frame.captured = frame.wire = 60;
      frame.link_type = 1;
      frame.time_ns = 1'795'172'933'000'000'000 + time_++;
      batch.frames.push_back(frame);
    }
    left_ -= count;
    return count;
  }
  [[nodiscard]] bool may_wait() const noexcept override { return true; }
  [[nodiscard]] const std::vector<InterfaceInfo>& interfaces() const override { return interfaces_; }
  [[nodiscard]] const std::vector<FileInfo>& files() const override { return files_; }
  [[nodiscard]] const Statistics& statistics() const override { return statistics_; }
  void request_stop() noexcept override { stopped = true; }

  bool stopped = false;

 private:
  std::size_t left_;
  std::int64_t time_ = 0;
  Bytes bytes_;
  std::vector<InterfaceInfo> interfaces_;
  std::vector<FileInfo> files_;
  Statistics statistics_;
};

TEST_F(RecorderTest, ASourceIsRecordedAsItIsReadAndEndsWithTheRecording) {
  RecorderOptions limited = options("a.pcapng");
  limited.file_packets = 4;
  limited.all_files = 1;
  const auto recorder = create(std::move(limited));
  FewFrames frames(100);
  const auto source = recorded(frames, *recorder);
  EXPECT_TRUE(source->may_wait());
  FrameBatch batch;
  EXPECT_EQ(source->next_batch(batch, 100).value(), 3U);
  EXPECT_EQ(source->next_batch(batch, 100).value(), 1U) << "analysed is what was recorded";
  EXPECT_TRUE(frames.stopped);
  EXPECT_EQ(batch.frames.size(), 4U);
  EXPECT_EQ(source->next_batch(batch, 100).value(), 0U);
  EXPECT_TRUE(recorder->finish(source->interfaces()));
  EXPECT_EQ(frames_of(paths_in(folder)), 4U);
}

}  // namespace
}  // namespace roce::capture::test
