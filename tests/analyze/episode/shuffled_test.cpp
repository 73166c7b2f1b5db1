// SPDX-License-Identifier: Apache-2.0
// Paths that only shuffle: nothing is lost there.
#include "analyze/episode/explain.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace shuffled_test {
namespace {

/// The second request of 11 was lost behind the capture: between its neighbours' answers nothing was sent.
TEST(Shuffled, NoMoreIsLostThanIdsLeaveRoomFor) {
  expect_said(
      "0 read 10          | \n"
      "1 read 11          | \n"
      "2 read 12          | \n"
      "3 read 13          | \n"
      "20 response 10 #50 | \n"
      "21 response 11 #51 | \n"
      "22 response 12 #52 | \n"
      "23 response 13 #53 | \n"
      "67000 read 10      | read_retry\n"
      "67001 read 11      | read_retry\n"
      "67002 read 12      | read_retry\n"
      "67003 read 13      | read_retry\n"
      "67020 response 10 #54  | read_retry\n"
      "67021 response 12 #55  | read_retry\n"
      "67022 response 13 #56  | read_retry\n"
      "134000 read 11         | read_retry\n"
      "134020 response 11 #57 | read_retry\n"
      "134021 read 14         | \n"
      "134041 response 14 #58 | \n");
}

/// Answered twice though sent once since: the first one came as well.
TEST(Shuffled, AReadThatIsAnsweredTwiceCameTwice) {
  expect_said(
      "0 read 10      | \n"
      "1 read 11      | \n"
      "2 read 12      | \n"
      "20 response 10 | \n"
      "21 nak 11      | \n"
      "40 read 11     | nak\n"
      "41 read 12     | nak\n"
      "60 response 11 | \n"
      "61 response 12 | \n"
      "62 response 11 | nak\n"
      "80 read 13     | \n"
      "99 response 13 | \n");
}

/// Asked for three times and answered as often: that it is asked for once more shows no loss of the last
/// answer.
TEST(Shuffled, WhoHasOneAnswerDoesNotMissAnother) {
  const auto answers = [](const char* at, const char* to, const char* cause) {
    return std::string(at) + " response 10 | " + cause + "\n" + to + " response 11 | " + cause + "\n";
  };
  expect_said(
      "0 read 10  | \n"
      "1 read 11  | \n"
      "8000 read 10 | read_retry\n"
      "8001 read 11 | read_retry\n" +
      answers("9000", "9001", "") + answers("9002", "9003", "read_retry") +
      "16500 read 10 | read_retry\n"
      "16501 read 11 | read_retry\n" +
      answers("17500", "17501", "read_retry") +
      "30000 read 12     | \n"
      "30020 response 12 | \n");
}

/// Only a first or only response begins an answer: behind a late one the answer before goes on.
TEST(Shuffled, AnAnswerGoesOnBehindOneThatIsLate) {
  expect_said(
      "0 read 10 +3      | \n"
      "1 read 13 +3      | \n"
      "20 begin 10 =1    | \n"
      "21 end 12 =1      | \n"
      "22 begin 13 =2    | \n"
      "23 read 13 +3     | read_retry\n"
      "24 inner 11       | late\n"
      "25 inner 14       | \n"
      "26 end 15 =2      | \n"
      "45 begin 13 =2    | read_retry\n"
      "46 inner 14       | read_retry\n"
      "47 end 15 =2      | read_retry\n"
      "50 read 16        | \n"
      "70 response 16 =3 | \n");
}

/// Each READ is asked for its rest, at a PSN that no request had before: nothing was overtaken.
TEST(Shuffled, TheRestOfAReadIsNotLate) {
  std::string text;
  const auto line = [&text](int at, const char* what, int psn, int count) {
    text +=
        std::to_string(at) + " " + what + " " + std::to_string(psn) + " +" + std::to_string(count) + " | \n";
  };
  for (int i = 0; i < 8; ++i) line(i, "read", 10 + 8 * i, 8);
  for (int i = 0; i < 8; ++i) line(5000 + i, "read", 14 + 8 * i, 4);
  const std::vector<EpisodeLine> lines = parse_episode(text);
  std::vector<Note> notes;
  for (const EpisodeLine& each : lines) notes.push_back(each.note);
  Facts facts;
  facts.first = facts.acked = 10;
  static_cast<void>(explain(notes, facts));
  EXPECT_EQ(facts.disorder_ns, 0);
}

/// The first of the two may be the one that seems to be missing.
TEST(Shuffled, WhatComesTwiceForOneNakMayHaveComeLate) {
  const auto episode = [](const std::string& between, const char* shows) {
    return "0 write 10  | \n"
           "1 write 12  | \n"
           "2 write 13  | \n"
           "5 nak 11    | \n" +
           between + "21 write 11 | " + shows +
           "22 write 12 | nak\n"
           "23 write 13 | nak\n"
           "30 ack 13   | \n";
  };
  expect_said(episode("", "nak before=1\n"));
  expect_said(episode("20 write 11 | nak\n", "nak\n"));
}

/// Of the second pass one came late, and the responder asked twice before it did: nothing was lost.
TEST(Shuffled, WhatComesLateMayFillTheGapOfAnyPass) {
  expect_said(
      "0 write 10  | \n"
      "1 write 11  | \n"
      "2 write 12  | \n"
      "3 write 13  | \n"
      "4 write 14  | \n"
      "5 write 15  | \n"
      "6 write 16  | \n"
      "7 write 17  | \n"
      "8 write 18  | \n"
      "9 write 19  | \n"
      "20 nak 10   | \n"
      "40 write 10 | nak\n"
      "41 write 12 | nak\n"
      "42 write 13 | nak\n"
      "43 write 14 | nak\n"
      "44 write 11 | nak\n"
      "45 write 15 | nak\n"
      "46 write 16 | nak\n"
      "47 write 17 | nak\n"
      "48 write 18 | nak\n"
      "49 write 19 | nak\n"
      "55 nak 11   | \n"
      "56 nak 12   | \n"
      "75 write 11 | nak\n"
      "76 write 12 | nak\n"
      "77 write 13 | nak\n"
      "78 write 14 | nak\n"
      "79 write 15 | nak\n"
      "80 write 16 | nak\n"
      "81 write 17 | nak\n"
      "82 write 18 | nak\n"
      "83 write 19 | nak\n"
      "100 ack 19  | \n");
}

/// Nothing was sent that the second acknowledgement could answer but the transmission that came late.
TEST(Shuffled, AnAcknowledgementThatComesTwiceIsOfADuplicate) {
  const auto episode = [](const char* named, const std::string& again) {
    return "0 write 10   | \n"
           "20 ack 10    | \n"
           "21 write 11  | \n"
           "22 write 12  | \n"
           "42 nak 11    | " +
           std::string(named) +
           "60 write 11  | nak\n"
           "61 write 12  | nak\n"
           "81 ack 12    | \n" +
           again +
           "400 write 13 | \n"
           "420 ack 13   | \n";
  };
  expect_said(episode("open\n", ""));
  expect_said(episode("\n", "90 ack 12    | \n"));
}

/// Packets come late by more than an answer takes: what was captured once was perhaps sent once.
TEST(Shuffled, WhereAllComesLateOnlyWhatComesTwiceWasSentTwice) {
  const auto episode = [](const std::string& at, const char* shows) {
    return "0 write 10  | \n"
           "1 write 11  | \n"
           "5 ack 11    | \n"
           "10 write 13 | \n"
           "14 nak 12   | \n" +
           at + " write 12 | " + shows + "900 ack 13  | \n";
  };
  Facts facts;
  expect_said(episode("25", "nak before=1\n"), facts);
  facts.disorder_ns = 50'000;
  expect_said(episode("25", "late\n"), facts);
  expect_said(episode("250", "nak before=1\n"), facts);
}

/// No request but for the rest of a READ has a PSN inside it.
TEST(Shuffled, TheRestOfAReadIsAskedForAgainHoweverLateAllComes) {
  Facts facts;
  facts.disorder_ns = 50'000;
  expect_said(
      "0 read 10 +4    | \n"
      "10 begin 10     | \n"
      "11 inner 11     | \n"
      "13 end 13 =1    | \n"
      "600 read 12 +2  | read_retry\n"
      "610 begin 12 =1 | read_retry before=1\n"
      "611 end 13 =1   | read_retry\n",
      facts);
}

/// The repeat was answered late, as one that was no duplicate: it was lost, unless others were late.
TEST(Shuffled, WhereOthersAreLateAnUnansweredOneIsUndecided) {
  const auto episode = [](const char* nak) {
    return std::string(
               "0 write 10   | \n"
               "1 write 11   | \n"
               "2 write 12   | \n"
               "20 nak 11    | ") +
           nak +
           "\n"
           "25 write 11  | nak\n"
           "26 write 12  | nak\n"
           "27 write 13  | \n"
           "400 write 14 | \n"
           "420 ack 14   | \n";
  };
  expect_said(episode("after=1"));
  Facts shuffles;
  shuffles.there.late = 3;
  expect_said(episode("open"), shuffles);
}

TEST(Shuffled, TheEndOfAPassIsOvertakenByTheNextOne) {
  // The answer to 10 to 19 lacks nothing: its 19 comes while the next answer is under way.
  expect_said(R"(
         0 read 10 +10 |
         5 begin 10 =1 |
         6 inner 11 |
         7 inner 12 |
         8 inner 14 |
         9 inner 13 | late
        10 inner 15 |
        11 inner 16 |
        12 inner 17 |
        13 inner 18 |
        30 read 13 +7 | read_retry
        35 begin 13 =1 | read_retry
        36 inner 14 | read_retry
        37 end 19 =1 | late
        38 inner 15 | read_retry
        39 inner 16 | read_retry
        40 inner 17 | read_retry
        41 inner 18 | read_retry
        42 end 19 =1 | read_retry
  )");
}

/// Before it could go on behind 11 the second NAK sent it on to 13: no packet is kept, and 13 was thrown
/// away, not lost.
TEST(Shuffled, WhoIsSentOnAtOnceShowsNoKeeping) {
  const auto flight = [](int at, int psn) {
    const auto line = [](int time, const std::string& what, int number, const char* says) {
      return std::to_string(time) + " " + what + " " + std::to_string(number) + " | " + says + "\n";
    };
    return line(at, "first", psn, "") + line(at + 1, "middle", psn + 3, "") +
           line(at + 2, "middle", psn + 1, "late") + line(at + 3, "middle", psn + 2, "late") +
           line(at + 4, "middle", psn + 4, "") + line(at + 5, "last", psn + 5, "") +
           line(at + 20, "nak", psn + 1, "") + line(at + 21, "nak", psn + 3, "") +
           line(at + 40, "middle", psn + 1, "nak") + line(at + 41, "middle", psn + 3, "nak") +
           line(at + 42, "middle", psn + 4, "nak") + line(at + 43, "last", psn + 5, "nak") +
           line(at + 60, "ack", psn + 5, "");
  };
  expect_said(flight(0, 10) + flight(100, 16) + flight(200, 22) + flight(300, 28));
}

TEST(Shuffled, APassThatCameBeforeIsNoDisorder) {
  // The timer sends the oldest again; 14 to 17 are new, though they come in another order.
  std::vector<Note> notes;
  for (const EpisodeLine& line : parse_episode(R"(
         0 write 10 |
         1 write 11 |
         2 write 12 |
         3 write 13 |
      4000 write 10 |
      4004 ack 13   |
      4008 write 16 |
      4009 write 17 |
      4012 write 14 |
      4013 write 15 |
      4020 ack 17   |
  )"))
    notes.push_back(line.note);
  Facts facts;
  facts.first = facts.acked = 10;
  facts.disorder_ns = 10'000;
  const std::vector<Ruling> rulings = explain(notes, facts).rulings;
  for (std::size_t i = 0; i < rulings.size(); ++i) {
    EXPECT_EQ(rulings[i].what == Ruling::What::repeat, i == 4) << "line " << i + 1;
    EXPECT_EQ(rulings[i].lost_before, 0U) << "line " << i + 1;
  }
}

/// 12 comes behind its own repeat: IDs that tell no order do not tell which of the two was sent first.
TEST(Shuffled, WhatComesTwiceForOneNakMayBeWhatSeemsToBeMissing) {
  expect_said(R"(
        0 write 10 #40000 |
        1 write 11 #900 |
        2 write 13 #30000 |
        3 write 14 #12000 |
        4 write 15 #60000 |
        10 nak 12 |
        15 write 12 #50000 | nak
        16 write 16 #200 |
        17 write 17 #35000 |
        25 ack 17 |
        30 write 12 #23000 | nak
        31 write 18 #61000 |
        40 ack 18 |
  )");
}

/// Nobody goes back for a NAK that the pass before has had its reason from: it was late by more than NAK and
/// repeat take.
TEST(Shuffled, WhatComesAloneBehindItsOwnPassWasNotLost) {
  expect_said(R"(
        0 write 10 #7 |
        1 write 11 #7 |
        2 write 13 #7 |
        3 write 14 #7 |
        4 write 15 #7 |
        10 nak 12 |
        15 write 12 #7 | nak
        16 write 13 #7 | nak
        17 write 14 #7 | nak
        18 write 15 #7 | nak
        19 write 16 #7 |
        20 write 17 #7 |
        27 ack 15 |
        28 ack 17 |
        30 write 12 #7 | late
        40 ack 17 |
  )");
}

/// Each request is answered once: of two answers to a READ that was asked for twice the first may be late,
/// and none is lost.
TEST(Shuffled, AnswersAsManyAsRequestsMissNone) {
  expect_said(R"(
        0 read 10+3 |
        10 inner 11 |
        11 end 12 |
        15 read 10+3 | read_retry
        20 begin 10 | late
        25 begin 10 | read_retry
        26 inner 11 | read_retry
        27 end 12 | read_retry
        30 read 13+1 |
        40 response 13 |
  )");
}

/// One NAK makes one pass: its last two overtook its head.
TEST(Shuffled, APassWhoseHeadFollowsAtOnceLacksNothing) {
  expect_said(R"(
        0 write 10 #40922 |
        1 write 11 #16840 |
        2 write 12 #48713 |
        3 write 13 #23596 |
        4 write 14 #52213 |
        5 write 15 #45349 |
        6 write 16 #61864 |
        7 write 17 #55249 |
        10 nak 12 | open
        20 write 16 #48589 | nak
        21 write 17 #42831 | nak
        22 write 12 #60545 | nak
        23 write 13 #34836 | nak
        24 write 14 #2000 | nak
        25 write 15 #55173 | nak
        26 write 18 #30615 |
        27 write 19 #50953 |
        40 ack 15 |
        41 nak 16 |
        50 write 16 #61923 | nak
        51 write 17 #16421 | nak
        52 write 18 #42631 | nak
        53 write 19 #3498 | nak
        70 ack 19 |
  )");
}

}  // namespace
}  // namespace shuffled_test
}  // namespace roce::analyze::episode
