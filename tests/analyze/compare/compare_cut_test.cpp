// SPDX-License-Identifier: Apache-2.0
// Captures of different snap lengths: what only one of them shows tells no two packets apart.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint32_t whole = 65535;
constexpr std::uint32_t bth_of_ipv4 = 54, bth_of_ipv6 = 74;  // bytes up to its end

MemorySource cut(MemorySource& from, std::uint32_t snap_length) {
  MemorySource to;
  capture::FrameBatch batch;
  (void)from.next_batch(batch, 100'000);
  for (const capture::Frame& frame : batch.frames) {
    const std::uint8_t* end = frame.data + std::min(frame.captured, snap_length);
    to.add({frame.data, end}, frame.time_ns, frame.wire);
  }
  return to;
}

/// One WRITE of 220 lost and sent again, one atomic answer of 20 lost and sent again.
CompareResult one_loss_each_way(bool ipv6, std::uint32_t snap_a, std::uint32_t snap_b) {
  TwoPoints points;
  points.ipv6 = ipv6;
  constexpr std::uint8_t compare_swap = 0x13, atomic_acknowledge = 0x12;
  TwoPoints::Way lost;
  lost.in_second = false;
  points.talk(200);
  points.send(0, 200, 20'000'000, lost);
  points.send(0, 200, 25'000'000);
  for (std::uint32_t i = 0; i < 20; ++i) {
    const std::int64_t at = 30'000'000 + i * std::int64_t{100'000};
    support::RoceFrame request = points.frame(0, 201 + i);
    request.bth.opcode = compare_swap;
    request.extended = {};
    request.extended.atomic(0x2000, 7, i, i + 1);
    request.payload = {};
    support::RoceFrame answer = points.frame(1, 201 + i);
    answer.bth.opcode = atomic_acknowledge;
    answer.extended.atomic_ack(i);
    points.send(0, request, at, {});
    if (i == 10) points.send(1, answer, at + 30'000, lost);
    points.send(1, answer, at + 50'000, {});
  }
  points.talk(20, 40'000'000, 221);
  points.fill();
  MemorySource a = cut(points.a, snap_a), b = cut(points.b, snap_b);
  return compare({&a, {}}, {&b, {}});
}

void expect_one_loss_each_way(const CompareResult& r) {
  EXPECT_EQ(r.directions[0].matched, 241U);
  EXPECT_EQ(r.directions[1].matched, 240U);
  EXPECT_EQ(r.directions[0].lost.count, 1U);
  EXPECT_EQ(r.directions[1].lost.count, 1U);
  EXPECT_EQ(r.directions[0].missed.count + r.directions[1].missed.count, 0U);
  EXPECT_EQ(r.directions[0].duplicated.count + r.directions[1].duplicated.count, 0U);
  EXPECT_EQ(r.directions[0].corrupted.count + r.directions[1].corrupted.count, 0U);
  EXPECT_EQ(r.points[0].other_pairs + r.points[1].other_pairs, 0U);
  ASSERT_EQ(r.lost.size(), 2U);
  EXPECT_EQ(r.lost[0].packet, 401U);  // not the one that repairs it
  EXPECT_EQ(r.lost[0].repaired_by, 402U);
}

TEST(CompareCut, ASnapLengthInventsNoLoss) {
  for (const bool ipv6 : {false, true}) {
    const std::uint32_t bth = ipv6 ? bth_of_ipv6 : bth_of_ipv4;
    // Up to the BTH, with an AETH, a RETH, an AtomicETH, some payload, and all.
    for (const std::uint32_t more : {0U, 4U, 10U, 16U, 28U, 60U, whole}) {
      SCOPED_TRACE(::testing::Message() << (ipv6 ? "IPv6 + " : "IPv4 + ") << more);
      expect_one_loss_each_way(one_loss_each_way(ipv6, whole, bth + more));
      expect_one_loss_each_way(one_loss_each_way(ipv6, bth + more, whole));
      expect_one_loss_each_way(one_loss_each_way(ipv6, bth + more, bth + more));
      expect_one_loss_each_way(one_loss_each_way(ipv6, bth + more, bth + 4));
    }
  }
}

TEST(CompareCut, WhatBothShowStillTellsPacketsApart) {
  // Acknowledgements of one PSN, one of them lost: only the AETH says which.
  TwoPoints points;
  points.ipv6 = true;
  points.talk(50);
  const auto acknowledge = [&](std::uint8_t syndrome, std::int64_t at, bool arrives) {
    support::RoceFrame frame = points.frame(1, 49);
    frame.extended = {};
    frame.extended.aeth(syndrome, 50);
    TwoPoints::Way way;
    way.in_second = arrives;
    points.send(1, frame, at, way);
  };
  acknowledge(0x21, 6'000'000, true);
  acknowledge(0x22, 6'001'000, false);
  acknowledge(0x23, 6'002'000, true);
  points.talk(50, 7'000'000, 50);
  points.fill();
  for (const std::uint32_t snap : {bth_of_ipv6 + 4, whole}) {
    MemorySource whole_a = points.a, whole_b = points.b;
    MemorySource a = cut(whole_a, whole), b = cut(whole_b, snap);
    const CompareResult r = compare({&a, {}}, {&b, {}});
    ASSERT_EQ(r.lost.size(), 1U) << snap;
    EXPECT_EQ(r.lost[0].packet, 102U) << snap;
    EXPECT_EQ(r.directions[1].matched, 102U) << snap;
  }
}

TEST(CompareCut, DamageIsNotSaidToBeBetweenWhereTheFirstPointCannotTell) {
  TwoPoints points;
  points.talk(50);
  TwoPoints::Way damaged;
  damaged.flip = true;
  points.send(0, 50, 5'000'000, damaged);
  points.talk(50, 6'000'000, 51);
  points.fill();
  for (const std::uint32_t snap : {bth_of_ipv4 + 16, whole}) {
    MemorySource whole_a = points.a, whole_b = points.b;
    MemorySource a = cut(whole_a, snap), b = cut(whole_b, whole);
    const CompareResult r = compare({&a, {}}, {&b, {}});
    EXPECT_EQ(r.directions[0].matched, 101U) << snap;
    EXPECT_EQ(r.directions[0].corrupted.count, snap == whole ? 1U : 0U);
    EXPECT_EQ(r.points[1].damaged, 1U) << snap;
  }
}

}  // namespace
}  // namespace roce::analyze
