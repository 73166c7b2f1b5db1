// SPDX-License-Identifier: Apache-2.0
// Pauses, from frames written out as bytes. Every time was computed by hand: one quantum is 512 bit times,
// 51.2 ns at 10 Gb/s, 20.48 at 25, 5.12 at 100 and 1.28 at 400.
#include "analyze/link/pause_tracker.hpp"

#include <gtest/gtest.h>

#include "analyze/results/pause_facts.hpp"
#include "tests/analyze/link/link_capture.hpp"

namespace roce::analyze {
namespace {

std::vector<std::uint8_t> other_traffic() {
  return plain_roce(switch_mac, host_mac, 0);
}

struct Speed {
  std::uint64_t gigabits;
  std::int64_t longest_ns;  ///< of 65535 quanta
  std::int64_t thousand_ns;
};
class PauseArithmetic : public testing::TestWithParam<Speed> {};
TEST_P(PauseArithmetic, QuantaAre512BitTimes) {
  const Speed& speed = GetParam();
  EXPECT_EQ(quanta_to_ns(65535, speed.gigabits * gigabit), speed.longest_ns);
  EXPECT_EQ(quanta_to_ns(1000, speed.gigabits * gigabit), speed.thousand_ns);
  EXPECT_EQ(ns_to_quanta(speed.thousand_ns, speed.gigabits * gigabit), 1000U);
  Link link(speed.gigabits * gigabit);
  link.at(0, pfc(host_mac, {{3, 1000}})).at(20 * ms, other_traffic());
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.paused_ns, speed.thousand_ns);
  EXPECT_EQ(lane.longest_ns, speed.thousand_ns);
  EXPECT_EQ(lane.expired, 1U);
  EXPECT_EQ(lane.asked_quanta, 1000U);
}
INSTANTIATE_TEST_SUITE_P(All, PauseArithmetic,
                         testing::Values(Speed{10, 3'355'392, 51'200}, Speed{25, 1'342'157, 20'480},
                                         Speed{100, 335'539, 5'120}, Speed{400, 83'885, 1'280}));

/// Where a quantum is shorter than a nanosecond, times in nanoseconds do not tell how many there were.
TEST(PauseTracker, WholeXoffsAreToldInTheirOwnQuanta) {
  constexpr std::uint64_t fastest = 800 * gigabit;
  Link link(fastest);
  for (int i = 0; i < 100; ++i) link.at(i * ms, pfc(host_mac, {{3, 65535}}));
  link.at(200 * ms, pfc(host_mac, {{3, 65535}})).at(200 * ms + 64, pfc(host_mac, {{3, 0}}));
  // Refreshed after 6400 ns: 10 000 quanta of the first.
  link.at(300 * ms, pfc(host_mac, {{3, 65535}})).at(300 * ms + 6'400, pfc(host_mac, {{3, 65535}}));
  link.at(400 * ms, other_traffic());
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.expired, 101U);
  EXPECT_EQ(paused_quanta(link.look().pauses.ports[0], lane), 101U * 65'535 + 100 + 10'000);
  EXPECT_EQ(lane.paused_ns, 101 * 41'942 + 64 + 6'400);
}

TEST(PauseTracker, XonEndsAPause) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 65535}})).at(100 * us, pfc(host_mac, {{3, 0}})).at(ms, other_traffic());
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.xoff.count, 1U);
  EXPECT_EQ(lane.xon.count, 1U);
  EXPECT_EQ(lane.pauses, 1U);
  EXPECT_EQ(lane.paused_ns, 100 * us);
  EXPECT_EQ(lane.expired, 0U);
  EXPECT_EQ(lane.needless_xon, 0U);
  EXPECT_FALSE(lane.paused_at_end);
}

TEST(PauseTracker, XoffWithoutXonExpires) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 65535}})).at(ms, pfc(host_mac, {{3, 65535}})).at(3 * ms, other_traffic());
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.pauses, 2U);
  EXPECT_EQ(lane.expired, 2U);
  EXPECT_EQ(lane.refreshed, 0U);
  EXPECT_EQ(lane.paused_ns, 2 * 335'539);
  EXPECT_EQ(lane.longest_ns, 335'539);
}

TEST(PauseTracker, XonWithoutXoffPausesNothing) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 0}})).at(ms, pfc(host_mac, {{3, 10}})).at(2 * ms, pfc(host_mac, {{3, 0}}));
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.needless_xon, 2U);  // the second one comes when the time has run out
  EXPECT_EQ(lane.xon.count, 2U);
  EXPECT_EQ(lane.expired, 1U);
  EXPECT_EQ(lane.paused_ns, 51);
}

TEST(PauseTracker, ARefreshStartsTheTimeAgain) {
  Link link;  // 335.539 µs each: 200 + 200 + 335.539
  for (int i = 0; i < 3; ++i) link.at(i * 200 * us, pfc(host_mac, {{3, 65535}}));
  link.at(2 * ms, other_traffic());
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.xoff.count, 3U);
  EXPECT_EQ(lane.refreshed, 2U);
  EXPECT_EQ(lane.pauses, 1U);
  EXPECT_EQ(lane.paused_ns, 735'539);
  EXPECT_EQ(lane.longest_packet, 1U);
  EXPECT_EQ(lane.asked_quanta, 3U * 65535U);
}

TEST(PauseTracker, ARefreshMayShortenAPause) {
  Link link;  // 10 µs, then 1000 quanta more: 5.12 µs
  link.at(0, pfc(host_mac, {{3, 65535}})).at(10 * us, pfc(host_mac, {{3, 1000}})).at(ms, other_traffic());
  EXPECT_EQ(link.lane(3).paused_ns, 15'120);
}

TEST(PauseTracker, TheCaptureMayEndWhilePaused) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 65535}})).at(50 * us, other_traffic());
  const PauseLane& lane = link.lane(3);
  EXPECT_TRUE(lane.paused_at_end);
  EXPECT_EQ(lane.paused_ns, 50 * us);
  EXPECT_EQ(lane.expired, 0U);
}

TEST(PauseTracker, PrioritiesAndPortsAreApart) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 1000}, {4, 2000}}));
  link.at(1 * us, pfc(switch_mac, {{3, 3000}}));
  link.at(2 * us, global_pause(switch_mac, 100));
  link.at(3 * us, pfc(host_mac, {{3, 0}}));
  link.at(ms, other_traffic());
  const Snapshot& s = link.look();
  ASSERT_EQ(s.pauses.ports.size(), 2U);
  const PausePort& host = s.pauses.ports[0];
  EXPECT_EQ(host.mac, 0x020000000001U);
  EXPECT_EQ(host.frames.count, 2U);
  EXPECT_EQ(host.lanes[3]->paused_ns, 3 * us);
  EXPECT_EQ(host.lanes[4]->paused_ns, 10'240);
  EXPECT_EQ(host.lanes[0], nullptr);
  const PausePort& other = s.pauses.ports[1];
  EXPECT_EQ(other.lanes[3]->paused_ns, 15'360);
  EXPECT_EQ(other.lanes[PausePort::global]->paused_ns, 512);
  // Both at once on priority 3, from 1 to 3 µs.
  ASSERT_EQ(s.pauses.mutual.size(), 1U);
  EXPECT_EQ(s.pauses.mutual[0].total_ns, 2 * us);
  EXPECT_EQ(s.pauses.mutual[0].times, 1U);
  EXPECT_EQ(s.pauses.mutual[0].lane, 3);
  EXPECT_EQ(s.pauses.mutual[0].seen.frames[0], 2U);
}

TEST(PauseTracker, BothMayExpire) {
  Link link;  // 0..5.12 µs and 2..7.12 µs
  link.at(0, pfc(host_mac, {{3, 1000}})).at(2 * us, pfc(switch_mac, {{3, 1000}})).at(ms, other_traffic());
  const Snapshot& s = link.look();
  ASSERT_EQ(s.pauses.mutual.size(), 1U);
  EXPECT_EQ(s.pauses.mutual[0].total_ns, 3'120);
}

TEST(PauseTracker, CapturePointsAreApart) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 1000}})).at(1, pfc(host_mac, {{3, 1000}})).at(ms, other_traffic());
  link.source_.interfaces_.resize(2);
  link.source_.interfaces_[1].speed_bps = 10 * gigabit;
  link.source_.interfaces_[1].point = 1;
  capture::FrameBatch batch;
  ASSERT_TRUE(link.source_.next_batch(batch, 9));
  PauseTracker tracker({});
  batch.frames[1].point = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    dissect::Dissection d;
    dissect::dissect({batch.frames[i].data, batch.frames[i].captured}, batch.frames[i].wire, 1, d);
    tracker.see(i + 1, batch.frames[i], d, link.source_.interfaces_[i].speed_bps);
  }
  const Pauses pauses = tracker.finish(Link::base + ms);
  ASSERT_EQ(pauses.ports.size(), 2U);
  EXPECT_EQ(pauses.ports[0].lanes[3]->paused_ns, 5'120);
  EXPECT_EQ(pauses.ports[1].lanes[3]->paused_ns, 51'200);
  EXPECT_TRUE(pauses.mutual.empty());
}

TEST(PauseTracker, AnUnknownSpeedGivesALowerBound) {
  Link link(0);  // as at 800 Gb/s: 0.64 ns a quantum
  link.at(0, pfc(host_mac, {{3, 1000}})).at(ms, other_traffic());
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.paused_ns, 640);
  EXPECT_EQ(lane.asked_quanta, 1000U);
  EXPECT_EQ(link.look().pauses.ports[0].speed_bps, 0U);
  EXPECT_FALSE(link.look().pauses.ports[0].speed_known);
}

TEST(PauseTracker, TheGivenSpeedOutweighsTheCaptures) {
  Link link(100 * gigabit);
  link.options_.link_speed_bps = 10 * gigabit;
  link.at(0, pfc(host_mac, {{3, 1000}})).at(ms, other_traffic());
  EXPECT_EQ(link.lane(3).paused_ns, 51'200);
}

TEST(PauseTracker, StormsReachTheWatchdogsTime) {
  for (const int more : {0, 1}) {
    Link link;
    link.options_.pause_storm_ns = 10 * ms;
    // Every 250 µs until 9.75 ms, then XON just before and at 10 ms.
    for (std::int64_t t = 0; t < 10 * ms; t += 250 * us) link.at(t, pfc(host_mac, {{3, 65535}}));
    link.at(10 * ms - 1 + more, pfc(host_mac, {{3, 0}})).at(20 * ms, other_traffic());
    const PauseLane& lane = link.lane(3);
    EXPECT_EQ(lane.storms.count, static_cast<std::uint64_t>(more));
    EXPECT_EQ(lane.longest_ns, 10 * ms - 1 + more);
  }
}

TEST(PauseTracker, PacketsToAPausedPortAreCounted) {
  // At 100 Gb/s: 1193 quanta and 2 µs = 8.108 µs are allowed.
  EXPECT_EQ(in_flight_allowance_ns(100 * gigabit), 8'108);
  Link link;
  link.at(0, pfc(host_mac, {{3, 65535}}));
  link.at(8 * us, tagged_roce(host_mac, switch_mac, 3));              // was on its way
  link.at(9 * us, tagged_roce(host_mac, switch_mac, 3));              // 2: too late
  link.at(10 * us, tagged_roce(host_mac, switch_mac, 4));             // another priority
  link.at(11 * us, tagged_roce(switch_mac, host_mac, 3));             // the other way
  link.at(12 * us, plain_roce(host_mac, switch_mac, 26U << 2U));      // DSCP 26: priority 3
  link.at(13 * us, plain_roce(host_mac, switch_mac, 48U << 2U));      // priority 6
  link.at(14 * us, tagged_roce(host_mac, switch_mac, 0, 26U << 2U));  // the tag counts
  link.at(400 * us, tagged_roce(host_mac, switch_mac, 3));            // expired
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.overrun.count, 2U);
  EXPECT_EQ(lane.overrun.frames[0], 3U);
  EXPECT_EQ(lane.overrun.frames[1], 6U);
  EXPECT_EQ(lane.overrun_bytes, 66U + 62U);
}

TEST(PauseTracker, ATrustedDscpOutweighsTheTag) {
  Link link;
  link.options_.priorities.trust = PriorityMap::Trust::dscp;
  link.options_.priorities.by_dscp[10] = 3;
  link.at(0, pfc(host_mac, {{3, 65535}}));
  link.at(20 * us, tagged_roce(host_mac, switch_mac, 0, 10U << 2U));
  link.at(21 * us, tagged_roce(host_mac, switch_mac, 3, 0));
  EXPECT_EQ(link.lane(3).overrun.count, 1U);
}

TEST(PauseTracker, TheOtherEndOfALinkIsKnownBySendingLinkControlFrames) {
  // The switch pauses the host, whose packets are for somebody far away.
  const std::string far = "0200000000aa";
  for (const bool two_ends : {false, true}) {
    Link link;
    if (two_ends) link.at(0, lldp(host_mac, ""));
    link.at(1, pfc(switch_mac, {{3, 65535}}));
    link.at(50 * us, tagged_roce(far, host_mac, 3));
    EXPECT_EQ(link.lane(3).overrun.count, two_ends ? 1U : 0U);
  }
}

TEST(PauseTracker, GlobalPauseStopsEveryPriority) {
  Link link;
  link.at(0, global_pause(host_mac, 65535));
  link.at(50 * us, tagged_roce(host_mac, switch_mac, 5));
  EXPECT_EQ(link.lane(PausePort::global).overrun.count, 1U);
}

TEST(PauseTracker, FaultsAreCountedByKind) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 100}}, 0x80));
  link.at(us, pfc(host_mac, {}));
  link.at(2 * us, padded("0180c200000e" + host_mac + "8808 0001 0064"));
  link.at(3 * us, padded("0180c2000001" + host_mac + "8100 6005 8808 0001 0064"));
  link.at(4 * us, bytes_of("0180c2000001" + host_mac + "8808 0101 0008 0000"));
  const Snapshot& s = link.look();
  ASSERT_EQ(s.pauses.ports.size(), 1U);
  const PausePort& port = s.pauses.ports[0];
  EXPECT_EQ(port.frames.count, 5U);
  for (std::size_t i = 0; i < pause_fault_count; ++i) {
    EXPECT_EQ(port.faults[i].count, 1U) << pause_fault_name(static_cast<PauseFault>(i));
    EXPECT_EQ(port.faults[i].frames[0], i + 1);
  }
  EXPECT_EQ(port.cut, 0U);
}

TEST(PauseTracker, WhatTheCaptureCutIsNoFaultOfThePort) {
  Link link;
  link.source_.add(bytes_of("0180c2000001" + host_mac + "8808 0101 0008 0000"), Link::base, 60);
  const Snapshot& s = link.look();
  ASSERT_EQ(s.pauses.ports.size(), 1U);
  EXPECT_EQ(s.pauses.ports[0].cut, 1U);
  for (const Sightings& fault : s.pauses.ports[0].faults) EXPECT_EQ(fault.count, 0U);
}

TEST(PauseTracker, OtherOpcodesAreNoPause) {
  Link link;
  link.at(0, padded("0180c2000001" + host_mac + "8808 0002 0000 0000"));
  EXPECT_TRUE(link.look().pauses.ports.empty());
}

TEST(PauseTracker, ASecondRecordOfOneFrameIsNoRefresh) {
  Link link;
  link.at(0, pfc(host_mac, {{3, 1000}})).at(0, pfc(host_mac, {{3, 1000}})).at(ms, other_traffic());
  EXPECT_EQ(link.lane(3).refreshed, 0U);
  EXPECT_EQ(link.lane(3).xoff.count, 1U);
}

TEST(PauseTracker, WithoutTimesPausesAreCountedOnly) {
  Link link;
  for (int i = 0; i < 2; ++i) link.source_.add(pfc(host_mac, {{3, 1000}}), capture::no_time);
  const PauseLane& lane = link.lane(3);
  EXPECT_EQ(lane.xoff.count, 2U);
  EXPECT_EQ(lane.pauses, 0U);
  EXPECT_EQ(lane.paused_ns, 0);
  EXPECT_EQ(lane.asked_quanta, 2000U);
}

TEST(PauseTracker, TimesThatRunBackwardsHarmNothing) {
  Link link;
  link.at(ms, pfc(host_mac, {{3, 65535}})).at(0, pfc(host_mac, {{3, 0}})).at(-5, pfc(host_mac, {{3, 9}}));
  link.at(2 * ms, other_traffic());
  const PauseLane& lane = link.lane(3);
  EXPECT_GE(lane.paused_ns, 0);
  EXPECT_EQ(lane.pauses, 2U);
}

TEST(PauseTracker, PortsAreBounded) {
  MemorySource source;
  constexpr unsigned most = 1024;
  for (unsigned i = 0; i < most + 5; ++i) source.add(pfc(hex_of(i + 1, 12), {{3, 65535}}), Link::base + i);
  const auto snapshot = analyze(source, {});
  EXPECT_EQ(snapshot->pauses.ports.size(), most);
  EXPECT_EQ(snapshot->pauses.dropped_frames, 5U);
  EXPECT_LE(snapshot->pauses.mutual.size(), 256U);
  bool told = false;
  for (const Diagnostic& d : snapshot->diagnostics) told = told || (d.id == "link_ports" && d.count == 5);
  EXPECT_TRUE(told);
}

TEST(PauseTracker, NothingDependsOnTheSizeOfBatches) {
  for (const std::size_t frames : {std::size_t{1}, std::size_t{3}, std::size_t{4096}}) {
    for (const unsigned jobs : {1U, 3U}) {
      Link link;
      link.options_.epoch_frames = frames;
      for (int i = 0; i < 50; ++i) {
        link.at(i * 100 * us, pfc(host_mac, {{3, i % 5 == 4 ? 0U : 65535U}}));
        link.at(i * 100 * us + 50 * us, tagged_roce(host_mac, switch_mac, 3));
      }
      AnalysisOptions options = link.options_;
      options.jobs = jobs;
      const auto s = analyze(link.source_, options);
      const PauseLane& lane = *s->pauses.ports.at(0).lanes[3];
      EXPECT_EQ(lane.paused_ns, 10 * 400 * us);
      EXPECT_EQ(lane.overrun.count, 40U);
      EXPECT_EQ(lane.refreshed, 30U);
    }
  }
}

}  // namespace
}  // namespace roce::analyze
