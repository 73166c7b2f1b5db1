// SPDX-License-Identifier: Apache-2.0
// The sniffer on the stand-in: what was delivered is what arrives.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "tests/capture/sniffer/sniffer_support.hpp"

namespace roce::capture::test {
namespace {

std::uint64_t number_of(const std::vector<std::uint8_t>& frame) {
  std::uint64_t number = 0;
  std::memcpy(&number, frame.data() + 14, sizeof number);
  return number;
}
constexpr std::int64_t first_stamp = 1'700'000'000'000'000'000;

TEST_F(SnifferTest, DeliversEveryFrameWithItsBytesAndItsTime) {
  connectx();
  open("frames 200000 74\n");
  read(200'000);
  ASSERT_EQ(got_.size(), 200'000U);
  EXPECT_EQ(error_, "");
  for (std::size_t i = 0; i < got_.size(); ++i) {
    ASSERT_EQ(got_[i].bytes.size(), 74U);
    ASSERT_EQ(number_of(got_[i].bytes), i);
    ASSERT_EQ(got_[i].frame.time_ns, first_stamp + static_cast<std::int64_t>(i) * 1000);
    ASSERT_EQ(got_[i].frame.wire, 74U);
    ASSERT_EQ(got_[i].frame.link_type, 1U);
    ASSERT_EQ(got_[i].bytes[73], 0xa5);
  }
  EXPECT_EQ(report().delivered, 200'000U);
  EXPECT_EQ(source_->counts().received, 200'000U);
  EXPECT_EQ(source_->counts().dropped(), 0U);
}

TEST_F(SnifferTest, DeliversTheFramesOfASample) {
  const std::string sample = ROCE_SAMPLES "/03_rping.pcap";
  open("file \"" + sample + "\" 7\n");  // the checkout may lie in a folder with a space
  auto expected = open_files({sample});
  ASSERT_TRUE(expected);
  FrameBatch batch;
  std::vector<Got> wanted;
  while (true) {
    const auto some = (*expected)->next_batch(batch, 4096);
    ASSERT_TRUE(some);
    if (*some == 0) break;
    for (const Frame& frame : batch.frames)
      wanted.push_back({{frame.data, frame.data + frame.captured}, frame});
    batch.clear();
  }
  ASSERT_FALSE(wanted.empty());
  read(wanted.size());
  ASSERT_EQ(got_.size(), wanted.size());
  for (std::size_t i = 0; i < got_.size(); ++i) {
    ASSERT_EQ(got_[i].bytes, wanted[i].bytes);
    ASSERT_EQ(got_[i].frame.time_ns, wanted[i].frame.time_ns);
  }
}

TEST_F(SnifferTest, TellsWhatWasSentByTheMacAddress) {
  connectx();  // 02:…:01: every third of the frames comes from it
  open("frames 3000 60\n");
  read(3000);
  ASSERT_EQ(got_.size(), 3000U);
  for (const Got& got : got_) ASSERT_EQ(got.frame.interface, number_of(got.bytes) % 3 == 2 ? 1 : 0);
  ASSERT_EQ(source_->interfaces().size(), 2U);
  EXPECT_EQ(source_->interfaces()[0].name, "mlx5_0:1");
  EXPECT_EQ(source_->interfaces()[1].name, "mlx5_0:1 (sent)");
  EXPECT_EQ(source_->interfaces()[0].packets, 2000U);
  EXPECT_EQ(source_->interfaces()[1].packets, 1000U);
}

TEST_F(SnifferTest, TellsWhatWasSentByALinkLocalGid) {
  open("gid fe80000000000000000000fffe000001\nframes 300 60\n");  // of 02:00:00:00:00:01, without any sysfs
  read(300);
  ASSERT_EQ(got_.size(), 300U);
  for (const Got& got : got_) ASSERT_EQ(got.frame.interface, number_of(got.bytes) % 3 == 2 ? 1 : 0);
}

TEST_F(SnifferTest, WorksOnAnInfinibandPort) {
  open("layer infiniband\nlid 20\nframes 10 60\n");
  read(10);
  ASSERT_EQ(got_.size(), 10U);
  EXPECT_EQ(got_[0].frame.link_type, 247U);
  EXPECT_EQ(source_->interfaces()[0].link_type, 247U);
}

TEST_F(SnifferTest, CutsToTheSnapLengthAndKeepsTheLengthOnTheWire) {
  options_.snap_length = 64;
  open("frames 100 1500\n");
  read(100);
  ASSERT_EQ(got_.size(), 100U);
  for (const Got& got : got_) {
    ASSERT_EQ(got.bytes.size(), 64U);
    ASSERT_EQ(got.frame.wire, 1500U);
  }
}

TEST_F(SnifferTest, SaysWhoseTheTimesAreAndStampsItselfWhereTheDeviceDoesNot) {
  script("stamps no\nframes 5000 60\n");
  std::int64_t clock = 1000;
  SnifferWorld own_clock = world();
  own_clock.wall_clock = [&clock] { return clock += 1000; };
  auto sniffer = Sniffer::open(options_, own_clock);
  ASSERT_TRUE(sniffer) << sniffer.error().describe();
  const std::string told = (*sniffer)->interfaces()[0].description;
  EXPECT_NE(told.find("timestamps of the system"), std::string::npos) << told;
  sniffer_ = sniffer->get();
  auto source = make_live_source(std::move(*sniffer), options_);
  ASSERT_TRUE(source);
  source_ = std::move(*source);
  read(5000);
  ASSERT_EQ(got_.size(), 5000U);
  for (std::size_t i = 0; i < got_.size(); ++i) {
    ASSERT_EQ(number_of(got_[i].bytes), i);
    ASSERT_GT(got_[i].frame.time_ns, 1000);
    ASSERT_GE(got_[i].frame.time_ns, got_[i == 0 ? 0 : i - 1].frame.time_ns);
  }
}

TEST_F(SnifferTest, SaysThatTheDevicesClockDiffers) {
  open("frames 10 60\n");  // of 2023
  const std::string told = source_->interfaces()[0].description;
  EXPECT_NE(told.find("timestamps of the device"), std::string::npos) << told;
  read(10);
  ASSERT_FALSE(notices().empty());
  EXPECT_NE(notices()[0].find("s behind the system's"), std::string::npos) << notices()[0];
}

TEST_F(SnifferTest, IsWokenWhenFramesComeAfterAPause) {
  open("frames 10 60\nwait_armed\nframes 10 60\nwait_armed\nframes 10 60\n");
  read(30);
  EXPECT_EQ(got_.size(), 30U);
  EXPECT_GE(report().wakeups, 2U);
}

TEST_F(SnifferTest, FindsWhatCameBeforeItWasArmed) {
  // Nobody is woken for these: only another look finds them.
  open("frames 10 60\nrace\nframes 10 60\n");
  read(20);
  EXPECT_EQ(got_.size(), 20U);
  EXPECT_EQ(report().wakeups, 0U);
}

TEST_F(SnifferTest, StopsWhileNothingComes) {
  open("wait_armed\nwait_armed\nwait_armed\nwait_armed\n");
  source_->request_stop();
  read(1);
  EXPECT_EQ(error_, "");
  EXPECT_TRUE(got_.empty());
}

TEST_F(SnifferTest, GivesOutWhatLayInTheRingWhenItIsStopped) {
  open("frames 1000 60 1000\n");
  source_->request_stop();
  read(1);
  EXPECT_EQ(got_.size(), report().delivered);
}

TEST_F(SnifferTest, PlansItsRingBySpeedAndTime) {
  connectx();
  options_.ring_time = std::chrono::milliseconds(1);
  open("frames 1 60\n");
  // 100 Gbit/s for 1 ms, in frames of 4096 + 74 + 24 bytes.
  EXPECT_EQ(report().receives, 2981U);
  EXPECT_EQ(report().buffer_bytes, 4352U);
  EXPECT_NE(source_->interfaces()[0].description.find("2981 buffers of 4352 bytes (13 MB), 1.0 ms"),
            std::string::npos)
      << source_->interfaces()[0].description;
  EXPECT_EQ(source_->interfaces()[0].speed_bps, 100'000'000'000U);
  read(1);
}

TEST_F(SnifferTest, TakesASmallerRingWhereTheDeviceAllowsLessThanItSays) {
  connectx();
  open("raw_limit 9000\nframes 20000 60\n");
  read(20'000);
  EXPECT_EQ(got_.size(), 20'000U);
  EXPECT_EQ(report().receives, 8192U);
  EXPECT_NE(source_->interfaces()[0].description.find("8192 buffers"), std::string::npos);
  EXPECT_NE(source_->interfaces()[0].description.find("the device's limit"), std::string::npos);
}

}  // namespace
}  // namespace roce::capture::test
