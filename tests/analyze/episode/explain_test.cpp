// SPDX-License-Identifier: Apache-2.0
// Episodes written down as text, and what is said of each packet.
#include "analyze/episode/explain.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace explain_test {
namespace {

TEST(Explain, ASequenceNakNamesWhatWasLostOrLateDownstream) {
  expect_said(
      "0 write 10 | \n"
      "1 write 11 | \n"
      "2 write 12 | \n"
      "20 nak 11  | open\n"
      "25 write 11 | nak\n"
      "26 write 12 | nak\n"
      "27 write 13 | \n"
      "50 ack 13   | \n");
}

/// A slow responder's NAK meets the repeat that the requester's timer has sent: that one came, and is
/// confirmed. What the NAK asks for is the transmission before.
TEST(Explain, ANakThatATimerOvertookAsksForTheTransmissionBefore) {
  expect_said(
      "0 write 10 | \n"
      "1 write 11 | \n"
      "2 write 12 | \n"
      "20000 write 10 | timeout\n"
      "20001 write 11 | timeout\n"
      "20002 write 12 | timeout\n"
      "38000 nak 11 | open\n"
      "38100 ack 12 | \n");
}

TEST(Explain, AgainstOtherTimesNoneCounts) {
  std::vector<Note> notes(3);
  notes[0].time_ns = 1000;
  notes[1].time_ns = capture::no_time;
  notes[2].time_ns = 3000;
  settle_times(notes);
  EXPECT_EQ(notes[0].time_ns, capture::no_time);
  notes[0].time_ns = notes[1].time_ns = 2000;
  notes[2].time_ns = std::numeric_limits<std::int64_t>::max();
  settle_times(notes);
  EXPECT_EQ(notes[1].time_ns, capture::no_time);
  for (Note& note : notes) note.time_ns = 5000;
  settle_times(notes);
  EXPECT_EQ(notes[2].time_ns, 5000);
}

TEST(Explain, AGapThatANakAsksForWasLostUpstream) {
  expect_said(
      "0 write 10 | \n"
      "2 write 12 | \n"
      "20 nak 11  | \n"
      "25 write 11 | nak before=1\n"
      "26 write 12 | nak\n"
      "50 ack 12   | \n");
}

TEST(Explain, AGapThatIsConfirmedWasNotCaptured) {
  expect_said(
      "0 write 10 | \n"
      "2 write 12 | \n"
      "20 ack 12  | missed=1\n"
      "21 write 13 | \n");
}

TEST(Explain, WithoutIdsWhatFillsAGapUnaskedIsLate) {
  expect_said(
      "0 write 10 | \n"
      "1 write 12 | \n"
      "2 write 11 | late\n"
      "3 write 13 | \n"
      "20 ack 13  | \n");
}

TEST(Explain, AfterSilenceTheTimerSendsTheOldest) {
  expect_said(
      "0 write 10      | \n"
      "1 write 11      | \n"
      "20 ack 10       | \n"
      "67000 write 11  | timeout\n"
      "67020 ack 11    | \n");
}

/// A slow responder's answers take as long as the requester's timer: what is sent again then is no copy.
TEST(Explain, WithoutIdsATimerAsLongAsAnswersIsATimer) {
  expect_said(
      "0 write 10      | \n"
      "64000 ack 10    | \n"
      "68000 write 10  | timeout\n"
      "72000 write 11  | \n"
      "130000 ack 11   | \n"
      "141000 write 11 | timeout\n"
      "145000 write 12 | \n"
      "212000 write 12 | timeout\n"
      "220000 ack 12   | \n"
      "221000 write 13 | \n"
      "280000 ack 13   | \n"
      "289000 write 13 | timeout\n"
      "293000 write 14 | \n"
      "360000 ack 14   | \n");
}

/// One NAK makes a sender go back once, however often its timer does so afterwards.
TEST(Explain, ANakIsUsedOnce) {
  expect_said(
      "0 write 10 #100      | \n"
      "1 write 11 #101      | \n"
      "2 write 12 #102      | \n"
      "3 write 13 #103      | \n"
      "4 write 14 #104      | \n"
      "100 nak 11           | after=1\n"
      "20000 write 11 #105  | nak\n"
      "20001 write 12 #106  | nak\n"
      "20002 write 13 #107  | nak\n"
      "20003 write 14 #108  | nak\n"
      "40000 write 11 #109  | timeout\n"
      "40001 write 12 #110  | timeout\n"
      "40002 write 13 #111  | timeout\n"
      "40003 write 14 #112  | timeout\n"
      "60000 write 11 #113  | timeout\n"
      "60001 write 12 #114  | timeout\n"
      "60002 write 13 #115  | timeout\n"
      "60003 write 14 #116  | timeout\n"
      "61000 ack 14         | \n");
}

/// A slow requester's timer ran out while the answer lay in its queue: that it asks again tells no loss.
TEST(Explain, AnAnswerThatASlowRequesterAsksForAgainIsUndecided) {
  expect_said(
      "0 swap 10 #100         | \n"
      "1 swap 11 #101         | \n"
      "30000 swapped 10 #500  | \n"
      "33000 swapped 11 #501  | \n"
      "50000 swap 11 #102     | timeout\n"
      "80000 swapped 11 #502  | timeout\n"
      "81000 swap 12 #103     | \n"
      "110000 swapped 12 #503 | \n"
      "130000 swap 13 #104    | \n"
      "160000 swapped 13 #504 | \n"
      "180000 swap 14 #105    | \n");
}

/// Each answer answers a request: one that comes behind those that were asked for after it is that request,
/// overtaken behind the capture.
TEST(Explain, AnAnswerOvertakenByThoseBehindItWasNotLost) {
  expect_said(
      "0 swap 10 #100         | \n"
      "1 swap 11 #101         | \n"
      "10000 swapped 10 #500  | \n"
      "10003 swapped 11 #501  | \n"
      "16000 swap 10 #102     | timeout\n"
      "16001 swap 11 #103     | timeout\n"
      "25000 swapped 11 #502  | timeout\n"
      "43000 swapped 10 #503  | timeout\n"
      "60000 swap 12 #104     | \n"
      "70000 swapped 12 #504  | \n");
}

/// The sender stands behind its NAK: what a NAK asked for and was confirmed before it was sent again came
/// late.
TEST(Explain, WhatIsConfirmedBeforeItIsSentAgainWasNotLost) {
  expect_said(
      "0 write 10 | \n"
      "1 write 11 | \n"
      "2 write 12 | \n"
      "20 nak 11  | \n"
      "22 ack 12  | \n"
      "25 write 11 | nak\n"
      "26 write 12 | nak\n"
      "50 ack 12   | \n");
}

TEST(Explain, IdsTellTheLateFromTheRepeated) {
  expect_said(
      "0 write 10 #100 | \n"
      "1 write 11 #101 | \n"
      "2 write 12 #102 | \n"
      "3 write 14 #104 | \n"
      "4 write 15 #105 | \n"
      "5 write 13 #103 | late\n"
      "6 write 16 #106 | \n"
      "20 nak 13  | \n"
      "25 write 13 #107 | nak\n"
      "26 write 14 #108 | nak\n"
      "27 write 15 #109 | nak\n"
      "28 write 16 #110 | nak\n"
      "29 write 17 #111 | \n"
      "50 ack 17 | \n");
}

TEST(Explain, AnIdBelowTheLastIsLateHoweverLongTheSilenceWhereTheCounterIsSlow) {
  expect_said(
      "0 write 10 #100     | \n"
      "1000 write 11 #101  | \n"
      "2000 write 12 #102  | \n"
      "3000 write 13 #103  | \n"
      "4000 write 15 #105  | \n"
      "5000 write 16 #106  | \n"
      "65000 write 14 #104 | late\n"
      "65100 write 17 #107 | \n"
      "65200 ack 17 #9     | \n");
}

TEST(Explain, EqualIdsAreOneTransmission) {
  expect_said(
      "0 write 10 #7 | \n"
      "1 write 10 #7 | copy\n"
      "2 write 11 #9 | \n"
      "3 write 11 #9 | copy\n"
      "20 ack 11     | \n");
}

TEST(Explain, AMissingResponseIsAskedForAgain) {
  expect_said(
      "0 read 10     | \n"
      "1 read 11     | \n"
      "2 read 12     | \n"
      "20 response 10 | \n"
      "21 response 12 | \n"
      "30 read 11     | read_retry\n"
      "31 read 12     | read_retry\n"
      "50 response 11 | read_retry before=1\n"
      "51 response 12 | read_retry\n");
}

/// A slow responder: it had not executed what was asked for twice.
TEST(Explain, TheFirstAnswersOfASlowResponderAreNoRepeats) {
  expect_said(
      "0 swap 10        | \n"
      "1 swap 11        | \n"
      "5000 swap 10     | timeout\n"
      "5001 swap 11     | timeout\n"
      "9000 swapped 10  | \n"
      "9001 swapped 11  | \n"
      "9100 swapped 10  | timeout\n"
      "9101 swapped 11  | timeout\n");
}

/// A responder that accepts READs while it still answers the one before counts them then, as the answer to
/// the first shows, which was asked for once: its count is no proof that it had answered what is asked for
/// again.
TEST(Explain, WhoCountsReadsThatWaitHasNotAnsweredThem) {
  expect_said(
      "0 read 1 +2         | \n"
      "1 read 3 +2         | \n"
      "2 read 5 +2         | \n"
      "40 begin 1 =2       | \n"
      "41 end 2 =2         | \n"
      "42 begin 3 =3       | \n"
      "44 read 4           | read_retry\n"
      "45 read 5 +2        | read_retry\n"
      "46 end 4 =3         | \n"
      "47 begin 5 =3       | \n"
      "48 end 6 =3         | \n"
      "84 response 4 =3    | read_retry\n"
      "85 begin 5 =3       | read_retry\n"
      "86 end 6 =3         | read_retry\n");
}

TEST(Explain, AMessageIsRepeatedWholeWhereItsRequesterDoesThat) {
  expect_said(
      "0 first 10   | \n"
      "1 middle 11  | \n"
      "2 last 12    | \n"
      "20 nak 11    | after=1\n"
      "25 first 10  | nak\n"
      "26 middle 11 | nak\n"
      "27 last 12   | nak\n"
      "50 ack 12    | \n");
}

TEST(Explain, NothingIsSaidOfNothing) {
  Facts facts;
  EXPECT_TRUE(explain({}, facts).rulings.empty());
}

}  // namespace
}  // namespace explain_test
}  // namespace roce::analyze::episode
