// SPDX-License-Identifier: Apache-2.0
// Clocks that differ and drift, and marks that change on the way: two captures made by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <variant>

#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace {

TEST(CompareClocks, StatesTheOffset) {
  // 10 us there, 4 us back: the middle is 3 us off, and 7 us are stated as the error.
  for (const std::int64_t offset : {0LL, 3'000'000LL, -5'000'000'000LL, 3'600'000'000'000LL}) {
    TwoPoints points;
    points.offset_ns = offset;
    TwoPoints::Way back, lost;
    back.delay_ns = 4'000;
    lost.in_second = false;
    for (std::uint32_t i = 0; i < 500; ++i) {
      points.send(0, i, i * 100'000, i == 250 ? lost : TwoPoints::Way{});
      points.send(1, i, i * 100'000 + 50'000, back);
    }
    const CompareResult r = points.result();
    ASSERT_TRUE(r.clocks.offset_ns.has_value());
    EXPECT_EQ(*r.clocks.offset_ns, offset + 3'000);
    EXPECT_EQ(*r.clocks.error_ns, 7'000);
    EXPECT_FALSE(r.clocks.drift_ppm.has_value());
    for (const CompareDirection& d : r.directions) {
      EXPECT_EQ(d.delay->min, 7'000);
      EXPECT_EQ(d.delay->p50, 7'000);
      EXPECT_EQ(d.delay->max, 7'000);
    }
    EXPECT_EQ(r.directions[0].missed_behind.count, 1U);  // acknowledged all the same
    EXPECT_EQ(r.directions[0].lost.count + r.directions[1].lost.count, 0U);
  }
}

TEST(CompareClocks, FollowsDrift) {
  TwoPoints points;
  points.offset_ns = 1'000'000;
  points.drift = 50e-6;
  TwoPoints::Way lost;
  lost.in_second = false;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    const std::int64_t at = std::int64_t{i} * 5'000'000;  // 10 s: 500 us of drift
    TwoPoints::Way there;
    there.delay_ns = 10'000 + i % 7 * 1'000;
    points.send(0, i, at, i % 100 == 50 ? lost : there);
    points.send(1, i, at + 1'000'000, there);
  }
  const CompareResult r = points.result();
  ASSERT_TRUE(r.clocks.drift_ppm.has_value());
  EXPECT_NEAR(*r.clocks.drift_ppm, 50, 0.1);
  EXPECT_NEAR(static_cast<double>(*r.clocks.offset_ns), 1'000'000, 500);
  for (const CompareDirection& d : r.directions) {
    EXPECT_NEAR(static_cast<double>(d.delay->min), 10'000, 500);
    EXPECT_NEAR(static_cast<double>(d.delay->p50), 13'000, 500);
    EXPECT_NEAR(static_cast<double>(d.delay->max), 16'000, 500);
  }
  EXPECT_EQ(r.directions[0].missed_behind.count, 20U);
}

TEST(CompareClocks, TakesNoQueueForADrift) {
  TwoPoints points;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    TwoPoints::Way there;
    there.delay_ns = 10'000 + i * 100;  // a queue that grows, in one direction
    points.send(0, i, std::int64_t{i} * 1'000'000, there);
    points.send(1, i, std::int64_t{i} * 1'000'000 + 500'000);
  }
  const CompareResult r = points.result();
  EXPECT_FALSE(r.clocks.drift_ppm.has_value());
  EXPECT_EQ(*r.clocks.offset_ns, 0);
  EXPECT_EQ(r.directions[0].delay->max, 10'000 + 1999 * 100);
}

TEST(CompareClocks, FindsTheBeginningOfALaterFile) {
  // B begins 60 000 packets later and its clock is an hour ahead: the beginnings have nothing in common.
  constexpr std::uint32_t alone = 60'000;
  const auto make = [](TwoPoints& points) {
    points.offset_ns = 3'600'000'000'000;
    TwoPoints::Way unseen, unsent;
    unseen.in_second = false;
    unsent.in_first = false;
    for (std::uint32_t i = 0; i < alone; ++i) points.send(0, i, std::int64_t{i} * 1000, unseen);
    points.talk(1000, 100'000'000, alone);
    points.fill();
  };
  TwoPoints points, again;
  make(points);
  make(again);
  const auto look = [](MemorySource& source) {
    return [&source] { return std::make_unique<MemorySource>(source); };
  };
  const CompareResult r = compare({&points.a, look(again.a)}, {&points.b, look(again.b)});
  EXPECT_EQ(r.matched(), 2000U);
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_EQ(r.directions[0].not_covered, alone);
  EXPECT_EQ(r.clocks.offset_ns, 3'600'000'000'000);
}

TEST(CompareClocks, BearsTimesThatAreNone) {
  TwoPoints points;
  points.talk(50);
  points.fill();
  MemorySource a, b;
  const auto with_times = [](MemorySource& from, MemorySource& to, std::int64_t even, std::int64_t odd) {
    capture::FrameBatch batch;
    (void)from.next_batch(batch, 1000);
    bool is_odd = false;
    for (const capture::Frame& frame : batch.frames) {
      to.add({frame.data, frame.data + frame.captured}, is_odd ? odd : even);
      is_odd = !is_odd;
    }
  };
  with_times(points.a, a, INT64_MAX, INT64_MIN + 1);
  with_times(points.b, b, INT64_MIN + 1, INT64_MAX);
  const CompareResult r = compare({&a, {}}, {&b, {}});
  EXPECT_EQ(r.points[0].packets, 100U);
  EXPECT_EQ(r.points[1].packets, 100U);
  EXPECT_LE(r.matched(), 100U);
}

support::Ipv4& ipv4_of(support::RoceFrame& frame) {
  return std::get<support::Ipv4>(frame.network);
}

TEST(CompareMarks, CountsWhatChangedOnTheWay) {
  TwoPoints points;
  points.talk(100);
  TwoPoints::Way bleached, congested, routed, tagged, untagged;
  bleached.change = [](support::RoceFrame& f) { ipv4_of(f).tos = 2; };             // DSCP 26 -> 0
  congested.change = [](support::RoceFrame& f) { ipv4_of(f).tos = 26 << 2 | 3; };  // ECT(0) -> CE
  routed.change = [](support::RoceFrame& f) { ipv4_of(f).ttl = 63; };
  tagged.change = [](support::RoceFrame& f) { f.vlans = {{0x8100, 3, false, 100}}; };
  untagged.change = [](support::RoceFrame& f) { f.vlans.clear(); };
  std::uint32_t psn = 100;
  const auto send = [&](unsigned count, const TwoPoints::Way& way, bool with_tag = false) {
    for (unsigned i = 0; i < count; ++i, ++psn) {
      support::RoceFrame frame = points.frame(0, psn);
      if (with_tag) frame.vlans = {{0x8100, 5, false, 7}};
      points.send(0, frame, std::int64_t{psn} * 100'000, way);
    }
  };
  send(3, bleached);
  send(5, congested);
  send(7, routed);
  send(9, tagged);
  send(11, untagged, true);
  TwoPoints::Way repriced;  // 5 -> 0, VLAN as it is
  repriced.change = [](support::RoceFrame& f) { f.vlans.front().pcp = 0; };
  send(13, repriced, true);
  points.talk(10, 20'000'000, psn);
  const CompareResult r = points.result();
  const auto changed = [&r](MarkField field) { return r.changed[static_cast<std::size_t>(field)]; };
  EXPECT_EQ(changed(MarkField::dscp), 3U);
  EXPECT_EQ(changed(MarkField::ecn), 5U);
  EXPECT_EQ(changed(MarkField::ttl), 7U);
  EXPECT_EQ(changed(MarkField::vlan), 20U);
  EXPECT_EQ(changed(MarkField::pcp), 13U);
  EXPECT_EQ(r.vlan_added, 9U);
  EXPECT_EQ(r.vlan_removed, 11U);
  ASSERT_EQ(r.changes.size(), 6U);
  EXPECT_EQ(r.changes[0].from, 26);
  EXPECT_EQ(r.changes[0].to, 0);
  EXPECT_EQ(r.changes[0].first[0], 201U);
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  for (const char* id : {"remarked_between", "ce_between", "ttl_changed_between", "vlan_changed_between"})
    EXPECT_NE(find_finding(r, id), nullptr) << id;
  EXPECT_EQ(find_finding(r, "ecn_changed_between"), nullptr);
}

TEST(CompareMarks, ValuesGoTheWayOfThePacket) {
  TwoPoints points;
  points.talk(100);
  TwoPoints::Way way;
  way.change = [](support::RoceFrame& f) { ipv4_of(f).tos = 8 << 2; };
  points.send(1, 100, 10'000'000, way);
  points.talk(10, 20'000'000, 101);
  const CompareResult r = points.result();
  ASSERT_EQ(r.changes.size(), 2U);
  EXPECT_EQ(r.changes[0].direction, 1U);
  EXPECT_EQ(r.changes[0].from, 26);
  EXPECT_EQ(r.changes[0].to, 8);
  EXPECT_NE(find_finding(r, "ecn_changed_between"), nullptr);  // ECT(0) -> Not-ECT
}

TEST(CompareMarks, ARouterTellsTheDirection) {
  // One direction, clocks apart by more than any delay: only the TTL says who is first.
  TwoPoints points;
  points.offset_ns = -1'000'000'000;
  TwoPoints::Way routed, lost;
  routed.change = [](support::RoceFrame& f) { ipv4_of(f).ttl = 63; };
  lost.in_second = false;
  for (std::uint32_t i = 0; i < 100; ++i) points.send(0, i, i * 100'000, i == 50 ? lost : routed);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].matched, 99U);
  EXPECT_EQ(r.directions[0].lost.count, 1U);
  EXPECT_FALSE(r.clocks.offset_ns.has_value());
}

}  // namespace
}  // namespace roce::analyze
