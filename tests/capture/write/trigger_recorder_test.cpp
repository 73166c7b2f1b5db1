// SPDX-License-Identifier: Apache-2.0
#include "capture/write/trigger_recorder.hpp"

#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "tests/capture/bytes_builder.hpp"

namespace roce::capture::test {
namespace trigger_recorder_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t start = 1'795'172'933 * second;

class TriggerRecorderTest : public ::testing::Test {
 protected:
  TriggerRecorderTest() {
    options.recorder.path = folder.name("t.pcapng");
    options.recorder.clocks = {[this] { return steady; }, [this] { return wall; }};
    options.before = seconds(5);
    options.after = seconds(2);
    interfaces.resize(1);
    interfaces[0].link_type = 1;
  }
  /// One frame of this time, in milliseconds since the start.
  void frame(std::int64_t ms, std::uint32_t size = 100) {
    const Bytes bytes(size, static_cast<std::uint8_t>(ms));
    Frame frame;
    frame.data = bytes.data();
    frame.captured = frame.wire = size;
    frame.link_type = 1;
    frame.time_ns = start + ms * 1'000'000;
    EXPECT_EQ(recorder->record({&frame, 1}, interfaces), 1U);
  }
  /// A frame each 100 ms.
  void frames(std::int64_t from_ms, std::int64_t to_ms, std::uint32_t size = 100) {
    for (std::int64_t ms = from_ms; ms < to_ms; ms += 100) frame(ms, size);
  }
  void trigger(const std::string& reason, std::int64_t ms) {
    recorder->trigger(reason, start + ms * 1'000'000);
  }
  void make() { recorder = std::make_unique<TriggerRecorder>(options); }
  std::vector<std::string> paths() const {
    std::vector<std::string> names;
    DIR* const open = opendir(folder.name("").c_str());
    while (const dirent* const entry = readdir(open)) {
      if (entry->d_name[0] != '.') names.push_back(folder.name(entry->d_name));
    }
    closedir(open);
    std::sort(names.begin(), names.end());
    return names;
  }
  /// Times of the frames of a file in milliseconds, which is whole.
  static std::vector<std::int64_t> times_of(const std::string& path) {
    const Everything all = read_files({path});
    EXPECT_TRUE(all.errors.empty());
    EXPECT_EQ(all.all_incidents(), 0U);
    std::vector<std::int64_t> times;
    for (const Copy& one : all.frames) {
      times.push_back((one.time_ns - start) / 1'000'000);
      EXPECT_EQ(one.data, Bytes(one.captured, static_cast<std::uint8_t>(times.back())));
    }
    return times;
  }
  void expect_times(const std::string& path, std::int64_t first_ms, std::int64_t last_ms) {
    std::vector<std::int64_t> wanted;
    for (std::int64_t ms = first_ms; ms <= last_ms; ms += 100) wanted.push_back(ms);
    EXPECT_EQ(times_of(path), wanted);
  }

  const Folder folder;
  TriggerOptions options;
  std::vector<InterfaceInfo> interfaces;
  std::chrono::steady_clock::time_point steady{};
  std::chrono::system_clock::time_point wall{seconds(1'795'172'933)};
  std::unique_ptr<TriggerRecorder> recorder;
};

/// All triggers in one file, which exists from the start.
TEST_F(TriggerRecorderTest, StreamHasTheFramesOfAllTriggers) {
  auto stream = Recorder::create(options.recorder, interfaces);
  ASSERT_TRUE(stream);
  recorder = std::make_unique<TriggerRecorder>(options, std::move(*stream));
  frames(0, 10'000);
  EXPECT_EQ(times_of(options.recorder.path), std::vector<std::int64_t>());
  trigger("first", 10'000);
  frames(10'000, 30'000);
  trigger("second", 30'000);
  frames(30'000, 40'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(paths(), std::vector<std::string>({options.recorder.path}));
  std::vector<std::int64_t> wanted;
  for (std::int64_t ms = 5000; ms <= 12'000; ms += 100) wanted.push_back(ms);
  for (std::int64_t ms = 25'000; ms <= 32'000; ms += 100) wanted.push_back(ms);
  EXPECT_EQ(times_of(options.recorder.path), wanted);
  const RecordingSummary summary = recorder->summary();
  EXPECT_EQ(summary.packets, wanted.size());
  EXPECT_EQ(summary.files, 1U);
  EXPECT_EQ(summary.last_path, options.recorder.path);
}

TEST_F(TriggerRecorderTest, StreamCountsTriggersAsFiles) {
  auto stream = Recorder::create(options.recorder, interfaces);
  ASSERT_TRUE(stream);
  options.most_files = 1;
  recorder = std::make_unique<TriggerRecorder>(options, std::move(*stream));
  frames(0, 1000);
  trigger("first", 1000);
  frames(1000, 20'000);
  trigger("second", 20'000);
  frames(20'000, 25'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(recorder->summary().refused_triggers, 1U);
  expect_times(options.recorder.path, 0, 3000);
}

/// Packet time stands still while nothing arrives; the time of a trigger does not.
TEST_F(TriggerRecorderTest, TriggersNow) {
  make();
  frames(0, 1000);
  steady += seconds(4);
  recorder->trigger_now("now");
  steady += seconds(2);
  recorder->tick();  // the time after the trigger is not over
  frames(5500, 9000);
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 1U);
  const std::vector<std::int64_t> times = times_of(paths().front());
  EXPECT_EQ(times.front(), 0);
  EXPECT_EQ(times.back(), 6900);  // 900 + 4000 + 2000
}

TEST_F(TriggerRecorderTest, WritesWhatLiesAroundATrigger) {
  make();
  frames(0, 30'000);
  EXPECT_TRUE(paths().empty());
  trigger("loss at 29.3 s", 29'300);  // comes 0.6 s after what it is about
  frames(30'000, 40'000);
  ASSERT_EQ(paths().size(), 1U);
  expect_times(paths()[0], 24'300, 31'300);
  EXPECT_EQ(read_files(paths()).files[0].comment, "loss at 29.3 s");
  trigger("again", 39'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 2U);
  expect_times(paths()[1], 34'000, 39'900);
  EXPECT_EQ(recorder->summary().files, 2U);
  EXPECT_EQ(recorder->summary().packets, 71U + 60U);
  EXPECT_TRUE(recorder->summary().notices.empty());
}

TEST_F(TriggerRecorderTest, TroubleThatDoesNotEndFillsFilesOfBoundedLength) {
  options.longest = seconds(20);
  make();
  frames(0, 10'000);
  for (std::int64_t ms = 10'000; ms < 90'000; ms += 1000) {
    trigger("at " + std::to_string(ms), ms - 500);
    frames(ms, ms + 1000);
  }
  frames(90'000, 95'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  // From 5 s before the first to 2 s after the last one, each frame once.
  const std::vector<std::string> files = paths();
  ASSERT_EQ(files.size(), 5U);
  std::vector<std::int64_t> all;
  for (const std::string& path : files) {
    const std::vector<std::int64_t> times = times_of(path);
    ASSERT_FALSE(times.empty());
    EXPECT_LE(times.back() - times.front(), 20'000) << path;
    EXPECT_NE(read_files({path}).files[0].comment, "") << path;
    all.insert(all.end(), times.begin(), times.end());
  }
  std::vector<std::int64_t> wanted;
  for (std::int64_t ms = 4'500; ms <= 90'500; ms += 100) wanted.push_back(ms);
  EXPECT_EQ(all, wanted);
  EXPECT_TRUE(recorder->summary().notices.empty());
}

TEST_F(TriggerRecorderTest, ManyTriggersBeforeAnyFrameAreSeveralFilesAsWell) {
  options.longest = seconds(1);  // less than one trigger's own time, which stays whole
  make();
  frames(0, 40'000);
  for (std::int64_t ms = 30'000; ms <= 39'000; ms += 500) trigger("x", ms);
  frames(40'000, 45'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 3U);
  expect_times(paths()[0], 25'000, 32'000);
  expect_times(paths()[1], 32'100, 39'000);
  expect_times(paths()[2], 39'100, 41'000);
}

TEST_F(TriggerRecorderTest, ARestWithoutFramesIsNoFile) {
  options.longest = seconds(7);
  make();
  frames(0, 10'000);
  trigger("one", 8'000);   // 3 s to 10 s, as long as a file may be
  trigger("two", 9'000);   // its last second goes on in the next file, if anything comes
  frames(10'000, 10'100);  // the first one is full
  recorder->tick();
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 1U);
  expect_times(paths()[0], 3'000, 10'000);
  EXPECT_EQ(read_files(paths()).files[0].comment, "one\ntwo");
  EXPECT_EQ(recorder->summary().files, 1U);
  EXPECT_EQ(recorder->summary().refused_triggers, 0U);
}

TEST_F(TriggerRecorderTest, ARestWaitsForItsFrames) {
  options.longest = seconds(7);
  make();
  frames(0, 10'000);
  trigger("one", 8'000);
  trigger("two", 9'000);
  frames(10'000, 10'100);
  recorder->tick();
  frames(10'500, 12'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 2U);
  expect_times(paths()[0], 3'000, 10'000);
  expect_times(paths()[1], 10'500, 11'000);
  EXPECT_EQ(read_files({paths()[1]}).files[0].comment, "two");
}

TEST_F(TriggerRecorderTest, ATriggerDuringAnotherMakesItsFileLonger) {
  make();
  frames(0, 10'000);
  trigger("one", 9'000);
  trigger("two", 9'500);  // before any frame came
  frames(10'000, 11'000);
  trigger("three", 11'400);
  frames(11'000, 20'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 1U);
  expect_times(paths()[0], 4'000, 13'400);
  EXPECT_EQ(read_files(paths()).files[0].comment, "one\ntwo");
  const Bytes bytes = read_bytes(paths()[0]);
  const std::string three = "three";
  EXPECT_NE(std::search(bytes.begin(), bytes.end(), three.begin(), three.end()), bytes.end());
}

TEST_F(TriggerRecorderTest, TheBoundOfMemoryIsKeptAndSaid) {
  options.memory_bytes = 4U << 20U;
  make();
  frames(0, 20'000, 60'000);
  trigger("too late for all of it", 19'900);
  frames(20'000, 23'000, 60'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 1U);
  const std::vector<std::int64_t> times = times_of(paths()[0]);
  ASSERT_FALSE(times.empty());
  EXPECT_GT(times.front(), 15'000);
  EXPECT_EQ(times.back(), 21'900);
  EXPECT_EQ(times.size(), static_cast<std::size_t>((times.back() - times.front()) / 100 + 1));
  ASSERT_EQ(recorder->summary().notices.size(), 1U);
  EXPECT_NE(recorder->summary().notices[0].find("was too small (--trigger-memory)"), std::string::npos);
  EXPECT_NE(read_files(paths()).files[0].comment.find("was too small (--trigger-memory)"), std::string::npos);
}

TEST_F(TriggerRecorderTest, WhatBelongsIntoAFileIsNotLostForWantOfMemory) {
  options.memory_bytes = 4U << 20U;
  options.after = seconds(100);
  make();
  frames(0, 1'000, 1000);
  trigger("long", 500);
  frames(1'000, 100'000, 60'000);  // 60 MB
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 1U);
  expect_times(paths()[0], 0, 99'900);
  EXPECT_TRUE(recorder->summary().notices.empty()) << "before the capture nothing was to be held";
}

TEST_F(TriggerRecorderTest, LimitsOfFilesAndBytes) {
  options.most_files = 2;
  make();
  for (std::int64_t i = 0; i < 5; ++i) {
    frames(i * 100'000, i * 100'000 + 9'000);
    trigger("number " + std::to_string(i), i * 100'000 + 6'000);
  }
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(paths().size(), 2U);
  EXPECT_EQ(recorder->summary().refused_triggers, 3U);

  for (const std::string& path : paths()) unlink(path.c_str());
  options.most_files = 0;
  options.most_bytes = 8'000;
  make();
  frames(0, 20'000);
  trigger("fills it", 19'000);
  frames(20'000, 30'000);
  trigger("too late", 29'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 1U);
  EXPECT_LE(read_bytes(paths()[0]).size(), 8'000U);
  EXPECT_FALSE(times_of(paths()[0]).empty());
  EXPECT_EQ(recorder->summary().refused_triggers, 1U);
  ASSERT_EQ(recorder->summary().notices.size(), 1U);
}

TEST_F(TriggerRecorderTest, StatisticsAreOfTheTimeOfTheFile) {
  make();
  for (std::int64_t ms = 0; ms < 20'000; ms += 100) {
    interfaces[0].received = static_cast<std::uint64_t>(ms / 100 + 1);
    interfaces[0].dropped_by_kernel = ms < 10'000 ? 500 : 507;
    frame(ms);
    if (ms == 12'000) trigger("drops", 12'000);
  }
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 1U);
  const Everything all = read_files(paths());
  EXPECT_EQ(all.interfaces[0].dropped_by_kernel, 7U);
  EXPECT_EQ(all.frames.size(), 71U);
  EXPECT_GE(all.interfaces[0].received.value_or(0), 70U);
  EXPECT_LE(all.interfaces[0].received.value_or(0), 73U);
}

TEST_F(TriggerRecorderTest, SurvivesClocksThatAreSetAndFramesWithoutTime) {
  make();
  frames(0, 3'000);
  frames(-3'600'000, -3'590'000);  // an hour back
  trigger("after the step", -3'592'000);
  Frame untimed;
  untimed.time_ns = no_time;
  untimed.link_type = 1;
  EXPECT_EQ(recorder->record({&untimed, 1}, interfaces), 1U);
  frames(86'400'000, 86'401'000);  // a day on
  recorder->trigger("end of time", INT64_MAX);
  recorder->trigger("begin of time", INT64_MIN);
  EXPECT_TRUE(recorder->finish(interfaces));
  ASSERT_GE(paths().size(), 1U);
  EXPECT_FALSE(recorder->error());
  const Everything all = read_files({paths()[0]});
  EXPECT_TRUE(all.errors.empty());
  EXPECT_TRUE(std::any_of(all.frames.begin(), all.frames.end(),
                          [](const Copy& one) { return one.time_ns == start - 3592 * second; }));
}

TEST_F(TriggerRecorderTest, IdleTrafficEndsAFileToo) {
  make();
  frames(0, 1'000);
  trigger("last words of a link", 900);
  recorder->tick();
  ASSERT_EQ(paths().size(), 1U);
  interfaces[0].received = 10;
  EXPECT_EQ(recorder->record({}, interfaces), 0U);
  steady += seconds(4);
  recorder->tick();
  EXPECT_EQ(times_of(paths()[0]).size(), 10U);
  EXPECT_EQ(read_files(paths()).interfaces[0].received, 10U) << "closed, with its statistics";
  frame(5'000);
  trigger("it is back", 5'000);
  EXPECT_TRUE(recorder->finish(interfaces));
  EXPECT_EQ(paths().size(), 2U);
}

TEST_F(TriggerRecorderTest, AFullDiskEndsTheRecording) {
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 2'000;
  make();
  frames(0, 10'000);
  setrlimit(RLIMIT_FSIZE, &small);
  trigger("no room", 9'000);
  frames(10'000, 11'000);
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(recorder->error());
  EXPECT_TRUE(recorder->ended());
  EXPECT_EQ(recorder->error()->system_errno, EFBIG);
  EXPECT_FALSE(recorder->finish(interfaces));
  ASSERT_EQ(paths().size(), 1U);
  EXPECT_EQ(recorder->summary().packets, times_of(paths()[0]).size());
}

TEST(HeldFrames, FirstInFirstOutWithinItsBound) {
  constexpr std::size_t bound = 8U << 20U;
  HeldFrames held(bound);
  std::uint64_t in = 0;
  std::uint64_t out = 0;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    const Bytes bytes(i % 1500, static_cast<std::uint8_t>(i));
    Frame frame;
    frame.data = bytes.data();
    frame.captured = static_cast<std::uint32_t>(bytes.size());
    while (held.full_for(bytes.size())) {
      const HeldFrames::Held& oldest = held.front().front();
      EXPECT_EQ(oldest.time_ns, static_cast<std::int64_t>(out));
      EXPECT_EQ(Bytes(oldest.frame.data, oldest.frame.data + oldest.frame.captured),
                Bytes(out % 1500, static_cast<std::uint8_t>(out)));
      held.pop();
      ++out;
    }
    held.push(frame, static_cast<std::int64_t>(in++));
    EXPECT_LE(held.bytes(), bound);
  }
  EXPECT_EQ(held.count(), in - out);
  EXPECT_GT(out, 0U);
  while (!held.empty()) held.pop();
  EXPECT_LE(held.bytes(), 2U << 20U);
}

}  // namespace
}  // namespace trigger_recorder_test
}  // namespace roce::capture::test
