// SPDX-License-Identifier: Apache-2.0
// What shows that the capture has packets twice, and which those are.
#include "analyze/episode/mirror.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analyze/episode/copies.hpp"
#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace mirror_test {
namespace {

std::vector<Note> notes_of(const std::string& text) {
  std::vector<Note> notes;
  for (const EpisodeLine& line : parse_episode(text)) notes.push_back(line.note);
  return notes;
}

Note answer(int microseconds, int psn, std::uint32_t msn) {
  Note note = notes_of(std::to_string(microseconds) + " ack " + std::to_string(psn) + " | \n").front();
  note.aeth |= msn;
  return note;
}

/// The lag is a fact of the capture: what few connections show together is known of all.
TEST(Mirror, ConnectionsTellOfItTogether) {
  const std::vector<Note> notes = notes_of(
      "0 write 10 | \n"
      "1 write 11 | \n"
      "7 write 10 | \n"
      "8 write 11 | \n"
      "9 write 12 | \n");
  Mirror mirror;
  for (int i = 0; i < 3; ++i) mirror.learn(notes, {});
  EXPECT_EQ(mirror.fact().witnesses, 0U);
  mirror.learn(notes, {});
  EXPECT_EQ(mirror.fact().witnesses, 4U);
  EXPECT_TRUE(mirror.fact().shows(notes[0], notes[2]));
  EXPECT_FALSE(mirror.fact().shows(notes[0], notes[4]));
}

/// A second point shows a packet again as late as its length, and one that is in the way, make it; one that
/// shows few again is known by its lag alone.
TEST(Mirror, ASecondPointHasNoBetterLagThanItsPackets) {
  const auto shows_longer = [](int others) {
    std::string more;
    for (int i = 0; i < others; ++i)
      more += std::to_string(100 + i) + " write " + std::to_string(13 + i) + " | \n";
    std::vector<Note> notes = notes_of(
        "0 write 10 | \n"
        "1 write 11 | \n"
        "7 write 10 | \n"
        "8 write 11 | \n"
        "9 write 12 | \n" +
        more);
    for (const std::size_t copy : {2U, 3U}) notes[copy].time_ns += 10;  // no whole microsecond
    Mirror mirror;
    for (int i = 0; i < 4; ++i) mirror.learn(notes, {});
    EXPECT_EQ(mirror.fact().witnesses, 4U);
    notes[2].time_ns += 280;
    return mirror.fact().shows(notes[0], notes[2]);
  };
  EXPECT_TRUE(shows_longer(0));
  EXPECT_FALSE(shows_longer(100));
}

/// A host that was held up sends at once what its timer made it send twice: the responder answers both, and
/// not as far from each other. Where a capture shows both directions twice it does.
TEST(Mirror, WhatIsAnsweredTwiceWasSentTwice) {
  for (const bool shown_twice : {false, true}) {
    std::string others;
    for (int i = 0; i < 20; ++i)
      others += std::to_string(100 + i) + " write " + std::to_string(13 + i) + " | \n";
    const std::vector<Note> notes = notes_of(
        "0 write 10 | \n"
        "7 write 10 | \n"
        "50 ack 10 | \n" +
        std::string(shown_twice ? "57" : "90") + " ack 10 | \n" + others);
    Mirror mirror;
    for (int i = 0; i < 8; ++i) mirror.learn(notes, {});
    EXPECT_EQ(mirror.fact().witnesses != 0, shown_twice);
  }
}

/// Who answers again counts what was executed since; also where the first one was captured before the
/// episode, and only its PSN is remembered.
TEST(Mirror, AnswersWithTheCountOfThenAreShownAgain) {
  Note remembered = answer(0, 9, 0);
  remembered.has_aeth = false;
  remembered.before = true;
  const std::vector<Note> notes = {remembered,        answer(1, 10, 2),  answer(2, 12, 3),  answer(3, 14, 4),
                                   answer(50, 9, 1),  answer(51, 10, 2), answer(52, 12, 3), answer(53, 14, 4),
                                   answer(60, 15, 5), answer(103, 14, 5)};
  Mirror mirror;
  mirror.learn(notes, {});
  EXPECT_EQ(mirror.fact().witnesses, 0U);  // the last one of then is the last one still
  std::vector<Note> more = notes;
  more.insert(more.begin() + 4, answer(40, 15, 5));
  mirror.learn(more, {});
  EXPECT_GE(mirror.fact().witnesses, 4U);
  EXPECT_TRUE(mirror.fact().shows(more[1], answer(51, 10, 2)));
}

Facts mirrored(bool other_path = false) {
  Facts facts;
  facts.mirror = {6'900, 7'100, 4, !other_path, other_path};
  return facts;
}

TEST(Mirror, WhatComesAfterItsLagIsACopy) {
  expect_said(
      "0 write 10 | \n"
      "1 read 11  | \n"
      "5 response 11 | \n"
      "7 write 10 | copy\n"
      "8 read 11  | copy\n"
      "12 response 11 | copy\n"
      "20 ack 10  | \n",
      mirrored());
}

/// Its lag may be the round trip by chance.
TEST(Mirror, WhatANakAskedForWasSentAgain) {
  expect_said(
      "0 write 10 | \n"
      "1 write 11 | \n"
      "3 nak 10   | after=1\n"
      "7 write 10 | nak\n"
      "8 write 11 | nak\n"
      "12 ack 11  | \n",
      mirrored());
}

/// All comes twice, the NAK too.
TEST(Mirror, WhereTheNakIsShownAgainWhatItAskedForMayBeACopy) {
  expect_said(
      "0 write 10 | \n"
      "1 write 11 | \n"
      "3 nak 10   | after=1\n"
      "7 write 10 | copy\n"
      "8 write 11 | copy\n"
      "10 nak 10  | copy\n"
      "30 write 10 | nak\n"
      "31 write 11 | nak\n"
      "37 write 10 | copy\n"
      "38 write 11 | copy\n"
      "50 ack 11  | \n",
      mirrored());
}

TEST(Mirror, ACopyTakesTheOtherPathWhereAllDo) {
  expect_said(
      "0 write 10 @1 | \n"
      "1 write 11 @1 | \n"
      "2 write 12 @1 | \n"
      "8 write 11 @2 | copy\n"
      "20 ack 12     | \n",
      mirrored(true));
}

/// What is doubled throughout is doubled by the mirror, however few copies one episode has; a network
/// doubles now and then.
TEST(Mirror, MadeMostCopiesOfWhatIsDoubledThroughout) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text += std::to_string(i) + " write " + std::to_string(10 + i) + " #" + std::to_string(500 + i) + " | \n";
  const std::vector<Note> notes = notes_of(text + "40 write 45 #535 | \n");
  const auto copy_of = [&](std::uint32_t copied) {
    Facts facts;
    facts.first = facts.acked = 10;
    facts.requests.id_forward = facts.requests.captured = 1000;
    facts.requests.copied = copied;
    return explain(notes, facts).rulings.back();
  };
  EXPECT_EQ(copy_of(900).what, Ruling::What::copy);
  EXPECT_FALSE(copy_of(900).by_network);
  EXPECT_EQ(copy_of(10).what, Ruling::What::copy);
  EXPECT_TRUE(copy_of(10).by_network);
}

using Line = std::pair<int, std::string>;

/// In the order of their times.
std::string lines_of(std::vector<Line> lines) {
  std::stable_sort(lines.begin(), lines.end(),
                   [](const Line& a, const Line& b) { return a.first < b.first; });
  std::string text;
  for (const Line& line : lines) text += std::to_string(line.first) + " " + line.second + "\n";
  return text;
}

/// The second of two points shows the same order, and goes on with it behind a queue that waits for a pause.
TEST(Mirror, ASecondPointShowsTheOrderOfTheFirstHoweverLongAQueueIs) {
  std::vector<Line> lines;
  for (int i = 0; i < 400; ++i) {
    const std::string write = "write " + std::to_string(10 + i);
    lines.emplace_back(i, write + " | ");
    const int paused = i < 40 ? 3 : std::max(200 - i / 3, 3 + (400 - i) / 3);
    lines.emplace_back(i + paused, write + " | copy");
  }
  for (int i = 0; i < 30; ++i) {
    const std::string ack = "ack " + std::to_string(10 + 4 * i);
    lines.emplace_back(260 + 4 * i, ack + " | ");
    lines.emplace_back(262 + 4 * i, ack + " | copy");
  }
  expect_said(lines_of(lines));
}

/// A mirror that shows a part of the packets at both points has no fewer send pointers behind it.
TEST(Mirror, ASecondPointMayShowOnlyAPart) {
  std::vector<Line> lines;
  for (int i = 0; i < 400; ++i) {
    const std::string write = "write " + std::to_string(10 + i);
    lines.emplace_back(i, write + " | ");
    const bool both = i * 7 % 10 < 4;
    if (both) lines.emplace_back(i + 30 + (i % 100 < 50 ? i % 50 : 50 - i % 50), write + " | copy");
  }
  Facts facts;
  facts.answers_captured = true;
  expect_said(lines_of(lines), facts);
}

/// What waited in the queue when an episode before this one ended is shown when a pause is over; a sender
/// that repeats it would be seen twice, too.
TEST(Mirror, WhatIsLeftInTheQueueIsShownOnce) {
  std::vector<Line> lines;
  for (int i = 0; i < 40; ++i) lines.emplace_back(i, "write " + std::to_string(10 + i) + " | ");
  std::vector<Line> twice = lines;
  for (int i = 0; i < 40; ++i) {
    lines.emplace_back(400 + i, "write " + std::to_string(10 + i) + " | copy");
    for (const int point : {400, 403})
      twice.emplace_back(point + i, "write " + std::to_string(10 + i) + " | ");
  }
  Facts facts;
  facts.requests.captured = facts.requests.copied = 100;
  for (const auto& [text, copies] : {std::pair{lines_of(lines), 40}, std::pair{lines_of(twice), 0}}) {
    std::vector<Note> notes = notes_of(text);
    for (std::size_t i = 0; i < 40; ++i) notes[i].before = true;
    const List<Copied> said = find_copies(notes, facts);
    EXPECT_EQ(std::count_if(said.begin(), said.end(),
                            [](const Copied& each) { return each.rule == Rule::in_turn && each.of < 40; }),
              copies);
  }
}

/// The second point is behind a queue when the requester goes back: what it sends again is not what the
/// second point shows next.
TEST(Mirror, ARepeatPassesTheFirstPointBeforeWhatWaits) {
  std::vector<Line> lines;
  for (int i = 0; i < 80; ++i) lines.emplace_back(2 * i, "write " + std::to_string(10 + i) + " | ");
  for (int i = 0; i < 80; ++i) {
    if (i != 70) lines.emplace_back(2 * i + 41, "write " + std::to_string(10 + i) + " | copy");
  }
  lines.emplace_back(159, "nak 80 | ");
  lines.emplace_back(200, "nak 80 | copy");
  for (int i = 70; i < 80; ++i) {
    const std::string write = "write " + std::to_string(10 + i);
    lines.emplace_back(2 * i + 20, write + " | nak");
    lines.emplace_back(2 * i + 90, write + " | copy");
  }
  lines.emplace_back(260, "ack 89 | ");
  lines.emplace_back(301, "ack 89 | copy");
  const std::vector<Note> notes = notes_of(lines_of(lines));
  const List<Copied> said = find_copies(notes, {});
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (said[i].rule == Rule::none || !notes[i].request) continue;
    const std::int64_t lag = notes[i].time_ns - notes[static_cast<std::size_t>(said[i].of)].time_ns;
    EXPECT_GE(lag, 41'000) << notes[i].psn;
    EXPECT_LE(lag, 70'000) << notes[i].psn;
  }
}

/// The point nearer to the receiver has the earlier clock: what was lost or damaged on the way to it comes
/// later, in its turn, and was not overtaken; nor is it a copy.
TEST(Mirror, WhatOnlyTheSecondPointShowsInItsTurnWasLostBetweenTheTwo) {
  std::vector<Line> lines;
  const auto write = [](int psn, int id) {
    return "write " + std::to_string(psn) + " #" + std::to_string(id) + " | ";
  };
  for (int i = 0; i < 20; ++i) {
    if (i != 12) lines.emplace_back(2 * i, write(10 + i, 500 + i));
    lines.emplace_back(2 * i + 23, write(10 + i, 500 + i));
  }
  lines.emplace_back(41, "nak 22 #900 | ");
  lines.emplace_back(57, "nak 22 #900 | ");
  for (int i = 12; i < 20; ++i) {
    lines.emplace_back(2 * i + 60, write(10 + i, 510 + i));
    lines.emplace_back(2 * i + 83, write(10 + i, 510 + i));
  }
  lines.emplace_back(130, "ack 29 #901 | ");
  lines.emplace_back(146, "ack 29 #901 | ");
  const std::vector<Note> notes = notes_of(lines_of(lines));
  Facts facts;
  facts.first = facts.acked = 10;
  facts.answers_captured = true;
  const Explanation said = explain(notes, facts);
  ASSERT_EQ(said.losses.size(), 1U);
  EXPECT_EQ(said.losses[0].where, Lost::before_capture);
  EXPECT_EQ(said.losses[0].psn, 22);
  EXPECT_TRUE(said.losses[0].or_missed);  // upstream of which point nothing tells
  EXPECT_TRUE(said.contradictions.empty());
  for (std::size_t i = 0; i < notes.size(); ++i) {
    EXPECT_NE(said.rulings[i].what, Ruling::What::late);
    if (notes[i].ip_id == 512) {
      EXPECT_EQ(said.rulings[i].what, Ruling::What::first);
    }
  }
}

/// What both points showed was lost behind both; what one showed, nobody knows where.
TEST(Mirror, ShowsWhereALossWasUnlessItShowsThePacketOnce) {
  const auto after_nak = [](const std::string& copy) {
    Facts facts;
    return explain(notes_of("0 write 10 #500 | \n"
                            "1 write 10 #500 | \n"
                            "2 write 11 #501 | \n" +
                            copy +
                            "4 write 12 #502 | \n"
                            "5 write 12 #502 | \n"
                            "9 nak 11 #900   | \n"
                            "10 nak 11 #900  | \n"
                            "12 write 11 #503 | \n"
                            "13 write 11 #503 | \n"
                            "14 write 12 #504 | \n"
                            "15 write 12 #504 | \n"
                            "20 ack 12 #901   | \n"
                            "21 ack 12 #901   | \n"),
                   facts);
  };
  const Explanation both = after_nak("3 write 11 #501 | \n"), one = after_nak("");
  ASSERT_EQ(both.losses.size(), 1U);
  EXPECT_FALSE(both.losses[0].behind_one);
  ASSERT_EQ(one.losses.size(), 1U);
  EXPECT_TRUE(one.losses[0].behind_one);
}

/// The responder took what seems to be missing of a pass. Where nothing but its lag tells a copy, one of the
/// copies may be that transmission; else the capture missed it.
TEST(Mirror, WhatMayBeAmongCopiesIsNotMissedByTheCapture) {
  const auto missed = [](bool twice, bool ids) {
    std::vector<Line> lines;
    int id = 500;
    const auto send = [&](int at, int psn) {
      const std::string mark = ids ? " #" + std::to_string(id++) : "";
      for (const int lag : {0, 7}) {
        if (lag == 0 || twice) lines.emplace_back(at + lag, "write " + std::to_string(psn) + mark + " | ");
      }
    };
    for (int i = 0; i < 8; ++i) send(2 * i, 10 + i);
    lines.emplace_back(26, "nak 12 | ");
    for (int i = 2; i < 8; ++i) i == 5 ? static_cast<void>(++id) : send(30 + 2 * i, 10 + i);
    lines.emplace_back(60, "ack 17 | ");
    Facts facts;
    facts.first = facts.acked = 10;
    facts.requests.single = 1000;
    facts.keeps = -1;
    if (twice) facts.mirror = {6'900, 7'100, 4, true, false};
    const std::vector<Note> notes = notes_of(lines_of(lines));
    const Explanation said = explain(notes, facts);
    return std::count_if(said.losses.begin(), said.losses.end(),
                         [](const Loss& loss) { return loss.where == Lost::by_capture; });
  };
  EXPECT_EQ(missed(false, false), 1);
  EXPECT_EQ(missed(true, false), 0);
  EXPECT_EQ(missed(true, true), 1);
}

/// A second point would have shown the others again, too; and a network doubles packets, not rows of them.
TEST(Mirror, ARowBehindWhatIsShownOnceWasSentAgain) {
  const std::string before =
      "0 write 10 | \n"
      "1 write 11 | \n"
      "2 write 12 | \n"
      "3 write 13 | \n"
      "4 write 14 | \n"
      "5 write 15 | \n"
      "30 ack 15  | \n"
      "20000 write 16 | \n"
      "20001 write 17 | \n"
      "20002 write 18 | \n";
  expect_said(before +
              "20003 write 16 | timeout\n"
              "20004 write 17 | timeout\n"
              "20005 write 18 | timeout\n"
              "20006 write 16 | timeout\n"
              "20007 write 17 | timeout\n"
              "20008 write 18 | timeout\n"
              "20020 ack 18   | \n");
  expect_said(before +
              "20003 write 18 | copy\n"
              "20004 write 19 | \n"
              "20020 ack 19   | \n");
}

/// What asks for it may be in the direction that was not captured.
TEST(Mirror, OnePacketOverAndOverIsNoCopyWhereNoAnswerIsCaptured) {
  std::vector<Line> lines;
  for (int i = 0; i < 8; ++i) lines.emplace_back(i, "write " + std::to_string(10 + i) + " | ");
  for (int i = 1; i < 6; ++i) lines.emplace_back(7 + 17 * i, "write 17 | unknown");
  expect_said(lines_of(lines));
}

/// Where the capture shows requests twice it shows acknowledgements twice: by their order, without IDs.
TEST(Mirror, NoIdTellsCopiesOfAcknowledgementsThatHaveNone) {
  const auto rule_of_copy = [](const std::string& id) {
    Facts facts;
    facts.first = facts.acked = 10;
    facts.requests.single = facts.requests.doubled = 20;
    const std::vector<Ruling> said = explain(notes_of("0 write 10 | \n"
                                                      "1 write 11 | \n"
                                                      "5 ack 11" +
                                                      id + " | \n6 ack 11" + id + " | \n"),
                                             facts)
                                         .rulings;
    EXPECT_EQ(said[3].what, Ruling::What::copy);
    return said[3].rule;
  };
  EXPECT_EQ(rule_of_copy(""), Rule::in_turn);
  EXPECT_EQ(rule_of_copy(" #500"), Rule::same_id);
}

/// Who goes back once is a sender, though all comes twice and in the same order.
// Two points, 15 us apart, and nothing tells transmissions apart but their order. What is sent again for a
// NAK passes the first point while the second one still shows what went before, and by then looks like its
// copies.
TEST(Mirror, NoCopyShowsACopy) {
  std::vector<Line> lines;
  const auto send = [&](int at, int psn) {
    for (const int lag : {0, 15}) lines.emplace_back(at + lag, "write " + std::to_string(psn) + " | ");
  };
  for (int i = 0; i < 60; ++i) send(i, 10 + i);
  for (const int lag : {0, 2}) lines.emplace_back(62 + lag, "nak 46 | ");
  for (int i = 0; i < 24; ++i) send(66 + i, 46 + i);
  for (const int lag : {0, 2}) lines.emplace_back(92 + lag, "nak 58 | ");
  for (int i = 0; i < 12; ++i) send(96 + i, 58 + i);
  for (int i = 0; i < 20; ++i) send(110 + i, 70 + i);
  for (const int lag : {0, 2}) lines.emplace_back(150 + lag, "ack 89 | ");
  const std::vector<Note> notes = notes_of(lines_of(lines));
  Facts facts;
  facts.answers_captured = true;
  const List<Copied> said = find_copies(notes, facts);
  std::size_t copies = 0;
  for (std::size_t i = 0; i < notes.size(); ++i) {
    if (!notes[i].request || said[i].rule == Rule::none) continue;
    ++copies;
    ASSERT_GE(said[i].of, 0);
    const auto of = static_cast<std::size_t>(said[i].of);
    EXPECT_EQ(said[of].rule, Rule::none) << "packet " << i << " shows a copy";
    EXPECT_EQ(notes[i].time_ns - notes[of].time_ns, 15'000) << "packet " << i;
  }
  EXPECT_EQ(copies, 116U);
}

TEST(Mirror, APassOfAllThatWasSentIsNoSecondPoint) {
  std::vector<Line> lines;
  for (int i = 0; i < 40; ++i) {
    lines.emplace_back(i, "write " + std::to_string(10 + i) + " | ");
    lines.emplace_back(900 + i, "write " + std::to_string(10 + i) + " | timeout");
  }
  for (const Copied& each : find_copies(notes_of(lines_of(lines)), {})) EXPECT_EQ(each.rule, Rule::none);
}

/// Nor who sends again one for each NAK while it goes on.
TEST(Mirror, OneRepeatForEachNakIsNoSecondPoint) {
  std::vector<Line> lines;
  for (int i = 0; i < 40; ++i) {
    const std::string psn = std::to_string(10 + i);
    lines.emplace_back(10 * i, "write " + psn + " | ");
    lines.emplace_back(10 * i + 12, "nak " + psn + " | ");
    lines.emplace_back(10 * i + 14, "write " + psn + " | nak");
  }
  for (const Copied& each : find_copies(notes_of(lines_of(lines)), {})) EXPECT_EQ(each.rule, Rule::none);
}

/// Of what was confirmed long before, and is forgotten.
TEST(Mirror, AnIdOfThenShowsWhatIsForgotten) {
  Facts facts;
  facts.first = 10;
  facts.acked = 100;
  facts.requests.id_forward = 100;
  const std::vector<Ruling> said = explain(notes_of("0 write 100 #500 | \n"
                                                    "1 write 20 #300  | \n"
                                                    "2 write 101 #501 | \n"
                                                    "3 write 30 #502  | \n"),
                                           facts)
                                       .rulings;
  EXPECT_EQ(said[1].what, Ruling::What::copy);
  EXPECT_EQ(said[1].rule, Rule::sent_earlier);
  EXPECT_NE(said[3].what, Ruling::What::copy);
}

}  // namespace
}  // namespace mirror_test
}  // namespace roce::analyze::episode
