// SPDX-License-Identifier: Apache-2.0
// Captures on a host whose interrupts are moderated: what it receives is stamped when the interrupt is
// served.
#include "analyze/episode/late_stamps.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace late_stamps_test {
namespace {

/// On the requester: three packets are lost behind it, and each NAK is stamped 6 to 25 us after the pass that
/// it caused. A round trip takes 8 us.
std::string on_the_requester() {
  return "0 write 10   | \n"
         "8 ack 10     | \n"
         "10 write 11  | \n"
         "11 write 12  | \n"
         "19 write 11  | nak\n"
         "20 write 12  | nak\n"
         "25 nak 11    | after=1\n"
         "50 ack 12    | \n"
         "110 write 13 | \n"
         "111 write 14 | \n"
         "120 write 13 | nak\n"
         "121 write 14 | nak\n"
         "145 nak 13   | after=1\n"
         "145 ack 14   | \n"
         "210 write 15 | \n"
         "211 write 16 | \n"
         "220 write 15 | nak\n"
         "221 write 16 | nak\n"
         "234 nak 15   | after=1\n"
         "234 ack 16   | \n";
}

/// What an episode shows of the clocks.
ClockFact clocks_of(const std::string& text) {
  std::vector<Note> notes;
  for (const EpisodeLine& line : parse_episode(text)) notes.push_back(line.note);
  Facts facts;
  facts.first = facts.acked = 10;
  static_cast<void>(explain(notes, facts));
  return facts.clocks;
}

/// No timer runs out within 10 us: the NAK that asks for just that packet had come.
TEST(LateStamps, ANakStampedBehindThePassThatItCausedIsItsCause) {
  expect_said(on_the_requester());
}

TEST(LateStamps, ThatStampsOfAnswersAreLateIsLearned) {
  const ClockFact clocks = clocks_of(on_the_requester());
  EXPECT_TRUE(clocks.answers_late());
  EXPECT_FALSE(clocks.requests_late());
  EXPECT_GE(clocks.latest_ns(), 25'000);
}

/// A NAK that has no effect behind it was heard before: one is enough, where nothing else was asked for.
TEST(LateStamps, OneNakThatIsHeardOnlyBeforeItIsStampedTellsThem) {
  expect_said(
      "0 write 10   | \n"
      "8 ack 10     | \n"
      "10 write 11  | \n"
      "11 write 12  | \n"
      "12 write 13  | \n"
      "19 write 11  | nak\n"
      "20 write 12  | nak\n"
      "21 write 13  | nak\n"
      "25 nak 11    | after=1\n"
      "50 ack 13    | \n");
}

TEST(LateStamps, SoDoesOneOfWhatWasLostUpstream) {
  expect_said(
      "0 write 10   | \n"
      "8 ack 10     | \n"
      "11 write 12  | \n"
      "12 write 13  | \n"
      "19 write 11  | nak before=1\n"
      "20 write 12  | nak\n"
      "21 write 13  | nak\n"
      "25 nak 11    | \n"
      "50 ack 13    | \n");
}

/// What was overtaken is asked for as well, and what overtook it is sent again: behind the NAK.
TEST(LateStamps, ANakBehindWhatWasOvertakenShowsNoLateStamps) {
  const ClockFact clocks = clocks_of(
      "0 write 10   | \n"
      "8 ack 10     | \n"
      "10 write 12  | \n"
      "11 write 11  | \n"
      "17 nak 11    | \n"
      "18 ack 11    | \n"
      "25 write 12  | \n"
      "33 ack 12    | \n");
  EXPECT_FALSE(clocks.varies);
  EXPECT_EQ(clocks.heard_late, 0U);
}

/// Where NAKs come before the passes that they cause, one that comes behind a pass was caused by it.
TEST(LateStamps, ASingleNakBehindAPassShowsNoLateStamps) {
  const ClockFact clocks = clocks_of(
      "0 write 10   | \n"
      "8 ack 10     | \n"
      "10 write 11  | \n"
      "11 write 12  | \n"
      "19 nak 11    | \n"
      "20 write 11  | \n"
      "21 write 12  | \n"
      "30 ack 12    | \n"
      "110 write 13 | \n"
      "111 write 14 | \n"
      "120 write 13 | \n"
      "121 write 14 | \n"
      "129 nak 13   | \n"
      "130 write 13 | \n"
      "131 write 14 | \n"
      "140 ack 14   | \n");
  EXPECT_FALSE(clocks.varies);
}

/// What was lost upstream of the requester's capture was asked for as well, by a NAK that is stamped later.
TEST(LateStamps, ANakStampedBehindWhatWasLostUpstreamIsItsCause) {
  Facts facts;
  facts.clocks.least_ns = -8'000;
  facts.clocks.most_ns = -20'000;
  facts.clocks.varies = true;
  expect_said(
      "0 write 10   | \n"
      "1 write 12   | \n"
      "2 write 13   | \n"
      "12 write 11  | nak before=1\n"
      "13 write 12  | nak\n"
      "14 write 13  | nak\n"
      "25 ack 10    | \n"
      "25 nak 11    | \n"
      "25 ack 13    | \n",
      facts);
}

/// On the responder, requests are stamped up to 25 us late: an ACK that is stamped before its request does
/// not show that the capture missed it, and what a NAK asks for was lost before it came here.
TEST(LateStamps, WhatIsConfirmedBeforeItIsStampedWasCaptured) {
  Facts facts;
  facts.clocks.least_ns = 25'000;
  facts.clocks.most_ns = 12'000;
  facts.clocks.varies = true;
  expect_said(
      "0 ack 9      | \n"
      "2 nak 11     | \n"
      "3 write 10   | \n"
      "4 write 12   | \n"
      "12 ack 11    | \n"
      "13 ack 12    | \n"
      "25 write 11  | nak before=1\n"
      "26 write 12  | nak\n"
      "27 write 13  | \n"
      "30 ack 13    | \n",
      facts);
}

/// Requests move before the answers that need them, and keep their order.
TEST(LateStamps, RequestsPassedNoLaterThanTheirAnswers) {
  std::vector<Note> notes;
  for (const EpisodeLine& line : parse_episode("0 ack 10    | \n"
                                               "20 write 10 | \n"
                                               "21 write 11 | \n"
                                               "22 write 12 | \n"
                                               "15 ack 11   | \n"))
    notes.push_back(line.note);
  Facts facts;
  facts.acked = 10;
  facts.clocks = {.least_ns = 20'000, .most_ns = 10'000, .varies = true};
  const List<std::int64_t> by = passed_by(notes, facts);
  EXPECT_EQ(by[1], notes[0].time_ns);
  EXPECT_EQ(by[2], notes[4].time_ns);
  EXPECT_EQ(by[3], notes[3].time_ns);
}

}  // namespace
}  // namespace late_stamps_test
}  // namespace roce::analyze::episode
