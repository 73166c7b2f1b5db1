// SPDX-License-Identifier: Apache-2.0
// Which requests were lost before the capture, where nobody needed them again or the way is in question.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace {

TEST(EpisodeLosses, WhatGoesOnWithWhatHadComeIsNoDisorder) {
  // The NAK asks for the first of a row of five, and the pass brings all of them again.
  expect_said(R"(
        0 write 10 |
        1 write 11 |
        2 write 12 |
        8 write 18 |
        9 write 19 |
       10 write 20 |
       12 nak 13 |
       50 write 13 | nak before=1
       51 write 14 | nak before=1
       52 write 15 | nak before=1
       53 write 16 | nak before=1
       54 write 17 | nak before=1
       55 write 18 | nak
       56 write 19 | nak
       57 write 20 | nak
       60 ack 20 |
  )");
}

TEST(EpisodeLosses, WhatTheMirrorLostIsNotLostByTheNetwork) {
  // 13 is sent again with 11, which a NAK asks for, and was lost as well ...
  expect_said(R"(
        0 write 10 |
        2 write 12 |
        4 write 14 |
       20 nak 11 |
       25 write 11 | nak before=1
       26 write 12 | nak
       27 write 13 | nak before=1
       28 write 14 | nak
       50 ack 14 |
  )");
  // ... unless the mirror's own numbers show that it lost packets in front of 14.
  expect_said(R"(
        0 write 10 |
        2 write 12 |
        4 write 14 ~1 |
       20 nak 11 |
       25 write 11 | nak before=1
       26 write 12 | nak
       27 write 13 | nak
       28 write 14 | nak
       50 ack 14 |
  )");
  // What a NAK asks for was lost, whatever the mirror lost meanwhile.
  expect_said(R"(
        0 write 10 |
        2 write 12 ~1 |
       20 nak 11 |
       25 write 11 | nak before=1
       26 write 12 | nak
       50 ack 12 |
  )");
}

std::uint32_t missed_of(const std::string& text) {
  std::vector<Note> notes;
  for (const EpisodeLine& line : parse_episode(text)) notes.push_back(line.note);
  Facts facts;
  facts.first = facts.acked = notes.front().psn;
  static_cast<void>(explain(notes, facts));
  return facts.capture.missed;
}

TEST(EpisodeLosses, WhatTheMirrorLostSaysNothingOfTheCapture) {
  // It is known where that was: elsewhere nothing is missing for it.
  EXPECT_EQ(missed_of(R"(
        0 write 10 |
        2 write 12 |
        4 write 13 |
       20 ack 13 |
  )"),
            1U);
  EXPECT_EQ(missed_of(R"(
        0 write 10 |
        2 write 12 ~1 |
        4 write 13 |
       20 ack 13 |
  )"),
            0U);
}

TEST(EpisodeLosses, AReadAskedForWholeAgainLacksItsRest) {
  // Of the answer only the half came to the capture: for the rest its timer ran out, and it asks for all.
  expect_said(R"(
         0 read 10 +4 |
         5 begin 10 |
         6 inner 11 |
      4000 read 10 +4 | read_retry
      4005 begin 10 | read_retry
      4006 inner 11 | read_retry
      4007 inner 12 | read_retry
      4008 end 13 =1 | read_retry
  )");
}

TEST(EpisodeLosses, IdsThatOthersUseTooLeaveRoomForAnything) {
  // 12 was confirmed in the middle of the pass, and left out. That the IDs of the host, of which each packet
  // takes three here, leave room for one more is chance.
  expect_said(R"(
       0 write 10 #1  |
       1 write 11 #4  |
       2 write 12 #7  |
       3 write 13 #10 |
       4 write 14 #13 |
       8 nak 10       |
      30 write 10 #16 | nak
      31 write 11 #19 | nak
      32 ack 12       |
      33 write 13 #21 | nak
      34 write 14 #24 | nak
      40 ack 14       |
  )");
}

TEST(EpisodeLosses, WhereNoAnswerWasCapturedAPassMayLeaveMessagesOut) {
  // By 12 an acknowledgement of 11 may have come that took another way: 12 begins a message.
  expect_said(R"(
       0 write 10 |
       1 write 11 |
       2 write 12 |
       3 write 13 |
    4000 write 10 | timeout
    4001 write 12 | timeout
    4002 write 13 | timeout
  )");
}

TEST(EpisodeLosses, WhatComesAfterATimerIsNotLate) {
  // 14 is missing in both passes, and was never captured before the second one brought it.
  expect_said(R"(
         0 write 10 |
         1 write 12 |
         2 write 13 |
         3 write 15 |
         4 write 16 |
      4000 write 10 | timeout
      4001 write 11 | timeout before=1
      4003 write 13 | timeout
      4004 write 14 | timeout before=1
      4005 write 15 | timeout
      4006 write 16 | timeout
      8000 write 12 | timeout before=3
      8001 write 13 | timeout
      8002 write 14 | timeout
      8003 write 15 | timeout
      8004 write 16 | timeout
      8010 ack 16 |
  )");
}

TEST(EpisodeLosses, WhereNewPacketsAreLostRepeatsAreToo) {
  // Some are missing of each pass, and nothing came late. Only what was lost at the end of one does not show.
  expect_said(R"(
         0 write 10 |
         1 write 12 |
         2 write 15 |
         3 write 16 |
         4 write 18 |
         6 nak 11 |
        20 write 12 | nak
        21 write 13 | nak before=1
        22 write 16 | nak
        23 write 17 | nak before=1
        26 nak 11 |
        40 write 11 | nak before=2
        41 write 14 | nak before=2
        42 write 15 | nak before=1
        43 write 18 | nak
        46 nak 12 |
        60 write 12 | nak before=1
        61 write 13 | nak before=1
        62 write 14 | nak
        63 write 15 | nak
        64 write 16 | nak before=1
        65 write 17 | nak before=1
        66 write 18 | nak
        70 ack 18 |
  )");
}

TEST(EpisodeLosses, ATimerSendsAllThatIsNotConfirmed) {
  // The head of the second pass is missing, and had been delivered by the first one.
  expect_said(R"(
         0 swap 10 |
         1 write 11 |
         2 swap 12 |
         3 write 13 |
         4 swap 14 |
      4000 swap 10 | timeout
      4001 write 11 | timeout
      4002 swap 12 | timeout
      4003 write 13 | timeout
      4004 swap 14 | timeout
      8000 write 13 | timeout before=3
      8001 swap 14 | timeout
      8005 swapped 14 |
      8040 swap 10 | timeout
      8041 write 11 | timeout
      8042 swap 12 | timeout
      8043 write 13 | timeout
      8044 swap 14 | timeout
      8046 swapped 10 | timeout
      8047 swapped 12 | timeout
      8048 swapped 14 | timeout
  )");
}

TEST(EpisodeLosses, WhoLacksAResponseSendsAllBehindItsReadAgain) {
  // All was confirmed, but no response to the READ came: of the second pass only the last one did.
  expect_said(R"(
         0 read 10 |
         1 write 11 |
         2 write 12 |
         3 write 13 |
        10 ack 13 |
      4000 read 10 | read_retry
      4001 write 11 | timeout
      4002 write 12 | timeout
      4003 write 13 | timeout
      4010 ack 13 |
      8003 write 13 | timeout before=3
      8010 ack 13 |
     12000 read 10 | read_retry
     12001 write 11 | timeout
     12002 write 12 | timeout
     12003 write 13 | timeout
     12010 response 10 | read_retry
     12011 ack 13 |
  )");
}

TEST(EpisodeLosses, WhoHearsThatAMessageIsConfirmedMayGoOnToTheNextOperation) {
  // The answers to both atomics are lost behind the capture, and the acknowledgement is under way.
  expect_said(R"(
        0 swap 10 |
        1 first 11 |
        2 middle 12 |
        3 last 13 |
        4 swap 14 |
       10 swapped 10 |
       12 ack 13 |
       14 swapped 14 |
     8000 swap 10 | timeout open
     8001 first 11 | timeout
     8002 swap 14 | timeout
     8010 swapped 10 | timeout
     8014 swapped 14 | timeout
  )");
}

TEST(EpisodeLosses, WhatConfirmsMoreThanWasSentAgainHadKeptIt) {
  // It need not have come late for the rest to be confirmed; or that answers the repeat.
  expect_said(R"(
        0 write 10 |
        1 write 11 |
        2 write 12 |
        3 write 13 |
        4 write 14 |
        5 write 15 |
       12 nak 11 | open
       30 write 11 | nak
       40 ack 15 |
  )");
}

TEST(EpisodeLosses, WhoWaitedForATimerDoesNotGoOnWithAPass) {
  // The second acknowledgement is lost behind the capture.
  expect_said(R"(
        0 write 10 |
        1 write 11 |
        2 write 12 |
        3 write 13 |
        4 write 14 |
        5 write 15 |
       12 nak 11 | open
       30 write 11 | nak
       40 ack 12 |
       41 ack 15 |
     4041 write 13 | timeout
     4042 write 14 | timeout
     4043 write 15 | timeout
     4050 ack 15 |
  )");
}

TEST(EpisodeLosses, WhatIsAskedForAndNeverComesWasLost) {
  const char* const text = R"(
        0 write 10 |
        1 write 11 |
        3 write 13 | before=1
        4 nak 12 |
        5 write 14 |
      205 write 15 |
  )";
  expect_said(text);
}

TEST(EpisodeLosses, WhatMayStillComeIsNotLost) {
  expect_said(R"(
        0 write 10 |
        1 write 11 |
        3 write 13 |
        4 nak 12 |
        5 write 14 |
  )");
}

TEST(EpisodeLosses, WhoGoesOnHasTakenTheResponseThatTheCaptureMissed) {
  // The response 11 is not in the capture. Five round trips later the timer repeats what was not confirmed,
  // and nothing before it.
  expect_said(R"(
         0 read 10 +3     |
         5 begin 10 =1    |
         7 end 12 =1      |
        20 write 13       |
        25 ack 13 =2      |
        40 write 14       |
        45 ack 14 =3      |
        60 write 15       |
        65 ack 15 =4      |
        80 write 16       |
        85 ack 16 =5      |
       100 write 17       |
       105 ack 17 =6      |
       120 first 18       |
       121 last 19        |
      4120 first 18       | timeout
      4121 last 19        | timeout
      4126 ack 19 =7      |
  )");
}

/// By PSN: whether its loss upstream may as well be one of the capture.
std::map<std::int64_t, bool> or_missed(const std::string& text) {
  std::vector<Note> notes;
  for (const EpisodeLine& line : parse_episode(text)) notes.push_back(line.note);
  Facts facts;
  facts.first = facts.acked = notes.front().psn;
  std::map<std::int64_t, bool> all;
  for (const Loss& loss : explain(notes, facts).losses) {
    if (loss.where == Lost::before_capture) all[loss.psn] = loss.or_missed;
  }
  return all;
}

TEST(EpisodeLosses, WhatOnlyComesAgainWithAnotherMayNotHaveBeenCaptured) {
  // The NAK asks for 13; 14 comes again with it.
  EXPECT_EQ(or_missed(R"(
        0 write 10 |
        1 write 11 |
        2 write 12 |
        5 write 15 |
       12 nak 13 |
       50 write 13 | nak before=1
       51 write 14 | nak before=1
       52 write 15 | nak
       60 ack 15 |
  )"),
            (std::map<std::int64_t, bool>{{13, false}, {14, true}}));
}

TEST(EpisodeLosses, ANakBehindAnRnrNakAsksForWhatCame) {
  // 13 was not taken, for its receiver was not ready: that it was not captured is no loss.
  EXPECT_EQ(or_missed(R"(
        0 write 10 |
        1 write 11 |
        2 write 12 |
        5 write 14 |
       12 rnr 13 |
       13 nak 13 |
      950 write 13 | rnr before=1
      951 write 14 | rnr
      960 ack 14 |
  )"),
            (std::map<std::int64_t, bool>{{13, true}}));
}

/// Had only the first answer been lost, the one behind it would have made the requester ask at once. After a
/// timer all were lost or all came too late, as to a host that stood still: what else was lost there tells.
TEST(EpisodeLosses, AnswersThatATimerWaitedForWereLostOrLate) {
  const auto lost = [](const std::string& again, std::uint32_t others) {
    Facts facts;
    facts.first = facts.acked = 10;
    facts.answers_captured = true;
    std::vector<Note> notes;
    for (const EpisodeLine& line : parse_episode("0 read 10 | \n"
                                                 "1 read 11 | \n"
                                                 "2 read 12 | \n"
                                                 "6 response 10 | \n"
                                                 "7 response 11 | \n"
                                                 "8 response 12 | \n" +
                                                 again + " read 10 | \n" + again + " read 11 | \n" + again +
                                                 " read 12 | \n"
                                                 "1990 response 10 | \n"
                                                 "1991 response 11 | \n"
                                                 "1992 response 12 | \n"
                                                 "1995 read 13 | \n"
                                                 "2003 response 13 | \n"))
      notes.push_back(line.note);
    const Explanation said = explain(notes, facts);
    const auto shows = std::find_if(said.rulings.begin(), said.rulings.end(),
                                    [](const Ruling& ruling) { return ruling.doubt != Doubt::none; });
    PathFact path;
    path.lost = others;
    return shows != said.rulings.end() && path.was_lost(shows->doubt, {});
  };
  EXPECT_TRUE(lost("20", 1));
  EXPECT_FALSE(lost("1980", 0));
  EXPECT_TRUE(lost("1980", 1));
}

}  // namespace
/// A responder executes duplicates in whatever order they come (IBTA 9.7.5.1.4): that a READ asked again was
/// lost on the way there leaves no trace but that the whole answer is missing, as it is where all of its
/// responses were lost. Only a gap within an answer is a lost response.
TEST(EpisodeLosses, AnAnswerThatIsMissingAsAWholeMayNeverHaveBeenGiven) {
  expect_said(
      "0 read 10 +3    | \n"
      "1 read 13 +3    | \n"
      "2 read 16       | \n"
      "20 begin 10     | \n"
      "22 end 12       | \n"
      "23 begin 13     | \n"
      "24 inner 14     | \n"
      "25 end 15       | \n"
      "26 response 16  | \n"
      "30 read 11 +2   | read_retry\n"
      "31 read 13 +3   | read_retry\n"
      "32 read 16      | read_retry\n"
      "50 begin 11     | read_retry before=1\n"
      "51 end 12       | read_retry\n"
      "55 response 16  | read_retry\n"
      "60 read 13 +3   | read_retry\n"
      "61 read 16      | read_retry\n"
      "80 begin 13     | read_retry\n"
      "82 end 15       | read_retry\n"
      "83 response 16  | read_retry\n"
      "90 read 14 +2   | read_retry\n"
      "91 read 16      | read_retry\n"
      "110 begin 14    | read_retry\n"
      "111 end 15      | read_retry\n"
      "112 response 16 | read_retry\n");
}

/// The requester has nothing more to send and has not reacted yet when the capture ends. Nothing came for
/// what the NAK asks for, as long as the capture went on with others.
TEST(EpisodeLosses, WhatIsAskedForAndNeverCameUntilTheEndOfTheCaptureWasLost) {
  const char* const text = R"(
        0 write 10 |
        1 write 11 |
        3 write 15 | before=1
        4 nak 12 |
        5 write 16 |
  )";
  Facts facts;
  facts.until_ns = 1'000'000'000 + 300'000;
  expect_said(text, facts);
}

/// The responder threw all away that came behind the hole at 9, so the first 12 left no hole: the NAK behind
/// the READ responses asks for the second one, which was lost as well, or is late.
TEST(EpisodeLosses, ANakBehindResponsesTellsOfARepeatThatFollowedAnotherNak) {
  expect_said(R"(
        0 write 8        |
       10 ack 8          |
       30 write 9        |
       31 read 10 +2     |
       32 write 12       |
       33 write 13       |
       50 nak 9          | after=1
       60 write 9        | nak
       61 read 10 +2     | nak
       62 write 12       | nak
       63 write 13       | nak
       80 begin 10       |
       81 end 11         |
       82 nak 12         | open
       92 write 12       | nak
       93 write 13       | nak
      110 ack 13         |
  )");
}

/// Answers leave in the order of the requests (IBTA 9.7.5.1.1): the NAK of the hole at 13 waited until the
/// READ had been answered, and crossed with the repeat that the missing response 11 had asked for. What had
/// come in the meantime it does not know.
TEST(EpisodeLosses, ANakThatWaitedBehindResponsesSaysNothingOfWhatCameMeanwhile) {
  const char* const text = R"(
        0 write 8        |
       10 ack 8          |
       11 write 9        |
       20 ack 9          |
       30 read 10 +3     |
       31 write 14       |
       32 write 15       |
       50 begin 10       |
      460 end 12         |
      480 read 11 +2     | read_retry
      481 write 13       | read_retry before=1
      482 write 14       | read_retry
      483 write 15       | read_retry
      500 begin 11       | read_retry before=1
      910 end 12         | read_retry
      911 nak 13         |
      912 write 16       |
      930 ack 16         |
  )";
  expect_said(text);
}

}  // namespace roce::analyze::episode
