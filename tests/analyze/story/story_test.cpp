// SPDX-License-Identifier: Apache-2.0
#include "analyze/story/story.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/analyze/story/story_maker.hpp"

namespace roce::analyze {
namespace {

using test::add_incident;
using test::connect_not_ready;
using test::connect_refused;
using test::connect_silent;
using test::has;
using test::story_of;
using test::told;

TEST(Story, AHealthyConnectionHasNoTrouble) {
  SnapshotMaker maker;
  const Story story = story_of(maker, maker.connect(1, 2));
  EXPECT_FALSE(story.ended_badly);
  EXPECT_EQ(story.headline, "nothing went wrong as far as the capture shows; open to the end of the capture");
  EXPECT_TRUE(has(told(story, StoryKind::begin), "no set-up by the CM before it"));
  EXPECT_TRUE(has(told(story, StoryKind::begin), "10.0.0.1 sends 10000 packets"));
  EXPECT_TRUE(has(told(story, StoryKind::end), "still open when the capture ends"));
  EXPECT_EQ(told(story, StoryKind::application),
            "neither application sees an error of this queue pair up to here");
  EXPECT_EQ(told(story, StoryKind::next), "roceanalyze packets FILE -Y 'roce.connection == 0'");
  EXPECT_EQ(told(story, StoryKind::incident), "");
  EXPECT_EQ(told(story, StoryKind::marks), "");
}

TEST(Story, OneDirectionIsNotCalledGood) {
  SnapshotMaker maker;
  const Story story = story_of(maker, maker.connect_half(1, 2));
  EXPECT_EQ(story.headline,
            "one direction was captured, and it shows no trouble; open to the end of the capture");
  EXPECT_TRUE(has(told(story, StoryKind::end), "no packet is known to be from 10.0.0.2"));
  EXPECT_EQ(told(story, StoryKind::application), "");
}

TEST(Story, WhatTheCaptureDoesNotBearIsNotSaid) {
  SnapshotMaker maker;
  Connection& c = connect_silent(maker);
  add_incident(maker, c, IncidentKind::loss, 100, 140);
  maker.snapshot.completeness.sampled = Completeness::Sampled{16, true};
  maker.snapshot.completeness.connections = 1;
  const Story story = story_of(maker, c);
  EXPECT_TRUE(has(story.headline, "losses and repeats are not judged")) << story.headline;
  EXPECT_FALSE(story.judged);
  EXPECT_FALSE(story.ended_badly);
  EXPECT_EQ(told(story, StoryKind::incident), "");
  EXPECT_EQ(told(story, StoryKind::application), "");
  EXPECT_TRUE(has(told(story, StoryKind::note), "sampled")) << told(story, StoryKind::note);
}

/// Where it begins to show, and not a second time at the end.
TEST(Story, AnOutageIsToldWhereItBegins) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  Incident& incident = add_incident(maker, c, IncidentKind::timeout, 100, 140);
  incident.start_ns = 2 * test_second;
  incident.end_ns = 8 * test_second;
  Diagnosis& outage = maker.snapshot.diagnoses.emplace_back();
  outage.cause = "outage";
  outage.sentence = "10.0.0.1 got no answer from 10.0.0.2 for 6.00 s, then traffic went on";
  outage.since_ns = 2 * test_second;
  outage.until_ns = 8 * test_second;
  outage.connections = {c.id};
  const Story story = story_of(maker, c);
  EXPECT_EQ(told(story, StoryKind::note), "an outage begins: " + outage.sentence);
  EXPECT_EQ(told(story, StoryKind::diagnosis), "");
  const auto is = [](StoryKind kind) { return [kind](const StoryLine& line) { return line.kind == kind; }; };
  EXPECT_LT(std::find_if(story.lines.begin(), story.lines.end(), is(StoryKind::note)),
            std::find_if(story.lines.begin(), story.lines.end(), is(StoryKind::incident)));
}

TEST(Story, RetriesThatRanOut) {
  SnapshotMaker maker;
  const Story story = story_of(maker, connect_silent(maker));
  EXPECT_TRUE(story.ended_badly);
  EXPECT_EQ(story.headline,
            "10.0.0.1 gave up at packet 540: RDMA WRITE Only was sent 5 times, and no answer came in time");
  EXPECT_EQ(told(story, StoryKind::end),
            "from packet 540 on the queue pair of 10.0.0.1 is in the error state");
  const std::string seen = told(story, StoryKind::application);
  EXPECT_TRUE(has(seen, "on 10.0.0.1 sees IBV_WC_RETRY_EXC_ERR (12,")) << seen;
  EXPECT_TRUE(has(seen, "on 10.0.0.2 sees no error")) << seen;
  EXPECT_TRUE(has(told(story, StoryKind::next), "frame.number >= 500 && frame.number <= 540"));
  expect_filters(told(story, StoryKind::next));
}

TEST(Story, RefusedRequests) {
  const struct {
    std::uint8_t code;
    std::string_view requester, responder;
  } cases[] = {{1, "IBV_WC_REM_INV_REQ_ERR (9,", "IBV_EVENT_QP_REQ_ERR"},
               {2, "IBV_WC_REM_ACCESS_ERR (10,", "IBV_EVENT_QP_ACCESS_ERR"},
               {3, "IBV_WC_REM_OP_ERR (11,", "IBV_WC_LOC_PROT_ERR"}};
  for (const auto& each : cases) {
    SnapshotMaker maker;
    const Story story = story_of(maker, connect_refused(maker, each.code));
    EXPECT_TRUE(has(story.headline, "10.0.0.2 refused RDMA WRITE Only of 10.0.0.1 with NAK"))
        << story.headline;
    const std::string seen = told(story, StoryKind::application);
    EXPECT_TRUE(has(seen, each.requester)) << seen;
    EXPECT_TRUE(has(seen, each.responder)) << seen;
    EXPECT_TRUE(has(told(story, StoryKind::end), "queue pairs of 10.0.0.1 and 10.0.0.2 are"));
  }
}

TEST(Story, ReceiverThatIsNotReady) {
  SnapshotMaker maker;
  const Story story = story_of(maker, connect_not_ready(maker));
  EXPECT_TRUE(has(story.headline, "10.0.0.2 had no receive posted")) << story.headline;
  EXPECT_TRUE(has(told(story, StoryKind::application), "IBV_WC_RNR_RETRY_EXC_ERR (13,"));
}

TEST(Story, FewIncidentsAreToldOneByOne) {
  SnapshotMaker maker;
  const Connection& c = maker.connect(1, 2);
  Incident& lost = add_incident(maker, c, IncidentKind::loss, 100, 140);
  lost.place = IncidentPlace::before_capture;
  lost.lost_before = 2;
  lost.lost_at_most = 5;
  lost.learned = LearnedBy::sequence_nak;
  lost.learned_after_ns = 14'000;
  lost.repeated_packets = 7;
  lost.repeated_bytes = 7000;
  add_incident(maker, c, IncidentKind::rnr, 200, 240).over = false;
  const Story story = story_of(maker, c);
  EXPECT_EQ(
      told(story, StoryKind::incident),
      "#0 at least 2 packets of 10.0.0.1 lost upstream of the capture; noticed by sequence NAK after 14.0 "
      "µs; 7 "
      "packets sent again (7.00 kB); over after 40.0 ms | #1 10.0.0.2 is not ready: no receive posted for a "
      "request of 10.0.0.1; not over when the capture ends");
  EXPECT_TRUE(has(story.headline, "2 incidents: ")) << story.headline;
  EXPECT_TRUE(has(told(story, StoryKind::application), "delay only"));
}

TEST(Story, ManyIncidentsAreOneLineWhereTheyAreClose) {
  SnapshotMaker maker;
  const Connection& c = maker.connect(1, 2);
  for (std::uint64_t i = 0; i < 10; ++i)
    add_incident(maker, c, IncidentKind::rnr, 100 + 10 * i, 105 + 10 * i);
  for (std::uint64_t i = 0; i < 10; ++i)
    add_incident(maker, c, IncidentKind::timeout, 5000 + 10 * i, 5005 + 10 * i);
  add_incident(maker, c, IncidentKind::path_silent, 5101, 5200);
  const Story story = story_of(maker, c);
  std::size_t lines = 0;
  for (const StoryLine& line : story.lines) lines += line.kind == StoryKind::incident ? 1 : 0;
  EXPECT_EQ(lines, 3U) << told(story, StoryKind::incident);
  EXPECT_TRUE(has(told(story, StoryKind::incident), "#0 to #9: 10 incidents of the requests of 10.0.0.1"));
  EXPECT_TRUE(story.lines[3].fatal);
}

TEST(Story, SetUpAndEndByTheCm) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  c.state = Connection::State::closed;
  c.cm = 0;
  CmExchange& cm = maker.snapshot.exchanges.emplace_back();
  cm.client = host(1);
  cm.server = host(2);
  cm.state = CmExchange::State::disconnected;
  cm.pmtu = 1024;
  cm.retry_count = 7;
  cm.rnr_retry = 7;
  cm.ack_timeout_code = 14;
  cm.req = {1, 1000, 2, 0};
  cm.rep = {3, 2000, 1, 0};
  cm.rtu = {4, 3000, 1, 0};
  cm.dreq = {9000, 9000, 1, 0};
  const Story story = story_of(maker, c);
  EXPECT_EQ(told(story, StoryKind::set_up),
            "10.0.0.1 sets up a connection with 10.0.0.2: REQ twice (from packet 1), REP (packet 3), RTU "
            "(packet 4), in "
            "2.00 µs; path MTU 1024, ACK timeout 67.1 ms (4.096 µs · 2^14), retry count 7, RNR retries "
            "without limit");
  EXPECT_EQ(told(story, StoryKind::end),
            "the connection is closed by the CM: DREQ in packet 9000, not answered");
  EXPECT_EQ(story.lines.front().kind, StoryKind::set_up);
  EXPECT_TRUE(has(story.headline, "closed by the CM"));
}

TEST(Story, SilenceMarksAndNotes) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  c.requester[0].idle_ns = 5'000'000'000;
  c.requester[0].idle_from_frame = 77;
  c.congestion[0]->ce = 12;
  c.congestion[0]->cnps = 3;
  happen(c.sent[0], Event::icrc_mismatch, 2, 50);
  Story story = story_of(maker, c);
  EXPECT_TRUE(has(told(story, StoryKind::silence), "and no answer to one for 5.00 s: the longest silence"));
  EXPECT_EQ(told(story, StoryKind::marks), "12 packets of 10.0.0.1 are marked CE, and it gets 3 CNPs");
  EXPECT_EQ(told(story, StoryKind::note),
            "a packet of 10.0.0.1 has a wrong ICRC: damaged on the way (the first of 2)");
  // An incident tells of it.
  add_incident(maker, c, IncidentKind::timeout, 70, 80);
  story = story_of(maker, c);
  EXPECT_EQ(told(story, StoryKind::silence), "");
}

TEST(Story, TroublesOfTheWholeCaptureAreNamed) {
  SnapshotMaker maker;
  const Connection& c = maker.connect(1, 2);
  maker.connect(1, 3);
  for (const std::uint32_t of : {0U, 1U}) {
    Diagnosis diagnosis;
    diagnosis.sentence = of == 0 ? "10.0.0.1 loses packets" : "something of another connection";
    diagnosis.connections = {of};
    maker.snapshot.diagnoses.push_back(diagnosis);
  }
  EXPECT_EQ(told(story_of(maker, c), StoryKind::diagnosis), "10.0.0.1 loses packets");
}

TEST(Story, AShortSilenceIsNone) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);
  c.requester[0].idle_ns = 900'000'000;  // of ten seconds
  c.requester[0].idle_from_frame = 77;
  EXPECT_EQ(told(story_of(maker, c), StoryKind::silence), "");
}

TEST(Story, SidesOfOneHostAreCalledByTheirQueuePairs) {
  SnapshotMaker maker;
  Connection& c = connect_silent(maker);
  c.ends[1].address = c.ends[0].address;
  EXPECT_TRUE(has(story_of(maker, c).headline, "QP 0x000100 gave up"));
}

}  // namespace
}  // namespace roce::analyze
