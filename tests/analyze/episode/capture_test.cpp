// SPDX-License-Identifier: Apache-2.0
// What the capture itself does to the truth: packets shown twice, missed, or in another order than on the
// wire.
#include <algorithm>
#include <string>
#include <vector>

#include "analyze/episode/clocks.hpp"
#include "analyze/episode/scratch.hpp"
#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace capture_test {
namespace {

std::string line(int microseconds, const char* what, int psn, const char* expected) {
  return std::to_string(microseconds) + " " + what + " " + std::to_string(psn) + " | " + expected + "\n";
}

TEST(Copies, WhatComesOnAnotherPathAsWellIsOfAnotherCapturePoint) {
  expect_said(
      "0 write 10 @1  | \n"
      "1 write 11 @1  | \n"
      "2 write 12 @1  | \n"
      "40 write 10 @2 | copy\n"
      "41 write 11 @2 | copy\n"
      "42 write 12 @2 | copy\n"
      "50 ack 12      | \n");
}

/// Its sender took another path from then on: that is none on which all is shown twice.
TEST(Copies, ARepeatOnANewPathIsNone) {
  expect_said(
      "0 write 10 @1  | \n"
      "2 write 12 @1  | \n"
      "20 nak 11      | \n"
      "25 write 11 @2 | nak before=1\n"
      "26 write 12 @2 | nak\n"
      "27 write 13 @2 | \n"
      "28 write 14 @2 | \n"
      "29 write 15 @2 | \n"
      "60 ack 15      | \n");
}

TEST(Copies, AMirrorIsKnownByItsLag) {
  std::string text;
  for (int i = 0; i < 6; ++i) {
    text += line(100 * i, "write", 10 + 2 * i, "");
    text += line(100 * i + 1, "write", 11 + 2 * i, "");
    text += line(100 * i + 7, "write", 10 + 2 * i, "copy");
    text += line(100 * i + 8, "write", 11 + 2 * i, "copy");
    text += line(100 * i + 30, "ack", 11 + 2 * i, "");
    text += line(100 * i + 37, "ack", 11 + 2 * i, "copy");
  }
  expect_said(text);
}

/// The round trip is as steady as a mirror, but what a NAK asked for is a witness of none.
TEST(Copies, PassesAfterNaksAreNoMirror) {
  std::string text;
  for (int i = 0; i < 6; ++i) {
    const int psn = 10 + 100 * i;
    const int now = 1000 * i;
    for (int k = 0; k < 100; ++k) text += line(now + k, "write", psn + k, "");
    text += line(now + 110, "nak", psn + 97, "after=1");
    for (int k = 97; k < 100; ++k) text += line(now + 20 + k, "write", psn + k, "nak");
    text += line(now + 150, "ack", psn + 99, "");
  }
  expect_said(text);
}

/// Nobody sends again what was confirmed, unless a timer ran.
TEST(Copies, WhatWasConfirmedLongBeforeIsShownAgain) {
  Facts facts;
  facts.first = 10;
  facts.acked = 100;
  std::vector<Note> notes;
  for (const EpisodeLine& each : parse_episode("0 write 100 | \n"
                                               "1 write 20  | \n"
                                               "2 write 101 | \n"))
    notes.push_back(each.note);
  const std::vector<Ruling> said = explain(notes, facts).rulings;
  EXPECT_EQ(said[1].what, Ruling::What::copy);
  EXPECT_EQ(said[1].rule, Rule::confirmed_before);
}

TEST(WireOrder, StampsThatJitterLoseNothing) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += line(10 * i, "write", 11 + 3 * i, "");
    text += line(10 * i + 1, "write", 12 + 3 * i, "");
    text += line(10 * i + 2, "write", 10 + 3 * i, "late");
  }
  text += line(200, "ack", 39, "");
  expect_said(text);
}

TEST(WireOrder, ANakComesBeforeWhatItAsksForHoweverItIsStamped) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    text += line(10 * i, "write", 11 + 3 * i, "");
    text += line(10 * i + 1, "write", 12 + 3 * i, "");
    text += line(10 * i + 6, "write", 10 + 3 * i, "late");
  }
  text += line(120, "write", 38, "nak");
  text += line(121, "write", 39, "nak");
  text += line(123, "nak", 38, "after=1");
  text += line(200, "ack", 39, "");
  expect_said(text);
}

/// IDs tell the order of requests; that of answers, and with it when a NAK came, is as disturbed.
TEST(WireOrder, ANakIsStampedLateWhereAnswersAre) {
  std::string text;
  for (int i = 0; i < 10; ++i) {
    const int id = 100 + 3 * i;
    text += std::to_string(20 * i) + " write " + std::to_string(11 + 3 * i) + " #" + std::to_string(id + 1) +
            " | \n";
    text += std::to_string(20 * i + 1) + " write " + std::to_string(12 + 3 * i) + " #" +
            std::to_string(id + 2) + " | \n";
    text += std::to_string(20 * i + 6) + " write " + std::to_string(10 + 3 * i) + " #" + std::to_string(id) +
            " | late\n";
    text += std::to_string(20 * i + 12) + " ack " + std::to_string(12 + 3 * i) + " =" +
            std::to_string(3 * i + 3) + " | \n";
    text += std::to_string(20 * i + 13) + " ack " + std::to_string(11 + 3 * i) + " =" +
            std::to_string(3 * i + 2) + " | \n";
  }
  text += "240 write 40 #130 | \n";
  text += "241 write 42 #132 | \n";
  text += "250 write 41 #133 | nak before=1\n";
  text += "251 write 42 #134 | nak\n";
  text += "253 nak 41 =31 | \n";
  text += "300 ack 42 =33 | \n";
  expect_said(text);
}

/// The stamps of answers are 50 us behind: ACKs seem to come before their requests, and a NAK long before.
TEST(Clocks, NoAnswerComesBeforeItsRequest) {
  Facts facts;
  std::vector<Note> notes;
  for (const EpisodeLine& each : parse_episode("0 ack 10     | \n"
                                               "40 write 10  | \n"
                                               "41 write 11  | \n"
                                               "45 ack 11    | \n"
                                               "80 write 12  | \n"))
    notes.push_back(each.note);
  facts.first = facts.acked = 10;
  const Explanation said = explain(notes, facts);
  EXPECT_EQ(facts.clocks.least_ns, 40'000);
  EXPECT_TRUE(said.losses.empty());
}

std::vector<Note> notes_of(const std::string& text) {
  std::vector<Note> notes;
  for (const EpisodeLine& each : parse_episode(text)) notes.push_back(each.note);
  return notes;
}

/// What was answered before the episode tells as well: its requests come only now.
TEST(Clocks, AnswersOfBeforeComeBehindTheirRequests) {
  std::vector<Note> notes = notes_of(
      "0 ack 10     | \n"
      "40 write 10  | \n"
      "41 write 11  | \n");
  notes[0].before = true;
  const Scratch scratch;
  Facts facts;
  EXPECT_EQ(clock_shift(notes, facts), 40'000);
}

/// A READ of before, whose length is forgotten, did not ask for what was sent after it. Nor was what had been
/// sent again by then first sent when it was sent last.
TEST(Clocks, WhatIsForgottenBoundsNothing) {
  std::vector<Note> notes = notes_of(
      "0 read 10     | \n"
      "600 write 20  | \n"
      "610 ack 20    | \n"
      "700 write 21  | \n"
      "705 ack 21    | \n");
  notes[0].before = notes[3].before = true;
  notes[0].count = 0;
  notes[3].cause = Cause::timeout;
  const Scratch scratch;
  Facts facts;
  EXPECT_EQ(clock_shift(notes, facts), 0);
  EXPECT_EQ(facts.clocks.least_ns, -10'000);
}

/// A NAK comes 4 us too late; that answers may come 600 us earlier shows nothing.
TEST(Clocks, ABoundFarOffMovesStampsByLittle) {
  const Scratch scratch;
  Facts facts;
  facts.clocks = {.least_ns = -600'000, .most_ns = -4'000};
  EXPECT_EQ(clock_shift({}, facts), -8'000);
  facts.clocks = {.least_ns = -10'000, .most_ns = -8'000};
  EXPECT_EQ(clock_shift({}, facts), -9'000);
  facts.clocks = {.least_ns = 5'000, .most_ns = 4'000};
  EXPECT_EQ(clock_shift({}, facts), 0);
}

/// The stamps of answers are 100 us ahead.
TEST(Clocks, NoPassBeginsBeforeItsNak) {
  expect_said(
      "0 write 10   | \n"
      "1 write 11   | \n"
      "2 write 12   | \n"
      "3 write 13   | \n"
      "15 write 11  | nak\n"
      "16 write 12  | nak\n"
      "17 write 13  | nak\n"
      "18 write 14  | \n"
      "110 nak 11   | after=1\n"
      "125 ack 14   | \n");
}

/// Every tenth packet, as a switch samples them.
TEST(CaptureMisses, ASampleShowsNoLoss) {
  std::string text;
  for (int i = 0; i < 20; ++i) {
    text += line(100 * i, "write", 10 + 10 * i, "");
    if (i % 5 == 4) text += line(100 * i + 50, "ack", 10 + 10 * i, "");
  }
  expect_said(text);
}

/// The READ of the responses in the gap was missed: one request.
TEST(CaptureMisses, PsnsInsideAReadAreNoRequests) {
  expect_said(
      "0 write 10  | \n"
      "1 write 14  | \n"
      "20 begin 11 | \n"
      "21 inner 12 | missed=1\n"
      "22 end 13   | \n"
      "30 ack 14   | \n"
      "31 write 15 | \n");
}

/// The capture stopped: some of what is missing was confirmed, so nothing shows that the rest was lost.
TEST(Missing, WhatIsMissingTogetherIsMissingForOneReason) {
  std::string text;
  text += line(0, "write", 10, "");
  text += line(2, "write", 19, "");
  text += line(20, "ack", 14, "missed=4");
  for (int psn = 15; psn <= 19; ++psn) text += line(20000 + psn, "write", psn, "timeout");
  text += line(20100, "ack", 19, "");
  expect_said(text);
}

/// What a responder throws away it does not ask for: eight in a row may be a hole of the capture.
TEST(Missing, ManyAtOnceThatNothingAskedForAreNoLoss) {
  std::string text;
  text += line(0, "write", 10, "");
  text += line(1, "write", 12, "");
  text += line(2, "write", 13, "");
  text += line(3, "write", 22, "");
  text += line(20, "nak", 11, "");
  text += line(25, "write", 11, "nak before=1");
  for (int psn = 12; psn <= 22; ++psn) text += line(25 + psn, "write", psn, "nak");
  text += line(90, "ack", 22, "");
  expect_said(text);
}

/// Where as many are lost elsewhere, they are one more.
TEST(Missing, ManyAtOnceAreLostWhereOthersAre) {
  std::string text;
  text += line(0, "write", 10, "");
  text += line(2, "write", 17, "");
  text += line(3, "write", 24, "");
  text += line(20, "nak", 11, "");
  for (int psn = 11; psn <= 24; ++psn)
    text += line(25 + psn, "write", psn, psn == 17 || psn == 24 ? "nak" : "nak before=1");
  text += line(90, "ack", 24, "");
  expect_said(text);
}

/// A NAK may answer the pass before the one whose head is missing, which had that packet as well. Not where
/// it comes so much later, as behind a timer: then the one that it names was lost.
TEST(Missing, ANakLongBehindAPassAnswersTheNext) {
  for (const bool timer : {false, true}) {
    SCOPED_TRACE(timer);
    std::string text;
    for (int psn = 10; psn < 50; ++psn) text += line(psn, "write", psn, "");
    text += line(55, "ack", 19, "");
    const int again = timer ? 8000 : 80;
    for (int psn = 30; psn < 50; ++psn) text += line(again + psn, "write", psn, "");
    text += line(again + 55, "nak", 20, "");
    for (int psn = 20; psn < 50; ++psn) text += line(again + 45 + psn, "write", psn, "");
    text += line(again + 100, "ack", 49, "");
    std::vector<Note> notes;
    for (const EpisodeLine& each : parse_episode(text)) notes.push_back(each.note);
    Facts facts;
    facts.first = facts.acked = 10;
    facts.slow_answer_ns = 6'000;
    const Explanation said = explain(notes, facts);
    const auto certain = std::count_if(said.losses.begin(), said.losses.end(), [](const Loss& loss) {
      return loss.where == Lost::before_capture && !loss.or_missed;
    });
    EXPECT_EQ(certain, timer ? 1 : 0);  // what the NAK names
  }
}

}  // namespace
}  // namespace capture_test
}  // namespace roce::analyze::episode
