// SPDX-License-Identifier: Apache-2.0
#include "analyze/numbered/numbered_tracker.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace roce::analyze {
namespace {

NumberedPacket packet(std::uint32_t sequence, std::uint64_t number,
                      NumberedKind kind = NumberedKind::erspan) {
  NumberedPacket p;
  p.key.kind = kind;
  p.key.id = 5;
  p.sequence = sequence;
  p.wire = 100;
  p.number = number;
  return p;
}

struct Told {
  Numbered numbered;
  std::vector<std::uint64_t> gaps;
  std::vector<std::pair<std::uint64_t, std::uint64_t>>
      delayed;  ///< frames, and those before which they belong
  [[nodiscard]] const NumberedStream& one() const { return numbered.streams.front(); }
};

Told follow(const std::vector<std::uint32_t>& sequences, NumberedKind kind = NumberedKind::erspan) {
  NumberedTracker tracker;
  Told told;
  std::uint64_t number = 0;
  for (const std::uint32_t each : sequences) {
    const MirrorStep step = tracker.see(packet(each, ++number, kind));
    if (step.lost) told.gaps.push_back(number);
    if (step.before != 0) told.delayed.emplace_back(number, step.before);
  }
  told.numbered = std::move(tracker).finish();
  return told;
}

std::vector<std::uint32_t> from(std::uint32_t first, std::size_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = first + static_cast<std::uint32_t>(i);
  return all;
}

TEST(NumberedTracker, CountsWhatIsMissing) {
  std::vector<std::uint32_t> sequences = from(1, 1000);
  sequences.erase(sequences.begin() + 500, sequences.begin() + 503);
  const Told told = follow(sequences);
  EXPECT_TRUE(told.one().counts);
  EXPECT_EQ(told.one().packets, 997U);
  EXPECT_EQ(told.one().bytes, 99'700U);
  EXPECT_EQ(told.one().missing, 3U);
  EXPECT_EQ(told.one().gaps, 1U);
  EXPECT_EQ(told.gaps, std::vector<std::uint64_t>{501});
  EXPECT_EQ(told.numbered.mirror_missing(), 3U);
  EXPECT_NE(mirror_loss_text(told.numbered).find("lost 3 of 1000 packets"), std::string::npos);
}

TEST(NumberedTracker, WhatComesLateIsNotMissing) {
  std::mt19937 random(1);
  std::vector<std::uint32_t> sequences = from(1, 2000);
  std::uint64_t late = 0;
  for (std::size_t i = 100; i + 10 < sequences.size(); i += 50) {
    std::rotate(sequences.begin() + static_cast<long>(i), sequences.begin() + static_cast<long>(i) + 1,
                sequences.begin() + static_cast<long>(i + 2 + random() % 8));
    ++late;
  }
  const Told told = follow(sequences);
  EXPECT_EQ(told.one().missing, 0U);
  EXPECT_EQ(told.one().late, late);
  EXPECT_LE(told.one().late_by, 8U);
}

TEST(NumberedTracker, NumbersWrap) {
  const Told told = follow(from(0xffff'ff00U, 1000));
  EXPECT_EQ(told.one().missing, 0U);
  EXPECT_EQ(told.one().restarts, 0U);
}

TEST(NumberedTracker, CopiesAndRestartsAreNoGaps) {
  std::vector<std::uint32_t> sequences = from(1, 100);
  sequences.insert(sequences.begin() + 50, 40);
  const std::vector<std::uint32_t> again = from(0x7000'0000U, 100);
  sequences.insert(sequences.end(), again.begin(), again.end());
  const Told told = follow(sequences);
  EXPECT_EQ(told.one().missing, 0U);
  EXPECT_EQ(told.one().duplicates, 1U);
  EXPECT_EQ(told.one().restarts, 1U);
}

TEST(NumberedTracker, NumbersThatBeginAnewAtOneGoOn) {
  std::vector<std::uint32_t> sequences = from(1, 3000);
  std::vector<std::uint32_t> again = from(1, 3000);
  again.erase(again.begin() + 500, again.begin() + 550);
  sequences.insert(sequences.end(), again.begin(), again.end());
  const Told told = follow(sequences);
  EXPECT_TRUE(told.one().counts);
  EXPECT_EQ(told.one().restarts, 1U);
  EXPECT_EQ(told.one().missing, 50U);
  EXPECT_EQ(told.one().duplicates, 0U);
}

TEST(NumberedTracker, WhatComesHundredsOfNumbersLateIsNotMissing) {
  std::vector<std::uint32_t> sequences = from(1, 5000);
  for (std::size_t i = 100; i + 400 < sequences.size(); i += 401)
    std::rotate(sequences.begin() + static_cast<long>(i), sequences.begin() + static_cast<long>(i) + 1,
                sequences.begin() + static_cast<long>(i) + 400);
  const Told told = follow(sequences);
  EXPECT_EQ(told.one().missing, 0U);
  EXPECT_EQ(told.one().late, 12U);
  EXPECT_EQ(told.one().late_by, 399U);
}

TEST(NumberedTracker, AMirrorThatLosesAThirdCountsAllTheSame) {
  std::mt19937 random(7);
  std::vector<std::uint32_t> sequences;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    if (random() % 10 >= 3) sequences.push_back(i);
  }
  const Told told = follow(sequences);
  EXPECT_TRUE(told.one().counts);
  EXPECT_NEAR(static_cast<double>(told.one().missing), 1500, 150);
}

TEST(NumberedTracker, SessionsThatShareTheirNumbersLoseNothing) {
  std::mt19937 random(7);
  NumberedTracker tracker;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    NumberedPacket each = packet(i, i + 1);
    each.key.id = random() % 10 < 7 ? 5 : 6;
    tracker.see(each);
  }
  const Numbered numbered = std::move(tracker).finish();
  ASSERT_EQ(numbered.streams.size(), 2U);
  EXPECT_FALSE(numbered.streams[0].counts);
  EXPECT_EQ(numbered.mirror_missing(), 0U);
}

TEST(NumberedTracker, SaysWhereLatePacketsBelong) {
  std::vector<std::uint32_t> sequences = from(1, 100);
  // 51 and 52 come behind 54, the second one first.
  sequences[50] = 53;
  sequences[51] = 54;
  sequences[52] = 52;
  sequences[53] = 51;
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> both_before_53{{53, 51}, {54, 51}};
  EXPECT_EQ(follow(sequences).delayed, both_before_53);
  EXPECT_TRUE(follow(sequences, NumberedKind::esp).delayed.empty());
  // So late that nobody knows its place.
  std::vector<std::uint32_t> very_late = from(1, 1000);
  very_late.erase(very_late.begin() + 99);
  very_late.insert(very_late.begin() + 700, 100);
  EXPECT_TRUE(follow(very_late).delayed.empty());
  EXPECT_EQ(follow(very_late).one().late, 1U);
}

TEST(NumberedTracker, NothingIsSaidWhereNobodyCounts) {
  const Told constant = follow(std::vector<std::uint32_t>(200, 0));
  EXPECT_FALSE(constant.one().counts);
  EXPECT_EQ(constant.one().duplicates, 0U);
  std::vector<std::uint32_t> lanes;  // every second number: a member of a LAG
  for (std::uint32_t i = 0; i < 400; i += 2) lanes.push_back(i);
  const Told half = follow(lanes);
  EXPECT_FALSE(half.one().counts);
  EXPECT_EQ(half.one().missing, 0U);
  EXPECT_TRUE(half.gaps.empty());
}

TEST(NumberedTracker, ShellsTellOfThemselvesOnly) {
  std::vector<std::uint32_t> sequences = from(1, 100);
  sequences.erase(sequences.begin() + 50);
  const Told told = follow(sequences, NumberedKind::esp);
  EXPECT_TRUE(told.gaps.empty());
  EXPECT_EQ(told.one().missing, 1U);
  EXPECT_EQ(told.numbered.encrypted(), 99U);
  EXPECT_EQ(told.numbered.mirror_missing(), 0U);
  EXPECT_EQ(encrypted_text(told.numbered), "99 packets are encrypted (ESP, SPI 0x00000005)");
}

}  // namespace
}  // namespace roce::analyze
