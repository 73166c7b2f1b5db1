// SPDX-License-Identifier: Apache-2.0
// What a switch between two points, or before both, trimmed: lost, and neither re-marked nor damaged nor
// overtaken.
#include <gtest/gtest.h>

#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace {

constexpr std::size_t trim_size = 80;

const RepeatRun* run_of(const CompareResult& result, std::uint32_t psn) {
  for (const RepeatRun& run : result.repeats) {
    if (run.psn == psn) return &run;
  }
  return nullptr;
}

TEST(CompareTrimmed, IsLostBetween) {
  for (const bool renewed : {false, true}) {
    TwoPoints points;
    points.talk(50);
    TwoPoints::Way trimmed;
    trimmed.trimmed_to = trim_size;
    trimmed.length_renewed = renewed;
    trimmed.delay_ns = 2'000;  // it overtakes what was sent before it
    points.send(0, 50, 4'996'000);
    points.send(0, 51, 5'000'000, trimmed);
    points.send(0, 52, 5'001'000);
    points.send(1, 50, 5'050'000);
    points.send(0, 51, 7'000'000);
    points.send(0, 52, 7'001'000);
    points.send(1, 52, 7'050'000);
    points.talk(50, 8'000'000, 53);
    const CompareResult r = points.result();
    const CompareDirection& there = r.directions[0];
    EXPECT_EQ(there.trimmed.count, 1U) << renewed;
    ASSERT_EQ(there.trimmed.first.size(), 1U);
    EXPECT_EQ(there.trimmed.first.front(), 102U);
    EXPECT_EQ(there.late.count + there.lost.count + there.corrupted.count, 0U);
    EXPECT_EQ(r.changes.size(), 0U);
    EXPECT_EQ(r.points[1].damaged, 0U);
    const RepeatRun* run = run_of(r, 51);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->cause, RepeatCause::trimmed_between);
    ASSERT_TRUE(run->evidence);
    EXPECT_EQ(run->evidence->packet, 102U);
    EXPECT_EQ(there.repeats[RepeatCause::trimmed_between], there.repeats.packets());
    ASSERT_NE(find_finding(r, "trimmed_between"), nullptr);
    EXPECT_EQ(find_finding(r, "remarked_between"), nullptr);
    EXPECT_EQ(find_finding(r, "reordered_between"), nullptr);
    ASSERT_EQ(r.paths.front().direction, 0U);
    EXPECT_EQ(r.paths.front().lost, 1U);
    EXPECT_EQ(r.paths.front().trimmed, 1U);
  }
}

TEST(CompareTrimmed, BeforeBothIsNotBetween) {
  TwoPoints points;
  points.talk(20);
  const auto trim = [&](bool in_second) {
    TwoPoints::Way way;
    way.trimmed_to = trim_size;
    way.in_first = false;
    way.in_second = in_second;
    return way;
  };
  // The frame as the first point has it is that of the second one, too.
  points.send(0, 20, 2'000'000, trim(true));
  points.fill();
  capture::FrameBatch batch;
  MemorySource first, second;
  (void)points.a.next_batch(batch, 1000);
  for (const capture::Frame& frame : batch.frames)
    first.add({frame.data, frame.data + frame.captured}, frame.time_ns, frame.wire);
  batch.clear();
  (void)points.b.next_batch(batch, 1000);
  for (const capture::Frame& frame : batch.frames) {
    second.add({frame.data, frame.data + frame.captured}, frame.time_ns, frame.wire);
    if (frame.wire == trim_size)
      first.add({frame.data, frame.data + frame.captured}, frame.time_ns - 10'000, frame.wire);
  }
  const CompareResult r = compare({&first, {}}, {&second, {}}, {});
  EXPECT_EQ(r.directions[0].matched, 21U);
  EXPECT_EQ(r.directions[0].trimmed.count + r.directions[0].lost.count + r.directions[0].corrupted.count, 0U);
  EXPECT_EQ(r.changes.size(), 0U);
}

TEST(CompareTrimmed, ShortOnesAreMarkedAndArrive) {
  CompareOptions options;
  options.dissecting.trimmed_dscps = std::uint64_t{1} << 11U;
  TwoPoints points;
  TwoPoints::Way marked;
  marked.change = [](support::RoceFrame& frame) { std::get<support::Ipv4>(frame.network).tos = 11 << 2 | 2; };
  points.talk(20);
  points.send(0, 20, 3'000'000, marked);
  points.send(1, 20, 3'050'000);
  const CompareResult told = points.result(options);
  EXPECT_EQ(told.directions[0].trimmed.count, 0U);
  EXPECT_EQ(told.directions[0].matched, 21U);
  EXPECT_EQ(told.changes.size(), 0U);
}

TEST(CompareTrimmed, WhatIsCutAndMarkedIsOneOrTheOther) {
  TwoPoints points;
  points.talk(20);
  TwoPoints::Way way;
  way.trimmed_to = trim_size;
  way.length_renewed = false;
  way.change = [](support::RoceFrame& frame) { std::get<support::Ipv4>(frame.network).tos = 11 << 2 | 2; };
  points.send(0, 20, 3'000'000, way);  // its checksum is right
  points.send(1, 20, 3'050'000);
  const CompareResult r = points.result();
  EXPECT_EQ(r.directions[0].cut.count, 1U);
  EXPECT_EQ(r.directions[0].trimmed.count, 0U);
  EXPECT_EQ(find_finding(r, "remarked_between"), nullptr);
  ASSERT_NE(find_finding(r, "cut_between"), nullptr);
  EXPECT_LE(find_finding(r, "cut_between")->confidence, 0.5);
}

}  // namespace
}  // namespace roce::analyze
