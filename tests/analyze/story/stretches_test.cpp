// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/stretches.hpp"

#include <gtest/gtest.h>

#include "tests/analyze/story/story_maker.hpp"

namespace roce::analyze {
namespace {

using test::add_incident;
using test::has;
using test::story_of;
using test::told;

/// Counts packets of connection 0, one a millisecond of 1000 bytes; every tenth is an answer.
void count_packets(StretchCounter& counter, std::uint64_t from, std::uint64_t to) {
  for (std::uint64_t number = from; number <= to; ++number) {
    capture::Frame frame;
    frame.time_ns = static_cast<std::int64_t>(number) * 1'000'000;
    frame.wire = 1000;
    Verdict verdict;
    verdict.connection = 0;
    if (number % 10 == 0) {
      verdict.set(Verdict::b_to_a);
      verdict.set(Verdict::response_time_known);
      verdict.response_time_ns = 12'000;
    }
    counter.count(number, frame, &verdict);
  }
}

TEST(Stretches, LieBetweenIncidents) {
  SnapshotMaker maker;
  const Connection& c = maker.connect(1, 2);
  add_incident(maker, c, IncidentKind::rnr, 101, 150);
  add_incident(maker, c, IncidentKind::rnr, 140, 200);  // overlaps
  Story story = story_of(maker, c);
  StretchCounter counter;
  counter.want(story);
  count_packets(counter, 1, 300);
  counter.add_to(story);
  EXPECT_EQ(
      told(story, StoryKind::steady),
      "in order for 99.0 ms: 90 packets from 10.0.0.1, 10 packets from 10.0.0.2, 8.08 Mb/s; answers take "
      "12.0 µs "
      "(median), 12.0 µs at most | in order for 99.0 ms: 90 packets from 10.0.0.1, 10 packets from 10.0.0.2, "
      "8.08 Mb/s; answers take 12.0 µs (median), 12.0 µs at most");
  for (std::size_t i = 1; i < story.lines.size(); ++i) {
    if (story.lines[i].first_packet == 0) break;
    EXPECT_LE(story.lines[i - 1].first_packet, story.lines[i].first_packet);
  }
}

TEST(Stretches, AFewPacketsByChanceAreNone) {
  SnapshotMaker maker;
  const Connection& c = maker.connect(1, 2);
  add_incident(maker, c, IncidentKind::rnr, 1, 50);
  add_incident(maker, c, IncidentKind::rnr, 53, 100);
  Story story = story_of(maker, c);
  StretchCounter counter;
  counter.want(story);
  count_packets(counter, 1, 100);
  counter.add_to(story);
  EXPECT_EQ(told(story, StoryKind::steady), "");
}

TEST(Stretches, AfterTheEndNothingIsCalledInOrder) {
  SnapshotMaker maker;
  const Connection& c = maker.connect(1, 2);
  add_incident(maker, c, IncidentKind::path_silent, 1, 50);
  Story story = story_of(maker, c);
  StretchCounter counter;
  counter.want(story);
  count_packets(counter, 51, 100);
  counter.add_to(story);
  EXPECT_TRUE(has(told(story, StoryKind::steady), "after that, for 49.0 ms: "))
      << told(story, StoryKind::steady);
}

TEST(Stretches, OtherPacketsAndCopiesDoNotCount) {
  SnapshotMaker maker;
  Story story = story_of(maker, maker.connect(1, 2));
  StretchCounter counter;
  counter.want(story);
  Verdict other, copy;
  other.connection = 1;
  copy.connection = 0;
  copy.set(Verdict::duplicate_capture);
  for (std::uint64_t i = 1; i < 50; ++i) {
    counter.count(i, capture::Frame(), nullptr);
    counter.count(i, capture::Frame(), &other);
    counter.count(i, capture::Frame(), &copy);
  }
  counter.add_to(story);
  EXPECT_EQ(told(story, StoryKind::steady), "");
}

TEST(Stretches, TheTimeOfASilenceIsLookedUp) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  c.requester[0].idle_ns = 5'000'000'000;
  c.requester[0].idle_from_frame = 60;
  Story story = story_of(maker, c);
  StretchCounter counter;
  counter.want(story);
  count_packets(counter, 1, 100);
  counter.add_to(story);
  for (const StoryLine& line : story.lines) {
    if (line.kind == StoryKind::silence) {
      EXPECT_EQ(line.time_ns, 60'000'000);
    }
  }
  EXPECT_TRUE(has(told(story, StoryKind::steady), " | "));  // before and behind it
}

}  // namespace
}  // namespace roce::analyze
