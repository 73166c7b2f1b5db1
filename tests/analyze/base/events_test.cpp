// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/events.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "analyze/connection/connection.hpp"
#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

using Frames = std::vector<std::uint64_t>;
Frames frames_of(const Events& events, Event event) {
  const EventFrames& frames = events.find(event)->frames;
  return {frames.begin(), frames.end()};
}

TEST(Events, CountAndRememberTheFirst) {
  Events events;
  EXPECT_TRUE(events.empty());
  EXPECT_EQ(events.find(Event::gap), nullptr);
  for (std::uint64_t frame = 1; frame <= 20; ++frame) {
    events.add(Event::gap, frame * 10, static_cast<std::int64_t>(1000 - frame), 2);
  }
  events.add(Event::cnp, 5, 7);
  events.add(Event::rnr_nak, 5, 7, 0);  // nothing happened
  const EventLog* log = events.find(Event::gap);
  ASSERT_NE(log, nullptr);
  EXPECT_EQ(log->count, 40U);
  EXPECT_EQ(log->first_time_ns, 980);
  EXPECT_EQ(log->last_time_ns, 999);
  EXPECT_EQ(frames_of(events, Event::gap), (Frames{10, 20, 30, 40, 50, 60, 70, 80}));
  EXPECT_EQ(events.count(Event::cnp), 1U);
  EXPECT_EQ(events.count(Event::rnr_nak), 0U);
  EXPECT_EQ(events.find(Event::rnr_nak), nullptr);
}

TEST(Events, LateVerdictsComeIntoTheirPlace) {
  Events events;
  for (const std::uint64_t frame : {50U, 10U, 30U, 30U, 0U, 90U, 70U, 20U, 80U, 60U, 40U}) {
    events.add(Event::lost_after_capture, frame, 1);
  }
  EXPECT_EQ(events.count(Event::lost_after_capture), 11U);
  EXPECT_EQ(frames_of(events, Event::lost_after_capture), (Frames{10, 20, 30, 40, 50, 60, 70, 80}));
}

TEST(Events, TheLowestFramesAreKept) {
  EventFrames frames;
  EXPECT_EQ(frames[0], 0U);
  frames.add(7);
  frames.add(7);
  EXPECT_EQ(frames.size(), 1U);
  for (std::uint64_t frame = 30; frame > 10; --frame) frames.add(frame);
  EXPECT_EQ(Frames(frames.begin(), frames.end()), (Frames{7, 11, 12, 13, 14, 15, 16, 17}));
}

TEST(Events, ManyConnectionsWithAnErrorEachStaySmall) {
  // What a connection with a gap, a NAK and retransmissions has; there may be hundreds of thousands.
  EXPECT_LE(sizeof(EventLog), 80U);
  Events events;
  events.add(Event::gap, 1, 1);
  const EventFrames& frames = events.find(Event::gap)->frames;
  const auto* const log = reinterpret_cast<const std::uint64_t*>(events.find(Event::gap));
  EXPECT_GE(frames.begin(), log) << "a single number takes memory of its own";
  EXPECT_LT(frames.begin(), log + sizeof(EventLog) / sizeof(*log));
}

TEST(Events, FramesWithoutATimeDoNotStretchTheSpan) {
  Events events;
  events.add(Event::cnp, 1, capture::no_time);
  EXPECT_EQ(events.find(Event::cnp)->first_time_ns, capture::no_time);
  events.add(Event::cnp, 2, 500);
  events.add(Event::cnp, 3, capture::no_time);
  events.add(Event::cnp, 4, -3);
  EXPECT_EQ(events.find(Event::cnp)->first_time_ns, -3);
  EXPECT_EQ(events.find(Event::cnp)->last_time_ns, 500);
}

TEST(Events, CountOneKindAmongThoseOfAnother) {
  Events events;
  events.add(Event::lost_undecided, 4, 50, 2);
  EXPECT_EQ(
      events.counted_as(Event::lost_undecided, Event::lost_before_capture).count(Event::lost_before_capture),
      2U);
  events.add(Event::lost_before_capture, 9, 90);
  const Events read = events.counted_as(Event::lost_undecided, Event::lost_before_capture);
  EXPECT_EQ(read.find(Event::lost_undecided), nullptr);
  const EventLog& log = *read.find(Event::lost_before_capture);
  EXPECT_EQ(log.count, 3U);
  EXPECT_EQ(log.first_time_ns, 50);
  EXPECT_EQ(log.last_time_ns, 90);
  EXPECT_EQ(log.frames[0], 4U);
  EXPECT_EQ(log.frames[1], 9U);
  EXPECT_EQ(log.last_frame, 9U);
  EXPECT_TRUE(log.several_at_once);
  EXPECT_EQ(events.counted_as(Event::cnp, Event::gap).count(Event::lost_undecided), 2U);  // there is none
}

TEST(Connection, NamesAreThoseOfTheReport) {
  EXPECT_EQ(evidence_name(Evidence::udp_source_port), "udp_source_port");
  EXPECT_EQ(evidence_name(Evidence::msn), "msn");
  EXPECT_EQ(evidence_name(Evidence::count_), "");
  EXPECT_EQ(operation_kind_name(OperationKind::atomic_write), "atomic_write");
  EXPECT_EQ(operation_kind_name(OperationKind::count_), "");
  EXPECT_EQ(connection_state_name(Connection::State::half_seen), "half_seen");
  EXPECT_EQ(connection_state_name(Connection::State::failed), "failed");
}

TEST(Connection, FindsTheOperationsOfAKind) {
  Requester requester;
  requester.operations.resize(2);
  requester.operations[0].kind = OperationKind::write;
  requester.operations[1].kind = OperationKind::read;
  requester.operations[1].count = 9;
  ASSERT_NE(requester.operation(OperationKind::read), nullptr);
  EXPECT_EQ(requester.operation(OperationKind::read)->count, 9U);
  EXPECT_EQ(requester.operation(OperationKind::flush), nullptr);
}

}  // namespace
}  // namespace roce::analyze
