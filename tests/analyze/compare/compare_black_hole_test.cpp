// SPDX-License-Identifier: Apache-2.0
// Pairs of addresses of which one point shows nothing: lost all of them, or on another way; and what is
// compared when not all of the packets are.
#include <gtest/gtest.h>

#include <variant>

#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint8_t ud_send_only = 0x64;

/// 10.0.0.1 and 10.0.0.2 talk past both points; what others send besides is chosen.
struct OtherHosts : TwoPoints {
  OtherHosts() { talk(50); }

  /// A packet as that direction's, between 10.0.0.`src` and 10.0.0.`dst`.
  support::RoceFrame between(unsigned direction, std::uint8_t src, std::uint8_t dst, std::uint32_t psn) {
    support::RoceFrame made = frame(direction, psn);
    auto& network = std::get<support::Ipv4>(made.network);
    network.source[3] = src;
    network.destination[3] = dst;
    return made;
  }
  /// Requests that only the first point shows.
  void vanish(unsigned direction, std::uint8_t src, std::uint8_t dst, unsigned times = 5) {
    Way lost;
    lost.in_second = false;
    for (unsigned i = 0; i < times; ++i)
      send(direction, between(0, src, dst, 7), 1'000'000 + std::int64_t{i} * 500'000, lost);
  }
};

TEST(CompareBlackHole, RequestsThatNobodyAnswersEndBetweenThePoints) {
  for (const unsigned direction : {0U, 1U}) {
    OtherHosts points;
    const std::uint8_t src = direction == 0 ? 1 : 2;  // a host of that side, to one that is nowhere
    points.vanish(direction, src, 9);
    const CompareResult r = points.result();
    ASSERT_EQ(r.black_holes.size(), 1U);
    EXPECT_EQ(r.black_holes[0].direction, direction);
    EXPECT_EQ(r.black_holes[0].packets.count, 5U);
    EXPECT_EQ(r.points[direction].other_pairs, 0U);
    EXPECT_EQ(r.directions[direction].lost.count, 0U);
    const Finding* found = find_finding(r, "black_hole_between");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->severity, Severity::error);
    EXPECT_EQ(found->count, 5U);
    EXPECT_EQ(found->subject, direction == 0 ? "A to B" : "B to A");
    EXPECT_NE(found->explanation.find(direction == 0 ? "10.0.0.1 > 10.0.0.9 (5)" : "10.0.0.2 > 10.0.0.9 (5)"),
              std::string::npos)
        << found->explanation;
    EXPECT_EQ(find_finding(r, "seen_at_one_point"), nullptr);
  }
}

TEST(CompareBlackHole, ToAHostThatOthersReach) {
  OtherHosts points;
  points.vanish(0, 9, 2, 2);
  const CompareResult r = points.result();
  ASSERT_EQ(r.black_holes.size(), 1U);
  const Finding* found = find_finding(r, "black_hole_between");
  ASSERT_TRUE(found != nullptr);
  EXPECT_TRUE(found->severity == Severity::warning);  // two may be lost by chance
}

TEST(CompareBlackHole, MessagesOfTheCmOughtToBeAnsweredToo) {
  OtherHosts points;
  TwoPoints::Way lost;
  lost.in_second = false;
  for (unsigned i = 0; i < 3; ++i) {
    support::RoceFrame made = points.between(0, 1, 9, i);
    made.bth.opcode = ud_send_only;
    made.bth.dest_qp = 1;
    made.extended = {};
    points.send(0, made, 1'000'000 + std::int64_t{i} * 500'000, lost);
  }
  EXPECT_EQ(points.result().black_holes.size(), 1U);
}

TEST(CompareBlackHole, WhatIsAnsweredTakesAnotherWay) {
  OtherHosts points;
  points.vanish(0, 1, 9);
  TwoPoints::Way back;
  back.in_first = false;
  points.send(1, points.between(1, 9, 1, 7), 2'000'000, back);  // seen at A, past B by another way
  const CompareResult r = points.result();
  EXPECT_TRUE(r.black_holes.empty());
  const Finding* found = find_finding(r, "seen_at_one_point");
  ASSERT_TRUE(found != nullptr);
  EXPECT_TRUE(found->severity == Severity::notice);
}

TEST(CompareBlackHole, StrangersTakeAnotherWay) {
  OtherHosts points;
  points.vanish(0, 8, 9);  // neither of them is seen at B
  const CompareResult r = points.result();
  EXPECT_TRUE(r.black_holes.empty());
  EXPECT_EQ(r.points[0].other_pairs, 1U);
}

TEST(CompareBlackHole, WhatThePointBehindShowsAloneWasMissed) {
  OtherHosts points;
  TwoPoints::Way missed;
  missed.in_first = false;
  for (unsigned i = 0; i < 5; ++i)  // from A's side, seen at B only
    points.send(0, points.between(0, 1, 9, 7), 1'000'000 + std::int64_t{i} * 500'000, missed);
  EXPECT_TRUE(points.result().black_holes.empty());
}

TEST(CompareBlackHole, WhatNeedsNoAnswerSaysNothing) {
  OtherHosts points;
  TwoPoints::Way lost;
  lost.in_second = false;
  for (unsigned i = 0; i < 5; ++i) {
    support::RoceFrame made = points.between(0, 1, 9, i);
    made.bth.opcode = ud_send_only;
    made.extended = {};
    points.send(0, made, 1'000'000 + std::int64_t{i} * 500'000, lost);
  }
  const CompareResult r = points.result();
  EXPECT_TRUE(r.black_holes.empty());
  EXPECT_EQ(r.points[0].other_pairs, 1U);
}

TEST(CompareChoice, AFilterLeavesTheRestOut) {
  TwoPoints points;
  points.talk(100);
  const auto filter = Filter::compile("roce.class == data && infiniband.bth.psn < 40");
  ASSERT_TRUE(filter.has_value());
  CompareOptions options;
  options.filter = &*filter;
  const CompareResult r = points.result(options);
  EXPECT_EQ(r.directions[0].matched, 40U);
  EXPECT_EQ(r.directions[1].matched, 0U);
  EXPECT_EQ(r.points[0].packets, 40U);
  EXPECT_EQ(r.points[0].frames, 200U);
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_TRUE(r.findings.empty());
}

TEST(CompareChoice, FiltersSeeTheIcrcAlsoWhereItIsNotChecked) {
  TwoPoints points;
  points.talk(20);
  TwoPoints::Way damage;
  damage.flip = true;
  points.send(0, 20, 3'000'000, damage);
  const auto filter = Filter::compile("roce.icrc.status == mismatch");
  ASSERT_TRUE(filter.has_value());
  CompareOptions options;
  options.filter = &*filter;
  options.check_icrc = false;
  const CompareResult r = points.result(options);
  EXPECT_EQ(r.points[0].packets, 0U);
  EXPECT_EQ(r.points[1].packets, 1U);
  EXPECT_EQ(r.points[1].damaged, 0U);
}

TEST(CompareChoice, WhatLiesOutsideOfTheTimesCountsAsNotCaptured) {
  TwoPoints points;
  points.offset_ns = 5'000'000'000;  // each by its own clock
  points.talk(100);
  TwoPoints::Way lost;
  lost.in_second = false;
  points.send(0, 200, 4'020'000, lost);
  points.send(0, 201, 9'020'000, lost);
  CompareOptions options;
  options.times.from = TimeBound{2'000'000, TimeBound::Since::first_frame};
  options.times.to = TimeBound{6'000'000, TimeBound::Since::first_frame};
  const CompareResult r = points.result(options);
  // 20 to 59 at both; 60 is sent at 6 ms, and comes to B 10 us later, as B's first packet did.
  EXPECT_EQ(r.directions[0].matched, 41U);
  EXPECT_EQ(r.directions[0].lost.count, 1U);
  EXPECT_EQ(r.directions[1].lost.count, 0U);
  EXPECT_EQ(r.points[0].frames, 202U);
  ASSERT_EQ(r.lost.size(), 1U);
  EXPECT_EQ(r.lost[0].packet, 82U);  // numbers are the file's
}

}  // namespace
}  // namespace roce::analyze
