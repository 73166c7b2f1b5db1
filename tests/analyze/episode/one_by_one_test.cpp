// SPDX-License-Identifier: Apache-2.0
// Repeats that are asked for one by one, or sent one by one by a timer, are no passes over all that is
// missing.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/analyze/episode/episode_said.hpp"

namespace roce::analyze::episode {
namespace one_by_one_test {
namespace {

/// A line of an episode.
std::string line(std::int64_t microseconds, const char* what, int psn, const char* said = "") {
  return std::to_string(microseconds) + " " + what + " " + std::to_string(psn) + " |" + said + "\n";
}

/// Of a row that is missing, a NAK each asks for some; then the requester goes on with new ones.
TEST(OneByOne, ANakEachMakesNoPass) {
  std::string text = line(0, "write", 10) + line(1, "write", 11) + line(30, "write", 40);
  std::int64_t now = 30;
  const auto repair = [&](int psn) {
    text += line(now + 4, "nak", psn) + line(now + 10, "write", psn, " nak before=1");
    now += 12;
    text += line(now, "ack", psn);
  };
  for (int psn = 12; psn < 20; ++psn) repair(psn);
  text += line(now + 1, "write", 41) + line(now + 2, "write", 42);
  for (int psn = 20; psn < 40; ++psn) repair(psn);
  expect_said(text + line(now + 5, "ack", 42));
}

/// A timer that sends the oldest alone: what it did not send again was not lost again.
TEST(OneByOne, ATimerEachMakesNoPass) {
  std::string text;
  for (int psn = 10; psn <= 40; ++psn) text += line(psn - 10, "write", psn);
  std::int64_t now = 31;
  text += line(now, "ack", 11);
  for (int psn = 12; psn < 20; ++psn) {
    now += 2000;
    text += line(now, "write", psn) + line(now + 8, "ack", psn);
  }
  text += line(now + 9, "write", 41) + line(now + 10, "write", 42);
  for (int psn = 20; psn < 40; ++psn) {
    now += 20;
    text += line(now, "nak", psn) + line(now + 6, "write", psn) + line(now + 14, "ack", psn);
  }
  text += line(now + 20, "ack", 42);
  std::vector<Note> notes;
  for (const EpisodeLine& each : parse_episode(text)) notes.push_back(each.note);
  Facts facts;
  facts.first = facts.acked = 10;
  std::uint32_t lost_before = 0;
  for (const Ruling& ruling : explain(notes, facts).rulings)
    lost_before += ruling.lost_before + ruling.lost_or_missed;
  EXPECT_EQ(lost_before, 0U);
}

/// A first transmission that came late behind its NAK would be followed by the repeat that the NAK asks for.
TEST(OneByOne, WhatComesOnlyOnceBehindItsNakIsTheRepeat) {
  expect_said(R"(
        0 write 10 |
        1 write 11 |
        5 write 15 |
        6 write 16 |
        7 nak 12 |
        8 write 17 |
       15 write 12 | nak before=1
       16 write 18 |
       18 ack 12 |
       19 nak 13 |
       20 write 19 |
       27 write 13 | nak before=1
       28 write 20 |
       30 ack 13 |
       31 nak 14 |
       32 write 21 |
       39 write 14 | nak before=1
       40 write 22 |
       45 ack 22 |
       60 write 23 |
       65 ack 23 |
  )");
}

/// The responder counts what it was asked for again as accepted, but the wire had no time for the responses.
TEST(OneByOne, ResponsesThatTheWireHadNoTimeForAreFirstOnes) {
  std::string text = "0 read 10 +20 |\n0 read 30 +20 |\n";
  std::int64_t now = 10;
  const auto respond = [&](int psn, int msn, const char* said) {
    const char* const what = psn == 10 || psn == 30   ? " begin "
                             : psn == 29 || psn == 49 ? " end "
                                                      : " inner ";
    text +=
        std::to_string(now++) + what + std::to_string(psn) + " =" + std::to_string(msn) + " |" + said + "\n";
  };
  for (int psn = 10; psn < 24; ++psn) {
    if (psn != 15) respond(psn, 1, "");
  }
  text += std::to_string(now) + " read 15 +15 | read_retry\n" + std::to_string(now) +
          " read 30 +20 | read_retry\n";
  text += std::to_string(now + 2) + " begin 15 =2 | read_retry before=1\n";
  now += 3;
  for (int psn = 16; psn < 24; ++psn) respond(psn, 2, " read_retry");
  for (int psn = 24; psn < 50; ++psn) respond(psn, 2, "");
  expect_said(text);
}

/// What comes again behind a NAK of it, or of one before it, shows no mirror, however steady its lag is.
TEST(OneByOne, WhatANakAskedForShowsNoMirror) {
  std::string text;
  for (int round = 0; round < 8; ++round) {
    const int psn = 100 + 10 * round;
    const int now = 1000 * round;
    const auto add = [&](int after, const char* what, int at) { text += line(now + after, what, psn + at); };
    add(0, "write", 0);
    add(1, "write", 1);
    add(2, "write", 2);
    add(3, "nak", 0);
    add(50, "write", 0);
    add(51, "write", 3);  // new ones between those of the pass, which overtook each other
    add(52, "write", 2);
    add(53, "write", 4);
    add(54, "write", 1);
    add(60, "ack", 4);
  }
  std::vector<Note> notes;
  for (const EpisodeLine& each : parse_episode(text)) notes.push_back(each.note);
  Mirror mirror;
  mirror.learn(notes, {});
  EXPECT_EQ(mirror.fact().witnesses, 0U);
}

}  // namespace
}  // namespace one_by_one_test
}  // namespace roce::analyze::episode
