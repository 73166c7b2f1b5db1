// SPDX-License-Identifier: Apache-2.0
// Comparisons with a capture that lacks packets which passed its point.
#include <gtest/gtest.h>

#include <cstdint>

#include "analyze/compare/compare_words.hpp"
#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint32_t messages = 600;

/// Rounds of three messages and an ACK; `lost` messages never reach B and are sent again. `kept` of each
/// `one_in` packets that pass it are in B's capture.
CompareResult talk(TwoPoints& points, unsigned kept, unsigned one_in, std::uint32_t lost_one_in) {
  unsigned passed = 0;
  const auto way = [&] {
    TwoPoints::Way there;
    there.in_second = passed++ % one_in < kept;
    return there;
  };
  const auto back = [&] {
    TwoPoints::Way here;
    here.in_first = passed++ % one_in < kept;
    return here;
  };
  std::int64_t at_ns = 0;
  for (std::uint32_t psn = 0; psn < messages; psn += 3) {
    const bool lossy = lost_one_in != 0 && psn % lost_one_in == 0 && psn != 0;
    TwoPoints::Way gone;
    gone.in_second = false;
    for (std::uint32_t i = 0; i < 3; ++i)
      points.send(0, psn + i, at_ns += 5'000, lossy && i == 0 ? gone : way());
    if (lossy) {
      at_ns += 1'000'000;
      for (std::uint32_t i = 0; i < 3; ++i) points.send(0, psn + i, at_ns += 5'000, way());
    }
    points.send(1, psn + 2, at_ns += 50'000, back());
  }
  return points.result();
}

TEST(CompareLacking, ASampleProvesNoLoss) {
  for (const std::uint32_t lost_one_in : {0U, 30U}) {
    TwoPoints points;
    const CompareResult r = talk(points, 1, 15, lost_one_in);
    EXPECT_EQ(r.directions[0].lost.count + r.directions[1].lost.count, 0U) << lost_one_in;
    EXPECT_TRUE(r.lost.empty());
    for (const CompareFinding& finding : r.findings) EXPECT_NE(finding.id, "lost_between");
    for (const CompareDirection& d : r.directions) {
      EXPECT_EQ(d.repeats[RepeatCause::lost_between], 0U);
      EXPECT_EQ(d.repeats[RepeatCause::ack_lost_between], 0U);
      EXPECT_EQ(d.repeats[RepeatCause::response_lost_between], 0U);
    }
    EXPECT_NEAR(r.points[1].lacks, 14.0 / 15, 0.05);
    EXPECT_EQ(r.points[0].lacks, 0);
    EXPECT_NE(compare_limits_text(r).find("the capture at B lacks"), std::string::npos);
  }
}

// Nobody acknowledges datagrams, so that nothing shows what arrived.
TEST(CompareLacking, ASampleOfDatagramsProvesNoLoss) {
  constexpr std::uint8_t ud_send_only = 0x64;
  TwoPoints points;
  for (std::uint32_t psn = 0; psn < 60; ++psn) {
    support::RoceFrame frame = points.frame(0, psn);
    frame.bth.opcode = ud_send_only;
    TwoPoints::Way way;
    way.in_second = psn % 9 == 0;
    points.send(0, frame, psn * 20'000, way);
  }
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].matched, 7U);
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_GT(r.directions[0].undecided, 40U);
  EXPECT_NE(compare_limits_text(r).find("losses from A to B cannot be judged"), std::string::npos);
}

// The losses of a network that loses more than the capture lacks stay what they are.
TEST(CompareLacking, LossesBeyondWhatTheCaptureLacksAreLosses) {
  TwoPoints points;
  const CompareResult r = talk(points, 40, 41, 6);
  EXPECT_GE(r.directions[0].lost.count, messages / 6 - 1);
  EXPECT_TRUE(r.directions[0].judges_losses);
  EXPECT_GT(r.points[1].lacks, 0.01);
}

TEST(CompareLacking, AWholeCaptureIsNotLimited) {
  TwoPoints points;
  const CompareResult r = talk(points, 1, 1, 30);
  EXPECT_EQ(r.directions[0].lost.count, messages / 30 - 1);
  EXPECT_EQ(r.directions[0].undecided, 0U);
  EXPECT_TRUE(compare_limits_text(r).empty());
}

}  // namespace
}  // namespace roce::analyze
