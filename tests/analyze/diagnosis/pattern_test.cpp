// SPDX-License-Identifier: Apache-2.0
// How losses are spread over time and paths.
#include "analyze/diagnosis/pattern.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "analyze/results/diagnosis.hpp"
#include "tests/analyze/diagnosis/diagnosis_support.hpp"

namespace roce::analyze {
namespace {

TEST(DiagnosisPattern, BurstsAcrossConnections) {
  DiagnosisMaker maker;
  std::vector<Connection*> all;
  for (int i = 0; i < 8; ++i) all.push_back(&maker.connect(1, 2));
  for (std::int64_t burst = 0; burst < 5; ++burst) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      happen(all[i]->sent[0], Event::lost_before_capture, 1);
      What what;
      what.lost_before = what.lost_row = 1;
      what.start_ns = test_second + burst * burst * test_second / 4 + static_cast<std::int64_t>(i) * 500;
      maker.happened(*all[i], what);
    }
  }
  EXPECT_EQ(maker.say().at(0).pattern, Pattern::bursts);
}

TEST(DiagnosisPattern, Periodic) {
  DiagnosisMaker maker;
  Connection& c = maker.connect(1, 2);
  happen(c.sent[0], Event::lost_before_capture, 9);
  for (std::int64_t i = 0; i < 9; ++i) {
    What what;
    what.lost_before = what.lost_row = 1;
    what.start_ns = test_second * i;
    maker.happened(c, what);
  }
  EXPECT_EQ(maker.say().at(0).pattern, Pattern::periodic);
}

/// Where nothing was sent when one was due.
TEST(DiagnosisPattern, PeriodicThoughOneIsLate) {
  for (const bool even : {true, false}) {
    DiagnosisMaker maker;
    Connection& c = maker.connect(1, 2);
    happen(c.sent[0], Event::lost_before_capture, 12);
    for (std::int64_t i = 0; i < 12; ++i) {
      What what;
      what.lost_before = what.lost_row = 1;
      what.start_ns = test_second * i + (i == 5 || (!even && i % 2 == 0) ? test_second * 2 / 5 : 0);
      maker.happened(c, what);
    }
    EXPECT_EQ(maker.say().at(0).pattern, even ? Pattern::periodic : Pattern::single);
  }
}

TEST(DiagnosisPattern, OnePathOfSeveral) {
  DiagnosisMaker maker;
  for (std::uint16_t port = 49'152; port < 49'160; ++port) {
    Connection& c = maker.connect(1, 2);
    for (int i = 0; i < 100; ++i) maker.snapshot.flows[*c.flow[0]].udp_sports.add(port);
    if (port == 49'155) maker.lose(c, 12);
  }
  const auto& said = maker.say();
  EXPECT_EQ(said.at(0).pattern, Pattern::by_path);
  EXPECT_NE(said[0].facts.at(0).find("49155"), std::string::npos) << said[0].facts[0];
}

/// A single loss is on some path, whatever else follows from it.
TEST(DiagnosisPattern, OneLossIsOnNoPath) {
  DiagnosisMaker maker;
  for (std::uint16_t port = 49'152; port < 49'156; ++port) {
    Connection& c = maker.connect(1, 2);
    for (int i = 0; i < 100; ++i) maker.snapshot.flows[*c.flow[0]].udp_sports.add(port);
    if (port == 49'155) happen(c.sent[0], Event::lost_after_capture, 1);
    for (int i = 0; i < 3; ++i) {
      What what;
      what.lost_after = port == 49'155 && i == 0 ? 1 : 0;
      if (what.lost_after == 0) what.what = IncidentKind::timeout;
      maker.happened(c, what);
    }
  }
  const auto& said = maker.say();
  EXPECT_EQ(said.at(0).cause, "loss");
  EXPECT_NE(said[0].pattern, Pattern::by_path);
}

}  // namespace
}  // namespace roce::analyze
