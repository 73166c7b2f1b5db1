// SPDX-License-Identifier: Apache-2.0
// Why the requester went back, where several things may have made it.
#include <gtest/gtest.h>

#include <string>

#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace causes_test {
namespace {

/// Its requester goes back for the first of them, long after the last that it may remember.
TEST(Causes, ANakForEachEarlyPacketIsOneQuestion) {
  std::string text = "0 write 10 | \n";
  constexpr int early = 60;
  for (int i = 0; i < early; ++i) {
    const std::string at = std::to_string(10 + i);
    text += at + " write " + std::to_string(12 + i) + " | \n" + at + " nak 11 | \n";
  }
  text +=
      "80 write 11 | nak before=1\n"
      "81 write 12 | nak\n"
      "99 ack 71   | \n";
  expect_said(text);
}

/// The NAK was lost behind the capture, and its PSN in the pass for the first one: the timer's.
TEST(Causes, AReactionTakesAsLongAsOthersDid) {
  expect_said(
      "0 write 10    | \n"
      "2 write 12    | \n"
      "10 nak 11     | \n"
      "30 write 11   | nak before=1\n"
      "31 write 12   | nak\n"
      "32 write 13   | \n"
      "33 write 15   | \n"
      "45 nak 14     | \n"
      "65 write 15   | nak\n"
      "66 write 16   | \n"
      "5000 write 14 | timeout before=2\n"
      "5001 write 15 | timeout\n"
      "5002 write 16 | timeout\n"
      "5020 ack 16   | \n");
}

/// One packet alone is sent again after some microseconds, as IDs show; that of the second NAK was lost, and
/// the timer sends all.
TEST(Causes, WhoTakesAsLongAsATimerDoesNotReact) {
  std::string text;
  for (int i = 0; i < 12; ++i)
    text += std::to_string(i) + " write " + std::to_string(10 + i) + " #" + std::to_string(100 + i) + " | \n";
  expect_said(text +
              "13 write 23 #113   | \n"
              "20 nak 22          | \n"
              "30 write 22 #114   | nak before=1\n"
              "31 write 24 #115   | \n"
              "32 write 26 #117   | \n"
              "45 nak 25          | \n"
              "5000 write 25 #200 | timeout before=1\n"
              "5001 write 26 #201 | timeout\n"
              "5020 ack 26        | \n");
}

/// What was confirmed while the pass was under way is left out; it goes on for the reason for which it began.
TEST(Causes, APassLeavesOutWhatIsConfirmedMeanwhile) {
  expect_said(
      "0 write 10     | \n"
      "1 write 11     | \n"
      "2 write 12     | \n"
      "3 write 13     | \n"
      "4 read 14      | \n"
      "20 nak 11      | \n"
      "22 ack 13      | \n"
      "23 response 14 | \n"
      "40 write 11    | nak\n"
      "41 read 14     | nak\n"
      "42 write 15    | \n"
      "60 response 14 | nak\n"
      "61 ack 15      | \n");
}

/// A NAK came while an older READ lacked its response: the pass for the READ comes to it.
TEST(Causes, APassGoesOnForTheNakThatItComesTo) {
  expect_said(
      "0 read 10      | \n"
      "1 write 11     | \n"
      "2 write 12     | \n"
      "3 write 13     | \n"
      "20 nak 12      | open\n"
      "40 read 10     | read_retry\n"
      "41 write 11    | read_retry\n"
      "42 write 12    | nak\n"
      "43 write 13    | nak\n"
      "60 response 10 | read_retry\n"
      "61 ack 13      | \n");
}

/// Nothing had been sent for the NAK when the requester fell silent; the head of its reaction was lost.
TEST(Causes, ANakThatNobodyHeardIsHeardLate) {
  expect_said(
      "0 write 10 #1      | \n"
      "1 write 12 #3      | \n"
      "2 write 13 #4      | \n"
      "3 write 14 #5      | \n"
      "20 nak 11          | \n"
      "60000 write 12 #7  | nak\n"
      "60001 write 13 #8  | nak\n"
      "60002 write 14 #9  | nak\n"
      "120000 write 11 #10 | timeout before=2\n"
      "120001 write 12 #11 | timeout\n"
      "120002 write 13 #12 | timeout\n"
      "120003 write 14 #13 | timeout\n"
      "120020 ack 14      | \n");
}

/// The second pass begins where the first began, soon after it; the NAK was answered, so it is the timer's.
TEST(Causes, OneNakCausesOnePass) {
  expect_said(
      "0 write 10 #1     | \n"
      "1 write 12 #3     | \n"
      "2 write 13 #4     | \n"
      "20 nak 11         | \n"
      "60 write 11 #5    | nak before=1\n"
      "61 write 12 #6    | nak\n"
      "62 write 13 #7    | nak\n"
      "900 write 11 #8   | timeout\n"
      "901 write 12 #9   | timeout\n"
      "902 write 13 #10  | timeout\n"
      "5000 ack 13       | \n");
}

/// What asks for a packet in the middle of a pass is left to the pass that begins with it.
TEST(Causes, ANakIsLeftToThePassThatBeginsWhereItAsks) {
  expect_said(
      "0 write 10 #1       | \n"
      "1 write 11 #2       | \n"
      "2 write 12 #3       | \n"
      "3 write 13 #4       | \n"
      "60000 write 10 #5   | timeout\n"
      "60001 nak 12        | \n"
      "60002 write 11 #6   | timeout\n"
      "60003 write 12 #7   | timeout\n"
      "60004 write 13 #8   | timeout\n"
      "60040 write 12 #9   | nak\n"
      "60041 write 13 #10  | nak\n"
      "60060 ack 13        | \n");
}

/// What overtook the READ had it asked for again; by then its first response had come.
TEST(Causes, ANakAsksForTheRestOfAReadThatIsBeingAnswered) {
  expect_said(
      "0 read 10 +6  | \n"
      "1 write 16    | \n"
      "2 write 17    | \n"
      "20 nak 10     | \n"
      "21 begin 10   | \n"
      "22 inner 11   | \n"
      "23 inner 12   | \n"
      "30 read 11 +5 | nak\n"
      "31 inner 13   | \n"
      "31 write 16   | nak\n"
      "32 inner 14   | \n"
      "32 write 17   | nak\n"
      "33 end 15 =1  | \n"
      "60 begin 11   | nak\n"
      "61 inner 12   | nak\n"
      "62 inner 13   | nak\n"
      "63 inner 14   | nak\n"
      "64 end 15 =1  | nak\n"
      "65 ack 17 =3  | \n");
}

/// A NAK of a READ tells its requester sooner that there is no response than a timer does, however slow its
/// host is.
TEST(Causes, AReadThatANakAskedForIsSentAgainForIt) {
  expect_said(
      "0 read 10      | \n"
      "6 response 10  | \n"
      "8 read 11      | \n"
      "8 read 12      | \n"
      "14 nak 11      | after=1\n"
      "147 read 11    | nak\n"
      "147 read 12    | nak\n"
      "153 response 11 | \n"
      "153 response 12 | \n"
      "155 read 13    | \n"
      "161 response 13 | \n");
}

}  // namespace
}  // namespace causes_test
/// Nothing had answered the READ or anything behind it when its timer ran out, whatever else was sent until
/// then: what goes with it is the timer's. Only an answer behind a missing response asks for it (implied
/// NAK).
TEST(Causes, WhatGoesWithAReadThatTheTimerSendsAgainIsTheTimers) {
  expect_said(
      "0 write 9       | \n"
      "10 ack 9        | \n"
      "20 read 10      | \n"
      "21 write 11     | \n"
      "300 write 12    | \n"
      "600 write 13    | \n"
      "900 write 14    | \n"
      "920 read 10     | read_retry\n"
      "921 write 11    | timeout\n"
      "922 write 12    | timeout\n"
      "923 write 13    | timeout\n"
      "924 write 14    | timeout\n"
      "940 response 10 | \n"
      "950 ack 14      | \n");
}

/// Its responses had been sent before the episode, of which not all is remembered: whoever asks for a READ
/// again had asked for it before. What is sent twice is no late packet, however many were sent in between.
TEST(Causes, WhatIsAskedForAgainAndWasAnsweredBeforeTheEpisodeIsSentAgain) {
  Facts facts;
  facts.acked = facts.answered = 20;
  expect_said(
      "0 read 5 +15    | \n"
      "0 read 20       | \n"
      "10 response 20  | \n"
      "2000 read 17 +3 | read_retry\n"
      "2010 begin 17   | read_retry\n"
      "2011 inner 18   | read_retry\n"
      "2012 end 19     | read_retry\n"
      "2020 read 21    | \n"
      "2030 response 21 | \n",
      facts);
}

}  // namespace roce::analyze::episode
