// SPDX-License-Identifier: Apache-2.0
// Losses, order, copies and who shows what: two captures made by hand.
#include <gtest/gtest.h>

#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace {

TEST(Compare, SaysNothingOfTrafficThatPassesWhole) {
  TwoPoints points;
  points.talk(200);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].matched, 200U);
  EXPECT_EQ(r.directions[1].matched, 200U);
  EXPECT_TRUE(r.findings.empty());
  EXPECT_EQ(r.directions[0].lost.count + r.directions[1].lost.count, 0U);
}

TEST(Compare, NamesWhatWasLostAndWhatRepairedIt) {
  TwoPoints points;
  points.talk(20);
  TwoPoints::Way lost;
  lost.in_second = false;
  points.send(0, 20, 2'000'000, lost);
  points.send(0, 21, 2'010'000);
  points.send(0, 20, 2'500'000);  // goes back
  points.send(0, 21, 2'510'000);
  points.send(1, 21, 2'600'000, lost);
  points.send(1, 21, 2'700'000);
  points.talk(20, 3'000'000, 22);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].lost.count, 1U);
  EXPECT_EQ(r.directions[1].lost.count, 1U);
  ASSERT_EQ(r.lost.size(), 2U);
  EXPECT_EQ(r.lost[0].psn, 20U);
  EXPECT_EQ(r.lost[0].direction, 0U);
  EXPECT_EQ(r.lost[0].packet, 41U);  // of A: 40 before it
  EXPECT_EQ(r.lost[0].repaired_by, 43U);
  EXPECT_EQ(r.lost[1].direction, 1U);
  EXPECT_EQ(r.lost[1].packet, 44U);  // of B: 40, PSN 21, both again
  EXPECT_EQ(r.lost[1].repaired_by, 45U);
  EXPECT_EQ(r.directions[0].repeats[RepeatCause::lost_between],
            2U);  // the run began with what was lost there
  EXPECT_EQ(r.directions[0].repeats.packets(), 2U);
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings.front().id, "lost_between");
  EXPECT_EQ(r.findings.front().packets, std::vector<std::uint64_t>{41});
  EXPECT_EQ(r.findings.front().evidence_at, 0U);
  ASSERT_GT(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[1].id, "lost_between");
  EXPECT_EQ(r.findings[1].packets, std::vector<std::uint64_t>{44});
  EXPECT_EQ(r.findings[1].evidence_at, 1U);
}

TEST(Compare, EachLostCopyIsRepairedByTheOneThatArrives) {
  TwoPoints points;
  points.talk(20);
  TwoPoints::Way lost;
  lost.in_second = false;
  for (unsigned i = 0; i < 3; ++i) points.send(0, 20, 2'000'000 + i * 500'000, lost);
  points.send(0, 20, 3'500'000);
  points.send(0, 20, 3'900'000, lost);  // a needless one: what came before it is not its repair
  points.talk(20, 4'000'000, 21);
  const CompareResult r = points.result();
  ASSERT_EQ(r.lost.size(), 4U);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(r.lost[i].packet, 41U + i);
    EXPECT_EQ(r.lost[i].repaired_by, 44U);
  }
  EXPECT_FALSE(r.lost[3].repaired_by.has_value());
  EXPECT_EQ(r.directions[0].repaired, 3U);
}

TEST(Compare, TellsLossesBeforeAndBehindBothPoints) {
  TwoPoints points;
  points.talk(20);
  TwoPoints::Way before;
  before.in_first = before.in_second = false;
  points.send(0, 20, 2'000'000, before);
  points.send(0, 21, 2'010'000);
  points.send(0, 20, 2'500'000);
  points.send(0, 21, 2'510'000);
  points.send(0, 22, 2'600'000);  // passes both, is lost behind
  points.send(0, 22, 4'000'000);
  points.talk(20, 5'000'000, 23);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_EQ(r.directions[0].repeats[RepeatCause::lost_before], 2U);
  EXPECT_EQ(r.directions[0].repeats[RepeatCause::lost_behind], 1U);
}

TEST(Compare, OfEqualCopiesTheOneBeforeTheRepairWasLost) {
  TwoPoints points;
  points.ipv6 = true;  // repeats are alike to the last byte
  points.talk(50);
  TwoPoints::Way lost;
  lost.in_second = false;
  points.send(0, 50, 5'000'000, lost);
  points.send(0, 50, 75'000'000);
  points.talk(50, 80'000'000, 51);
  const CompareResult r = points.result();
  ASSERT_EQ(r.lost.size(), 1U);
  EXPECT_EQ(r.lost[0].packet, 101U);
  EXPECT_EQ(r.lost[0].repaired_by, 102U);
  EXPECT_EQ(r.directions[0].delay->max, 10'000);
}

TEST(Compare, OfEqualCopiesTheSecondMayBeLost) {
  TwoPoints points;
  points.ipv6 = true;
  points.talk(50);
  points.send(0, 50, 5'000'000);
  TwoPoints::Way lost;
  lost.in_second = false;
  points.send(0, 50, 75'000'000, lost);
  points.send(0, 50, 150'000'000);
  points.talk(50, 160'000'000, 51);
  const CompareResult r = points.result();
  ASSERT_EQ(r.lost.size(), 1U);
  EXPECT_EQ(r.lost[0].packet, 102U);
  EXPECT_EQ(r.lost[0].repaired_by, 103U);
  EXPECT_EQ(r.directions[0].delay->max, 10'000);
}

TEST(Compare, CountsWhatWasOvertaken) {
  TwoPoints points;
  points.talk(20);
  TwoPoints::Way slow;
  slow.delay_ns = 3'000'000;
  points.send(0, 20, 2'000'000, slow);
  for (std::uint32_t i = 21; i < 30; ++i) points.send(0, i, 2'000'000 + i * 1000);
  points.talk(20, 8'000'000, 30);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].late.count, 1U);
  ASSERT_EQ(r.directions[0].late.first.size(), 1U);
  EXPECT_EQ(r.directions[0].late.first[0], 41U);
  EXPECT_EQ(r.directions[0].most_late_ns, 3'000'000 - 31'000);  // PSN 21 came 31 us behind it
  EXPECT_EQ(r.directions[1].late.count, 0U);
  EXPECT_NE(find_finding(r, "reordered_between"), nullptr);
}

TEST(Compare, KnowsDamagedPacketsAgain) {
  TwoPoints points;
  points.talk(20);
  TwoPoints::Way flip;
  flip.flip = true;
  points.send(0, 20, 2'000'000, flip);
  TwoPoints::Way other;  // a flipped bit of the PSN: the ICRC is all that is left of it
  other.change = [](support::RoceFrame& frame) {
    const std::vector<std::uint8_t> right = support::build(frame);
    const std::uint8_t* end = right.data() + right.size();
    frame.icrc = static_cast<std::uint32_t>(end[-4]) | static_cast<std::uint32_t>(end[-3]) << 8U |
                 static_cast<std::uint32_t>(end[-2]) << 16U | static_cast<std::uint32_t>(end[-1]) << 24U;
    frame.bth.psn ^= 0x40000;
  };
  points.send(0, 21, 2'010'000, other);
  points.talk(20, 3'000'000, 22);
  const CompareResult r = points.result();
  EXPECT_EQ(r.points[0].damaged, 0U);
  EXPECT_EQ(r.points[1].damaged, 2U);
  EXPECT_EQ(r.directions[0].corrupted.count, 2U);
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_EQ(r.directions[0].missed.count, 0U);
  EXPECT_NE(find_finding(r, "damaged_between"), nullptr);
}

TEST(Compare, CopiesOfTheNetworkAreNoCopiesOfTheCapture) {
  TwoPoints points;
  points.talk(50);
  TwoPoints::Way twice;
  twice.copies = 2;
  points.send(0, 50, 5'000'000, twice);
  points.send(1, 50, 5'100'000, twice);
  points.talk(50, 6'000'000, 51);
  const CompareResult r = points.result();
  for (const CompareDirection& d : r.directions) {
    EXPECT_EQ(d.duplicated.count, 1U);
    EXPECT_EQ(d.lost.count, 0U);
    EXPECT_EQ(d.missed.count, 0U);
  }
}

TEST(Compare, LeavesOutWhatOneCaptureMirrorsTwice) {
  TwoPoints points;
  for (std::uint32_t i = 0; i < 200; ++i) {
    TwoPoints::Way twice;
    twice.copies = 2;
    points.send(0, i, i * 100'000, twice);
    points.send(1, i, i * 100'000 + 50'000);
  }
  const CompareResult r = points.result();
  EXPECT_EQ(r.points[0].doubled, 0U);
  EXPECT_EQ(r.points[1].doubled, 200U);
  EXPECT_EQ(r.directions[0].matched, 200U);
  EXPECT_EQ(r.directions[0].duplicated.count, 0U);
  EXPECT_TRUE(r.findings.empty());
}

/// Requests with a loss in each window of 16, which goes back at once; each ACK twice, as for doubled
/// requests.
void go_back_soon(TwoPoints& points, unsigned windows) {
  TwoPoints::Way lost;
  lost.in_second = false;
  constexpr std::uint32_t window = 16;
  for (std::uint32_t w = 0; w < windows; ++w) {
    const std::int64_t at = w * 200'000;
    for (std::uint32_t i = 0; i < window; ++i)
      points.send(0, w * window + i, at + i * 1000, i == 2 ? lost : TwoPoints::Way{});
    for (std::uint32_t i = 2; i < window; ++i) points.send(0, w * window + i, at + 40'000 + i * 1000);
    points.send(1, w * window + window - 1, at + 80'000);
    points.send(1, w * window + window - 1, at + 80'500);
  }
}

// Without an IPv4 ID what is sent again is alike to the last byte; it comes to both points.
TEST(Compare, RepeatsWithoutIdsAreNoCopiesOfTheCapture) {
  TwoPoints points;
  points.ipv6 = true;
  go_back_soon(points, 20);
  const CompareResult r = points.result();
  EXPECT_EQ(r.points[0].doubled + r.points[1].doubled, 0U);
  EXPECT_EQ(r.directions[0].lost.count, 20U);
  EXPECT_EQ(r.directions[0].repaired, 20U);
  EXPECT_EQ(r.directions[0].repeats[RepeatCause::lost_between], 280U);
  EXPECT_EQ(r.directions[0].late.count, 0U);
  ASSERT_TRUE(r.directions[0].delay.has_value());
  EXPECT_EQ(r.directions[0].delay->max, 10'000);
}

TEST(Compare, AMirrorOfPacketsWithoutIdsIsLeftOut) {
  for (const bool another_way : {false, true}) {
    SCOPED_TRACE(another_way);
    TwoPoints points;
    points.ipv6 = true;
    go_back_soon(points, 20);
    points.fill();
    MemorySource twice;
    capture::FrameBatch batch;
    (void)points.b.next_batch(batch, 10'000);
    std::vector<std::pair<std::int64_t, std::vector<std::uint8_t>>> frames;
    for (const capture::Frame& frame : batch.frames) {
      std::vector<std::uint8_t> bytes{frame.data, frame.data + frame.captured};
      frames.emplace_back(frame.time_ns, bytes);
      if (another_way) bytes[0] ^= 0x10;  // MAC address
      frames.emplace_back(frame.time_ns + 100, bytes);
    }
    std::stable_sort(frames.begin(), frames.end(),
                     [](const auto& x, const auto& y) { return x.first < y.first; });
    for (auto& [time_ns, bytes] : frames) twice.add(bytes, time_ns);
    const CompareResult r = compare({&points.a, {}}, {&twice, {}});
    EXPECT_EQ(r.points[0].doubled, 0U);
    EXPECT_EQ(r.points[1].doubled, frames.size() / 2);
    EXPECT_EQ(r.directions[0].lost.count, 20U);
    EXPECT_EQ(r.directions[0].repaired, 20U);
    EXPECT_EQ(r.directions[0].duplicated.count, 0U);
  }
}

TEST(Compare, DoesNotCallLostWhatTheOtherCaptureNeverShows) {
  TwoPoints points;
  for (std::uint32_t i = 0; i < 100; ++i) {
    points.send(0, i, i * 100'000);
    TwoPoints::Way unseen;
    unseen.in_first = false;  // B does not capture what B sends
    points.send(1, i, i * 100'000 + 50'000, unseen);
  }
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].matched, 100U);
  EXPECT_EQ(r.directions[1].matched, 0U);
  EXPECT_EQ(r.directions[0].lost.count + r.directions[1].lost.count, 0U);
  EXPECT_EQ(r.directions[1].missed.count, 0U);
  EXPECT_EQ(r.points[0].other_pairs, 1U);
  EXPECT_EQ(r.points[0].other_packets.count, 99U);  // the last one came when B's capture had ended
  EXPECT_NE(find_finding(r, "seen_at_one_point"), nullptr);
  EXPECT_FALSE(r.clocks.offset_ns.has_value());
  ASSERT_TRUE(r.directions[0].delay.has_value());
  EXPECT_EQ(r.directions[0].delay->min, 0);
}

TEST(Compare, NamesWhatTheFirstCaptureMissed) {
  TwoPoints points;
  points.talk(50);
  TwoPoints::Way missed;
  missed.in_first = false;
  points.send(0, 50, 5'000'000, missed);
  points.talk(50, 6'000'000, 51);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].missed.count, 1U);
  EXPECT_EQ(r.directions[0].lost.count + r.directions[1].lost.count, 0U);
  const CompareFinding* finding = find_finding(r, "missed_by_capture");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->evidence_at, 1U);  // the first one has no number for it
}

// Nobody acknowledges what never came; of what was sent again, or is not acknowledged, that is not known.
TEST(Compare, NamesWhatTheSecondCaptureMissed) {
  TwoPoints points;
  TwoPoints::Way unseen;
  unseen.in_second = false;
  points.talk(50);
  points.send(0, 50, 5'000'000, unseen);
  points.talk(20, 5'100'000, 51);
  points.send(0, 71, 7'500'000, unseen);  // lost: all behind it is sent again
  points.send(0, 72, 7'501'000);
  for (std::uint32_t i = 0; i < 2; ++i) points.send(0, 71 + i, 8'000'000 + i * 1000);
  points.talk(20, 8'100'000, 73);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].missed_behind.count, 1U);
  EXPECT_EQ(r.directions[0].missed_behind.first, (std::vector<std::uint64_t>{101}));
  EXPECT_EQ(r.directions[0].lost.count, 1U);
  EXPECT_EQ(r.directions[0].lost.first, (std::vector<std::uint64_t>{142}));
  ASSERT_EQ(r.lost.size(), 1U);
  EXPECT_EQ(r.lost[0].psn, 71U);
  EXPECT_TRUE(r.lost[0].repaired_by.has_value());
  const CompareFinding* finding = find_finding(r, "missed_by_capture");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->subject, "the capture at B");
  EXPECT_EQ(finding->evidence_at, 0U);
}

TEST(Compare, WhatNobodyAcknowledgesIsLost) {
  TwoPoints points;
  TwoPoints::Way unseen;
  unseen.in_second = false;
  points.talk(50);
  points.send(0, 50, 5'000'000, unseen);
  for (std::uint32_t i = 51; i < 60; ++i) points.send(0, i, std::int64_t{i} * 101'000);
  points.send(1, 49, 6'000'000);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].missed_behind.count, 0U);
  EXPECT_EQ(r.directions[0].lost.count, 1U);
}

TEST(Compare, JudgesOnlyWhileBothCapture) {
  TwoPoints points;
  TwoPoints::Way unseen;
  unseen.in_second = false;
  for (std::uint32_t i = 0; i < 50; ++i) points.send(0, i, i * 100'000, unseen);  // B begins later
  points.talk(50, 5'000'000, 50);
  for (std::uint32_t i = 100; i < 150; ++i) points.send(0, i, i * 100'000, unseen);  // and ends earlier
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].matched, 50U);
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_EQ(r.directions[0].not_covered, 100U);
}

TEST(Compare, SaysPlainlyThatTrafficIsNotTheSame) {
  TwoPoints points, others;
  points.talk(100);
  others.talk(100, 0, 5000);
  points.fill();
  others.fill();
  const CompareResult r = compare({&points.a, {}}, {&others.b, {}});
  EXPECT_EQ(r.matched(), 0U);
  EXPECT_EQ(r.directions[0].lost.count + r.directions[1].lost.count, 0U);
  EXPECT_TRUE(r.lost.empty());
  ASSERT_FALSE(r.findings.empty());
  EXPECT_EQ(r.findings.front().id, "not_same_traffic");
  EXPECT_EQ(r.findings.front().severity, Severity::error);
}

TEST(Compare, FindsNoDifferenceBetweenAFileAndItself) {
  TwoPoints points;
  points.talk(100);
  points.send(0, 7, 20'000'000);
  points.fill();
  MemorySource again = points.a;
  const CompareResult r = compare({&points.a, {}}, {&again, {}});
  EXPECT_EQ(r.matched(), 201U);
  EXPECT_TRUE(r.findings.empty());
  EXPECT_EQ(r.clocks.offset_ns, 0);
  EXPECT_EQ(r.directions[0].delay->max, 0);
}

TEST(Compare, BearsAnEmptyFile) {
  TwoPoints points;
  points.talk(10);
  points.fill();
  MemorySource nothing;
  const CompareResult r = compare({&points.a, {}}, {&nothing, {}});
  EXPECT_EQ(r.matched(), 0U);
  EXPECT_EQ(r.directions[0].lost.count + r.directions[1].lost.count, 0U);
  ASSERT_EQ(r.findings.size(), 1U);
  EXPECT_EQ(r.findings[0].id, "not_same_traffic");
  MemorySource none;
  MemorySource neither;
  const CompareResult nothing_at_all = compare({&none, {}}, {&neither, {}});
  EXPECT_EQ(nothing_at_all.matched(), 0U);
  ASSERT_EQ(nothing_at_all.findings.size(), 1U);
  EXPECT_EQ(nothing_at_all.findings[0].severity, Severity::error);
}

TEST(Compare, SaysThatAFileHasNoRoce) {
  TwoPoints points;
  points.talk(10);
  points.fill();
  MemorySource other;
  std::vector<std::uint8_t> arp(60, 0xff);
  arp[12] = 0x08;
  arp[13] = 0x06;
  for (unsigned i = 0; i < 30; ++i) other.add(arp, TwoPoints::start_ns + i * 50'000);
  for (const bool other_first : {false, true}) {
    MemorySource a = other_first ? other : points.a, b = other_first ? points.a : other;
    const CompareResult r = compare({&a, {}}, {&b, {}});
    ASSERT_FALSE(r.findings.empty());
    EXPECT_EQ(r.findings[0].id, "not_same_traffic");
    EXPECT_EQ(r.findings[0].severity, Severity::error);
    EXPECT_NE(r.findings[0].explanation.find(other_first ? "A shows no RoCE packet (frames: 30)"
                                                         : "B shows no RoCE packet (frames: 30)"),
              std::string::npos);
    EXPECT_EQ(r.directions[0].lost.count + r.directions[1].lost.count, 0U);
  }
}

TEST(Compare, ComparesWhatWasReadableOfADamagedFile) {
  TwoPoints points;
  points.talk(50);
  capture::Error error;
  points.b.fail_with(error);
  const CompareResult r = points.result();
  EXPECT_EQ(r.matched(), 100U);
  EXPECT_EQ(r.points[1].errors.size(), 1U);
}

TEST(Compare, MatchesBySequenceWhereThereAreNoTimes) {
  TwoPoints points;
  points.talk(20);
  TwoPoints::Way lost;
  lost.in_second = false;
  points.send(0, 20, 2'000'000, lost);
  points.talk(20, 3'000'000, 21);
  points.fill();
  MemorySource a, b;
  const auto timeless = [](MemorySource& from, MemorySource& to) {
    capture::FrameBatch batch;
    (void)from.next_batch(batch, 1000);
    for (const capture::Frame& frame : batch.frames)
      to.add({frame.data, frame.data + frame.captured}, capture::no_time);
  };
  timeless(points.a, a);
  timeless(points.b, b);
  const CompareResult r = compare({&a, {}}, {&b, {}});
  EXPECT_FALSE(r.times_known);
  EXPECT_EQ(r.matched(), 80U);
  EXPECT_EQ(r.directions[0].missed_behind.count, 1U);
  EXPECT_FALSE(r.directions[0].delay.has_value());
}

TEST(Compare, KeepsItsWindowAndSaysSo) {
  TwoPoints points;
  TwoPoints::Way lost;
  lost.in_second = false;
  points.talk(10);
  for (std::uint32_t i = 10; i < 3000; ++i)
    points.send(0, i, 2'000'000 + i * 100, i % 2 == 0 ? lost : TwoPoints::Way{});
  for (std::uint32_t i = 3000; i < 3010; ++i) points.send(0, i, 20'000'000 + i);
  CompareOptions options;
  options.window_packets = 1024;
  options.lost_limit = 100;
  const CompareResult r = points.result(options);
  EXPECT_EQ(r.directions[0].lost.count, 1495U);
  EXPECT_EQ(r.lost.size(), 100U);
  EXPECT_EQ(r.lost_omitted, 1395U);
  EXPECT_GT(r.window_exceeded, 0U);
  EXPECT_NE(find_finding(r, "window_exceeded"), nullptr);
}

}  // namespace
}  // namespace roce::analyze
