// SPDX-License-Identifier: Apache-2.0
#include "capture/write/recorder.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <thread>

#include "capture/write/recording_source.hpp"
#include "tests/capture/write/recorder_support.hpp"

namespace roce::capture::test {
namespace {

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

TEST_F(RecorderTest, TwoDoNotWriteOneFile) {
  const auto first = create(options("a.pcapng"));
  EXPECT_EQ(record(*first, 7), 7U);
  RecorderOptions forced = options("a.pcapng");
  forced.rules.force = true;
  const auto second = Recorder::create(forced, interfaces);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().describe().find("another capture is writing this file"), std::string::npos);
  EXPECT_TRUE(first->finish(interfaces));
  EXPECT_EQ(frames_of(paths_in(folder), 0), 7U);
  EXPECT_TRUE(Recorder::create(forced, interfaces)) << "behind the end of the first";
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
    full.rules.force = true;
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
