// SPDX-License-Identifier: Apache-2.0
// MRC at two points: what was lost is sent again; nothing else that one point lacks is a loss.
#include <gtest/gtest.h>

#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint16_t first_port = 50'000;

/// Writes of one stream, sprayed over four paths.
void spray(TwoPoints& points, std::uint32_t psn, std::int64_t at_ns, const TwoPoints::Way& way,
           unsigned detour = 0) {
  support::RoceFrame frame = points.frame(0, psn);
  constexpr std::uint8_t mrc_write_only = 0xca;
  frame.udp_source = static_cast<std::uint16_t>(first_port + (psn + detour) % 4);
  frame.bth.opcode = mrc_write_only;
  frame.extended = {};
  frame.extended.immediate(psn).reth(0x1000, 7, 64);  // METH has the size of an immediate
  points.send(0, frame, at_ns, way);
}

void spray(TwoPoints& points, std::uint32_t from, std::uint32_t to, std::int64_t at_ns) {
  for (std::uint32_t psn = from; psn < to; ++psn) {
    TwoPoints::Way way;
    way.delay_ns = 10'000 + psn % 4 * 3'000;  // they overtake each other
    spray(points, psn, at_ns + std::int64_t{psn} * 1'000, way);
  }
}

TwoPoints::Way unseen() {
  TwoPoints::Way way;
  way.in_second = false;
  return way;
}

TEST(CompareMrc, WhatIsSentAgainWasLost) {
  TwoPoints points;
  spray(points, 0, 40, 0);
  spray(points, 40, 50'000, unseen());
  spray(points, 40, 60'000, unseen(), 1);  // its repeat is lost, too
  spray(points, 40, 90'000, {}, 2);
  spray(points, 41, 80, 100'000);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].lost.count, 2U);
  EXPECT_EQ(r.directions[0].repaired, 2U);
  EXPECT_EQ(r.directions[0].undecided + r.directions[0].elsewhere, 0U);
  EXPECT_EQ(r.directions[0].late.count, 0U) << "nobody expects sprayed packets in order";
  ASSERT_EQ(r.lost.size(), 2U);
  EXPECT_EQ(r.lost[0].port, first_port);
  EXPECT_EQ(r.lost[1].port, first_port + 1);
  EXPECT_EQ(r.lost[0].repaired_by, 43U);
  EXPECT_EQ(r.paths.front().lost, 1U);
  EXPECT_NE(find_finding(r, "lost_between"), nullptr);
}

TEST(CompareMrc, WhatIsNotSentAgainIsLeftOpen) {
  TwoPoints points;
  spray(points, 0, 40, 0);
  for (std::uint32_t psn = 40; psn < 60; ++psn) spray(points, psn, 40'000 + psn * 1000, unseen());
  spray(points, 60, 100, 100'000);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_EQ(r.directions[0].undecided, 20U);
  EXPECT_TRUE(r.lost.empty());
  EXPECT_EQ(find_finding(r, "lost_between"), nullptr);
}

TEST(CompareMrc, PathsOfOnePointOnlyLoseNothing) {
  TwoPoints points;
  for (std::uint32_t psn = 0; psn < 100; ++psn) {
    TwoPoints::Way way;
    way.in_second = psn % 4 != 3;  // one of four goes another way
    way.in_first = psn % 4 != 2;   // and so does one that the second point sees
    spray(points, psn, std::int64_t{psn} * 1'000, way);
    // Lost on the other way: not between the points.
    if (psn == 47) spray(points, psn, std::int64_t{psn} * 1'000 + 500, {}, 1);
  }
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_EQ(r.directions[0].missed.count, 0U) << "no buffer of a capture is too small";
  EXPECT_EQ(r.directions[0].elsewhere, 49U);  // of 50 the last one is behind the end of the other capture
  EXPECT_EQ(r.directions[0].undecided, 0U);
  EXPECT_EQ(find_finding(r, "missed_by_capture"), nullptr);
}

TEST(CompareMrc, APathThatLosesAllIsTold) {
  TwoPoints points;
  for (std::uint32_t psn = 0; psn < 100; ++psn) {
    TwoPoints::Way way;
    way.in_second = psn % 4 != 3;
    spray(points, psn, std::int64_t{psn} * 1'000, way);
    if (psn % 4 == 3) spray(points, psn, std::int64_t{psn} * 1'000 + 500, {}, 1);
  }
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].lost.count, 25U);
  EXPECT_EQ(r.paths.front().port, first_port + 3);
  EXPECT_EQ(r.paths.front().lost, 25U);
}

}  // namespace
}  // namespace roce::analyze
