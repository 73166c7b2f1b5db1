// SPDX-License-Identifier: Apache-2.0
// The responder replayed: which answers contradict what is said to have reached it.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyze/episode/explain.hpp"
#include "analyze/episode/replay.hpp"
#include "tests/analyze/episode/episode_text.hpp"

namespace roce::analyze::episode {
namespace replay_test {
namespace {

/// What is said behind '|' of a line: lost (behind the capture), open (perhaps overtaken there), late,
/// copy; of an answer the contradiction that it must be.
void expect_contradictions(const std::string& text, Facts facts = {}) {
  const std::vector<EpisodeLine> lines = parse_episode(text);
  std::vector<Note> notes;
  Explanation said;
  said.rulings.resize(lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const Note& note = notes.emplace_back(lines[i].note);
    const std::string& word = lines[i].expected;
    const auto index = static_cast<std::int32_t>(i);
    if (word == "lost") said.losses.push_back({Lost::after_capture, true, note.psn, index, index, -1});
    if (word == "open") said.late_behind.push_back(index);
    if (word == "copy") said.rulings[i].what = Ruling::What::copy;
  }
  facts.first = notes.front().psn;
  facts.acked = notes.front().psn;
  std::vector<std::string> found(lines.size());
  for (const ImpossibleAnswer& each : replay(notes, said, facts))
    found[static_cast<std::size_t>(each.note)] = undecided_names[each.why];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (notes[i].request) continue;
    EXPECT_EQ(found[i], lines[i].expected) << "line " << i + 1 << ", PSN " << notes[i].psn;
  }
}

TEST(Replay, ALossAndItsRepairArePossible) {
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 | lost
    2   write 12 |
    20  nak   11 |
    30  write 11 |
    31  write 12 |
    50  ack   12 |)");
}

TEST(Replay, WhatIsConfirmedWasNotLost) {
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 | lost
    20  ack   11 | confirms_lost
    30  write 11 |
    50  ack   11 |)");
}

TEST(Replay, WhatIsSentAgainMayHaveComeBeforeItWasCaptured) {
  expect_contradictions(R"(
    0   write 10 |
    20  ack   11 |
    30  write 11 |
    50  ack   11 |)");
}

TEST(Replay, NobodyAsksForWhatHasCome) {
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 |
    2   write 12 |
    20  nak   11 | asks_for_taken
    30  write 11 |
    31  write 12 |
    50  ack   12 |)");
}

TEST(Replay, ANakNeedsAPacketThatCameEarly) {
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 | lost
    20  nak   11 | asks_for_taken
    30  write 11 |
    50  ack   11 |)");
}

TEST(Replay, WhatCameEarlyIsAskedForInTurn) {
  // Everything behind the missing one is thrown away; the next to be lost is lost in the second pass.
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 | lost
    2   write 12 |
    3   write 13 |
    20  nak   11 |
    30  write 11 |
    31  write 12 | lost
    32  write 13 |
    50  nak   12 |
    60  write 12 |
    61  write 13 |
    80  ack   13 |)");
}

TEST(Replay, AResponderMayKeepWhatComesEarly) {
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 | lost
    2   write 12 |
    3   write 13 |
    20  nak   11 |
    30  write 11 |
    50  ack   13 |)");
}

TEST(Replay, ANakThatTheTimerOvertookIsOfTheTransmissionBefore) {
  const std::string requests = R"(
    0    write 10 |
    1    write 11 | lost
    2    write 12 |
    900  write 11 |
    901  write 12 |
    990  nak   11 |
    991  ack   12 |)";
  expect_contradictions(requests);
  std::string of_the_repeat = requests;
  of_the_repeat.replace(of_the_repeat.find("11 | lost"), 9, "11 |     ");
  const std::size_t repeat = of_the_repeat.find("900  write 11 |");
  of_the_repeat.insert(repeat + 15, " lost");
  of_the_repeat.replace(of_the_repeat.find("nak   11 |"), 10, "nak   11 | asks_for_taken");
  expect_contradictions(of_the_repeat);
}

TEST(Replay, WhatIsLeftOpenMayHaveBeenEither) {
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 | open
    2   write 12 |
    20  nak   11 |
    25  ack   11 |
    30  write 11 |
    31  write 12 |
    50  ack   12 |)");
}

TEST(Replay, ARequestThatIsNotTakenIsNotReadyFor) {
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 |
    20  rnr   11 |
    60  write 11 |
    80  ack   11 |)");
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 |
    20  ack   11 |
    40  rnr   10 | not_ready_again)");
}

TEST(Replay, AnswersAreCoalescedLostAndGivenAgain) {
  expect_contradictions(R"(
    0   read  10 +4 |
    1   write 14 |
    20  begin 10 |
    23  end   13 |
    40  ack   14 |
    60  read  10 +4 |
    80  begin 10 |
    83  end   13 |
    90  ack   14 |)");
}

TEST(Replay, ALostReadIsNotAnswered) {
  expect_contradictions(R"(
    0   read  10 +2 | lost
    20  begin 10 | confirms_lost
    21  end   11 |)");
}

TEST(Replay, OfWhatWasNotCapturedNothingIsSaid) {
  expect_contradictions(R"(
    0   write 10 |
    2   write 12 |
    20  ack   12 |)");
}

TEST(Replay, WherePacketsAreOvertakenAnyMayBe) {
  Facts facts;
  facts.there.late = 3;
  expect_contradictions(R"(
    0   write 10 |
    1   write 11 |
    2   write 12 |
    20  nak   11 |
    30  write 11 |
    50  ack   12 |)",
                        facts);
}

}  // namespace
}  // namespace replay_test
}  // namespace roce::analyze::episode
