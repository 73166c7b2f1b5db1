// SPDX-License-Identifier: Apache-2.0
// What Soft-RoCE hosts do that are slow, over paths that hold packets back: recorded first, and told here as
// text.
#include <gtest/gtest.h>

#include <string>

#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace soft_roce_test {
namespace {

/// The second response was lost upstream. Its responder gives it again as it gave it first, as the end of the
/// answer, and counts no more than it did.
TEST(SoftRoce, TheRestOfAReadIsGivenAgain) {
  expect_said(
      "0 read 10 +2   | \n"
      "20 begin 10 =1 | \n"
      "21 end 11 =1   | \n"
      "40 read 12 +2  | \n"
      "60 begin 12 =2 | \n"
      "9000 read 13   | read_retry\n"
      "9020 end 13 =2 | read_retry\n"
      "9040 read 14   | \n");
}

/// The end of the first answer overtook its begin: that it counts the READ shows no earlier answer.
TEST(SoftRoce, AnOvertakenBeginWasNotExecutedBefore) {
  expect_said(
      "0 read 10 +2 #1       | \n"
      "20 begin 10 #100 =1   | \n"
      "21 end 11 #101 =1     | \n"
      "40 read 12 +2 #2      | \n"
      "60 begin 12 #102 =2   | \n"
      "61 end 13 #103 =2     | \n"
      "80 read 14 +2 #3      | \n"
      "9000 read 14 +2 #4    | read_retry\n"
      "9020 end 15 #105 =3   | \n"
      "9023 begin 14 #104 =3 | late\n"
      "9024 begin 14 #106 =3 | read_retry\n"
      "9025 end 15 #107 =3   | read_retry\n");
}

/// The NAK took eight milliseconds. Its requester sends once, for it has started to send again already.
TEST(SoftRoce, ATimerRunsOutWhileANakIsOnItsWay) {
  expect_said(
      "0 write 10     | \n"
      "40 ack 10      | \n"
      "60 write 11    | \n"
      "61 write 12    | \n"
      "70000 write 11 | timeout\n"
      "70001 write 12 | timeout\n"
      "78000 nak 11   | open\n"
      "99000 ack 12   | \n"
      "99050 write 13 | \n");
}

/// An RNR NAK waits for its timer, and a pass for the NAK before it comes to its PSN first.
TEST(SoftRoce, AnRnrNakHasItsOwnPassBehindThatOfANak) {
  expect_said(
      "0 write 10 #1     | \n"
      "1 write 11 #2     | \n"
      "2 write 12 #3     | \n"
      "3 write 13 #4     | \n"
      "4 write 14 #5     | \n"
      "20 ack 10         | \n"
      "21 nak 11         | \n"
      "22 ack 11         | \n"
      "23 rnr 12         | \n"
      "60 write 11 #6    | nak\n"
      "61 write 12 #7    | nak\n"
      "62 write 13 #8    | nak\n"
      "63 write 14 #9    | nak\n"
      "6000 write 12 #10 | rnr\n"
      "6001 write 13 #11 | rnr\n"
      "6002 write 14 #12 | rnr\n"
      "6100 ack 14       | \n");
}

/// Packets overtook each other: of two NAKs the second asks for what the pass for the first has just sent.
TEST(SoftRoce, ANakThatAPassComesToIsHeardBehindIt) {
  expect_said(
      "0 write 10 #1      | \n"
      "1 write 11 #2      | \n"
      "2 write 12 #3      | \n"
      "3 write 13 #4      | \n"
      "4 write 14 #5      | \n"
      "20000 ack 10       | \n"
      "26000 nak 11       | \n"
      "26100 ack 11       | \n"
      "26150 nak 12       | \n"
      "29000 write 11 #6  | nak\n"
      "29800 write 12 #7  | nak\n"
      "57000 write 12 #8  | nak\n"
      "57001 write 13 #9  | nak\n"
      "57002 write 14 #10 | nak\n"
      "77000 ack 14       | \n");
}

/// A requester that has waited longer for answers, twice, has no timer as short as that.
TEST(SoftRoce, ATimerIsLongerThanItsRequesterWaited) {
  expect_said(
      "0 write 10        | \n"
      "33000 ack 10      | \n"
      "34000 write 11    | \n"
      "67000 ack 11      | \n"
      "68000 write 12    | \n"
      "68001 write 13    | \n"
      "70000 ack 12      | \n"
      "70010 nak 13      | \n"
      "80000 write 13    | nak\n"
      "80001 write 14    | \n"
      "81000 ack 14      | \n"
      "82000 write 15    | \n"
      "82001 write 16    | \n"
      "82002 write 17    | \n"
      "82400 ack 15      | \n"
      "82410 nak 16      | open\n"
      "92000 write 16    | nak\n"
      "92001 write 17    | nak\n"
      "93000 ack 17      | \n");
}

/// A host that stood still waited longer than its timer takes. What it sends again soon is no copy.
TEST(SoftRoce, ATimerThatWasSeenToRunOutIsNoLonger) {
  expect_said(
      "0 write 10     | \n"
      "15000 ack 10   | \n"
      "16000 write 11 | \n"
      "31000 ack 11   | \n"
      "32000 write 12 | \n"
      "32001 write 13 | \n"
      "37200 write 12 | timeout\n"
      "37201 write 13 | timeout\n"
      "43000 ack 13   | \n"
      "44000 write 14 | \n"
      "44001 write 15 | \n"
      "49200 write 14 | timeout\n"
      "49201 write 15 | timeout\n"
      "55000 ack 15   | \n"
      "56000 write 16 | \n"
      "56001 write 17 | \n"
      "61200 write 16 | timeout\n"
      "61201 write 17 | timeout\n"
      "66000 ack 17   | \n");
}

/// What is missing there may have come among the packets of the next pass.
TEST(SoftRoce, NothingIsLostWherePassesAreMixedUp) {
  const std::string text =
      "0 write 10     | \n"
      "1 write 11     | \n"
      "3 write 13     | \n"
      "20000 nak 12   | \n"
      "40000 write 12 | nak";
  const std::string rest =
      "\n"
      "40001 write 13 | nak\n"
      "60000 ack 13   | \n";
  expect_said(text + " before=1" + rest);
  Facts facts;
  facts.disorder_ns = 3'000'000;
  expect_said(text + rest, facts);
}

/// Lost, the first response of an answer would be missing as often as any other.
TEST(SoftRoce, WhoLacksNoFirstResponseThrowsOthersAway) {
  PathFact path;
  path.whole_due = 17 * PathFact::one_due;
  path.whole = 5;
  EXPECT_TRUE(path.throws_away());
  EXPECT_FALSE(path.was_lost(Doubt::waited_for, {}));
  path.whole = 12;
  EXPECT_FALSE(path.throws_away());
  EXPECT_TRUE(path.was_lost(Doubt::waited_for, {}));
  path.whole_due = 3 * PathFact::one_due;
  path.whole = 0;
  EXPECT_FALSE(path.throws_away());
}

/// The timer was faster than the NAK of the first 11, which is answered by its repeat: nothing overtook
/// anything.
TEST(SoftRoce, ANakThatCrossesARepeatedReadIsOfTheFirst) {
  expect_said(R"(
        0 read 10+1 |
        100 response 10 =1 |
        200 read 11+1 |
        201 read 12+1 |
        202 read 13+1 |
        60200 read 11+1 | read_retry
        60201 read 12+1 | read_retry
        60202 read 13+1 | read_retry
        60230 nak 11 =1 | open
        60301 response 11 =2 |
        60302 response 12 =3 |
        60303 response 13 =4 |
        70000 read 14+1 |
        70100 response 14 =5 |
  )");
}

}  // namespace
}  // namespace soft_roce_test
}  // namespace roce::analyze::episode
