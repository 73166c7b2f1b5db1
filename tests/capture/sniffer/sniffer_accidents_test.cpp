// SPDX-License-Identifier: Apache-2.0
// The sniffer on the stand-in when things go wrong while it captures: nothing lost but what is said.
#include <algorithm>

#include "tests/capture/sniffer/sniffer_support.hpp"

namespace roce::capture::test {
namespace {

constexpr std::uint64_t all = UINT64_MAX;  // read until the device goes

class SnifferAccidents : public SnifferTest {
 protected:
  /// Runs a script to its end, which is made the removal of the device.
  void run(const std::string& text) {
    open(text + "remove\n");
    read(all);
    EXPECT_NE(error_.find("local catastrophic error"), std::string::npos) << error_;
  }
  [[nodiscard]] bool noted(const std::string& words) const {
    const auto told = notices();
    return std::any_of(told.begin(), told.end(),
                       [&](const std::string& one) { return one.find(words) != std::string::npos; });
  }
};

TEST_F(SnifferAccidents, CountsExactlyWhatTheRingHadNoRoomFor) {
  connectx();
  const std::string path = file(counter, "0\n");
  run("max_qp_wr 600\ncounter " + path + "\nframes 100000 60 1000\n");
  EXPECT_EQ(report().delivered, 60'000U);
  EXPECT_EQ(report().no_buffer, 40'000U);
  EXPECT_EQ(got_.size(), 60'000U);
  EXPECT_EQ(source_->counts().received, 60'000U);
  EXPECT_EQ(source_->counts().dropped_by_kernel, 40'000U);
  EXPECT_EQ(source_->interfaces()[0].dropped_by_kernel, 40'000U);
  EXPECT_NE(source_->interfaces()[0].description.find("the device's limit"), std::string::npos);
}

TEST_F(SnifferAccidents, CountsWhatTheQueueHadNoRoomFor) {
  connectx();
  options_.queue_bytes = 1 << 20;
  file(counter, "0\n");
  run("frames 200000 60\n");  // nobody reads in time: more than a mebibyte
  const LiveCounts counts = source_->counts();
  EXPECT_EQ(counts.received, 200'000U);
  EXPECT_EQ(counts.delivered + counts.dropped_by_queue, 200'000U);
  EXPECT_EQ(got_.size(), counts.delivered);
  EXPECT_EQ(counts.dropped_by_kernel, 0U);
}

TEST_F(SnifferAccidents, SaysThatTheRingMayHaveRunDryWhereNoCounterTells) {
  run("max_qp_wr 600\nframes 5000 60 1000\n");
  EXPECT_EQ(got_.size(), report().delivered);
  EXPECT_TRUE(noted("may have run dry"));
}

TEST_F(SnifferAccidents, GoesOnAfterACompletionWithAnError) {
  run("frames 1000 60\nerror 4\nframes 1000 60\nerror 22\nframes 1000 60\n");
  EXPECT_EQ(got_.size(), 3000U);
  EXPECT_EQ(source_->counts().dropped_by_kernel, 2U);
}

TEST_F(SnifferAccidents, StartsAQueueAgainThatIsInError) {
  for (const char* stamps : {"yes", "no"}) {
    got_.clear();
    run("stamps " + std::string(stamps) +
        "\nframes 1000 60\nbroken 4\nframes 2000 60\nbroken 2\nframes 3000 60\n");
    EXPECT_EQ(got_.size(), 6000U);
    EXPECT_EQ(report().restarts, 2U);
    EXPECT_EQ(source_->counts().dropped_by_kernel, 2U);
    EXPECT_TRUE(noted("was restarted"));
  }
}

TEST_F(SnifferAccidents, GivesUpAQueueThatFailsAgainAndAgain) {
  std::string text = "frames 1000 60\n";
  for (int i = 0; i < 20; ++i) text += "broken 4\n";
  open(text);
  read(all);
  EXPECT_EQ(got_.size(), 1000U);
  EXPECT_NE(error_.find("fails repeatedly"), std::string::npos) << error_;
}

TEST_F(SnifferAccidents, CountsFramesThatAreLongerThanTheirBuffers) {
  connectx();
  run("frames 100 60\nlong 5000\nframes 100 60\nlong 5001\nframes 100 60\n");
  EXPECT_EQ(got_.size(), 300U);
  EXPECT_EQ(report().too_long, 2U);
  EXPECT_EQ(source_->counts().dropped_by_kernel, 2U);
  EXPECT_TRUE(noted("frames longer than the ring's buffers of 4352 bytes"));
}

TEST_F(SnifferAccidents, MakesANewRingWhenTheMtuHasGrown) {
  connectx();
  run("frames 100 60\nwrite " + root_ + "/sys/class/net/eth2/mtu 9000\nlong 9014\nframes 100 9014\n");
  EXPECT_EQ(got_.size(), 200U);
  EXPECT_EQ(got_.back().bytes.size(), 9014U);
  EXPECT_EQ(report().buffer_bytes, 9216U);
  EXPECT_EQ(source_->counts().dropped_by_kernel, 1U);
  EXPECT_TRUE(noted("the interface's MTU grew to 9000"));
}

TEST_F(SnifferAccidents, KeepsItsRingWhenTheRightsForANewOneAreGone) {
  connectx();
  open("frames 100 60\nwait_armed\nwrite " + root_ +
       "/sys/class/net/eth2/mtu 9000\nlong 9014\nlong 9014\nframes 100 60\nremove\n");
  file("proc/thread-self/status", "CapEff:\t0000000000000000\n");
  read(all);
  EXPECT_EQ(got_.size(), 200U);
  EXPECT_EQ(report().too_long, 2U);
  EXPECT_EQ(source_->counts().dropped_by_kernel, 2U);
  EXPECT_EQ(report().buffer_bytes, 4352U);
}

TEST_F(SnifferAccidents, SurvivesThirtyFramesInARowThatAreTooLong) {
  connectx();
  std::string text = "frames 100 60\n";
  for (int i = 0; i < 30; ++i) text += "long 5000\n";
  run(text + "frames 100 60\n");
  EXPECT_EQ(got_.size(), 200U);
  EXPECT_EQ(source_->counts().dropped_by_kernel, 30U);
}

TEST_F(SnifferAccidents, BoundsWhatAnOverrunOfCompletionsLost) {
  connectx();
  run("max_qp_wr 1000\nframes 5000 60\noverrun 50\nframes 5000 60\n");
  EXPECT_EQ(got_.size(), 10'000U);
  EXPECT_GE(source_->counts().dropped_by_kernel, report().overrun);
  EXPECT_LE(source_->counts().dropped_by_kernel, 1000U);
  EXPECT_TRUE(noted("the completion queue overran"));
}

TEST_F(SnifferAccidents, SurvivesAPortThatGoesDownAndComesBack) {
  open(
      "frames 10 60\nnow_port_state 1\nevent 10 1\nwait_armed\nframes 10 60\nwait_armed\n"
      "now_port_state 4\nevent 9 1\nevent 9 2\nframes 10 60\nwait_armed\nremove\n");
  read(all);
  EXPECT_EQ(got_.size(), 30U);
  EXPECT_TRUE(noted("port 1 is down"));
  EXPECT_TRUE(noted("port 1 is active again"));
}

TEST_F(SnifferAccidents, SaysThatThePortIsDownFromTheBeginning) {
  open("port_state 1\n");
  EXPECT_TRUE(noted("port 1 is down: no frames until it is active"));
  source_->request_stop();
  read(1);
  EXPECT_EQ(error_, "");
}

TEST_F(SnifferAccidents, SurvivesAFloodOfEvents) {
  std::string text;
  for (int i = 0; i < 700; ++i) text += "event 18 1\nevent 11 1\nevent 14\n";
  run(text + "frames 1000 60\n");
  EXPECT_EQ(got_.size(), 1000U);
}

TEST_F(SnifferAccidents, DeliversWhatCameBeforeTheDeviceWasRemoved) {
  run("frames 12345 60\n");
  EXPECT_EQ(got_.size(), 12'345U);
  EXPECT_NE(error_.find("mlx5_0: the capture ended because the device was removed"), std::string::npos)
      << error_;
  FrameBatch batch;
  EXPECT_EQ(source_->next_batch(batch, 10).value(), 0U);
}

TEST_F(SnifferAccidents, EndsWhenTheDeviceVanishesWithoutAWord) {
  for (const char* stamps : {"yes", "no"}) {
    got_.clear();
    open("stamps " + std::string(stamps) + "\nframes 1000 60\nvanish\n");
    read(all);
    EXPECT_EQ(got_.size(), 1000U);
    EXPECT_NE(error_.find("the device was removed, reset or failed"), std::string::npos) << error_;
  }
}

TEST_F(SnifferAccidents, EndsWhenTheDeviceVanishesWhileItSleeps) {
  open("frames 10 60\nwait_armed\nframes 10 60\nwait_armed\nvanish\n");
  read(all);
  EXPECT_EQ(got_.size(), 20U);
  EXPECT_NE(error_, "");
}

TEST_F(SnifferAccidents, EndsWhenReceivesCannotBePostedAnyMore) {
  open("refuse post 5 33000\nframes 100000 60\n");
  read(all);
  EXPECT_NE(error_.find("ibv_post_recv"), std::string::npos) << error_;
  EXPECT_EQ(got_.size(), report().delivered);
}

TEST_F(SnifferAccidents, EndsWhenNoNotificationCanBeHad) {
  open("frames 10 60\nrefuse arm 5\n");
  read(all);
  EXPECT_EQ(got_.size(), 10U);
  EXPECT_NE(error_.find("ibv_req_notify_cq"), std::string::npos) << error_;
}

TEST_F(SnifferAccidents, EndsWhenTheDeviceLiesAboutItsReceives) {
  for (const char* lie : {"lie 4294967301 60", "lie 40000 60", "lie 3 4353", "lie 3 4294967295"}) {
    got_.clear();
    open("frames 10 60\n" + std::string(lie) + "\n");
    read(all);
    EXPECT_EQ(got_.size(), 10U) << lie;
    EXPECT_NE(error_.find("ibv_poll_cq"), std::string::npos) << error_;
  }
}

TEST_F(SnifferAccidents, TellsNoMoreThanAnybodyReads) {
  std::string text = "frames 10 60\n";
  for (int i = 0; i < 100; ++i) {
    text +=
        "wait_armed\nnow_port_state " + std::string(i % 2 == 0 ? "1" : "4") + "\nevent 10 1\nframes 1 60\n";
  }
  open(text + "wait_armed\nremove\n");
  read(all);
  EXPECT_EQ(got_.size(), 110U);
  EXPECT_LE(notices().size(), 65U);
}

}  // namespace
}  // namespace roce::capture::test
