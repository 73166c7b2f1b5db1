// SPDX-License-Identifier: Apache-2.0
// What a trouble did to the traffic: its severity, its part of the repeats, its times.
#include <algorithm>
#include <memory>
#include <string>

#include "tests/analyze/diagnosis/diagnosis_support.hpp"

namespace roce::analyze {
namespace {

TEST(Diagnosis, TwiceInAShortCaptureIsALargeShare) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  c.packets = {400, 400};
  happen(c.sent[0], Event::lost_before_capture, 6);
  for (std::int64_t i = 0; i < 2; ++i) {
    What what;
    what.lost_before = 3;
    what.start_ns = i * test_second;
    maker.happened(c, what);
  }
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 1U);
  EXPECT_EQ(said[0].severity, Consequence::degraded) << said[0].sentence;
}

TEST(Diagnosis, EachTroubleHasItsOwnPartOfTheRepeats) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  maker.lose(c, 40);  // 1600 of 10 000 packets are sent again
  happen(c.sent[0], Event::retransmitted_nak, 400);
  for (std::int64_t i = 0; i < 10; ++i) {
    What what;
    what.what = IncidentKind::reordering;
    what.start_ns = 8 * test_second + i * 10'000'000;
    maker.happened(c, what);
  }
  const auto& said = maker.say();
  ASSERT_EQ(said.size(), 2U);
  EXPECT_NE(said[0].sentence.find("; 16.0 % of what 10.0.0.1 sends are repeats for that"), std::string::npos)
      << said[0].sentence;
  EXPECT_NE(said[1].sentence.find("; 4.0 % of what 10.0.0.1 sends are repeats for that"), std::string::npos)
      << said[1].sentence;
}

TEST(Diagnosis, APauseIsAsLongAsItsPortHoldsTheLink) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  constexpr std::uint64_t mac = 0x0200000000ff;
  maker.snapshot.flows[*c.flow[1]].source_mac = mac;
  for (int i = 0; i < 12; ++i) {
    What what;
    what.what = IncidentKind::timeout;
    what.learned = LearnedBy::timer;
    what.learned_after_ns = 1'000'000;
    what.start_ns = test_second + 10'000'000 * i;
    maker.happened(c, what);
  }
  PausePort& port = maker.snapshot.pauses.ports.emplace_back();
  port.mac = mac;
  PauseLane lane;
  lane.pauses = lane.xoff.count = 50;  // at an unknown speed, nobody knows that they are one
  lane.xoff.first_time_ns = test_second;
  lane.xoff.last_time_ns = test_second + 300'000'000;
  lane.watchdog = std::make_unique<WatchdogFacts>();
  lane.watchdog->fires.add(7, test_second + 200'000);
  maker.snapshot.pauses.watchdog = {200'000, 400'000};
  port.lanes[3] = std::make_unique<PauseLane>(lane);
  const auto& said = maker.say();
  ASSERT_FALSE(said.empty());
  EXPECT_EQ(
      said[0].sentence.find("10.0.0.2 pauses its link once, for up to 300 ms: what is sent to it waits"), 0U)
      << said[0].sentence;
  const bool watched = std::any_of(said[0].facts.begin(), said[0].facts.end(), [](const std::string& fact) {
    return fact.find("should have fired once on priority 3") != std::string::npos;
  });
  EXPECT_TRUE(watched) << "what was asked for with --pfc-watchdog is answered";
}

}  // namespace
}  // namespace roce::analyze
