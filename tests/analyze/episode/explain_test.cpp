// SPDX-License-Identifier: Apache-2.0
// Episodes written down as text, and what is said of each packet.
#include "analyze/episode/explain.hpp"

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

namespace roce::analyze::episode {
namespace explain_test {
namespace {

struct Line {
  Note note;
  std::string expected;
};

/// A line a packet: microseconds, what, PSN, perhaps "+COUNT" of a READ and "#ID", and behind '|' what is to
/// be said. What: write, read (requests), ack, nak, response, atomic request and its answer.
std::vector<Line> parse(const std::string& text) {
  std::vector<Line> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const std::size_t bar = line.find('|');
    if (bar == std::string::npos) continue;
    std::istringstream words(line.substr(0, bar));
    std::int64_t microseconds = 0;
    std::string what;
    Line made;
    Note& note = made.note;
    words >> microseconds >> what >> note.psn;
    note.time_ns = 1'000'000'000 + microseconds * 1000;
    note.frame = lines.size() + 1;
    for (std::string more; words >> more;) {
      const auto number = static_cast<std::uint16_t>(std::stoul(more.substr(1)));
      if (more[0] == '+') note.count = number;
      if (more[0] == '#') {
        note.has_ip_id = true;
        note.ip_id = number;
      }
    }
    const bool part = what == "first" || what == "middle" || what == "last";
    note.request = part || what == "write" || what == "read" || what == "swap";
    note.has_aeth = !note.request;
    note.aeth = what == "nak" ? 0x60U << 24U : what == "rnr" ? 0x21U << 24U : 0x1fU << 24U;
    note.opcode = what == "write"      ? 0x0a
                  : what == "first"    ? 0x06
                  : what == "middle"   ? 0x07
                  : what == "last"     ? 0x08
                  : what == "read"     ? 0x0c
                  : what == "swap"     ? 0x13
                  : what == "response" ? 0x10
                  : what == "swapped"  ? 0x12
                                       : 0x11;
    std::istringstream expected(line.substr(bar + 1));
    for (std::string word; expected >> word;) made.expected += (made.expected.empty() ? "" : " ") + word;
    lines.push_back(made);
  }
  return lines;
}

std::string said(const Ruling& ruling) {
  std::string text;
  switch (ruling.what) {
    case Ruling::What::first:
      break;
    case Ruling::What::late:
      text = "late";
      break;
    case Ruling::What::copy:
      text = "copy";
      break;
    case Ruling::What::repeat:
      text = std::string(cause_name(ruling.cause));
      break;
  }
  const auto add = [&](const char* word, std::uint32_t count) {
    if (count != 0) text += (text.empty() ? "" : " ") + std::string(word) + "=" + std::to_string(count);
  };
  add("before", ruling.lost_before);
  add("after", ruling.lost_after);
  add("missed", ruling.missed_own + ruling.missed_other);
  return text;
}

void expect_said(const std::string& text, Facts facts = {}) {
  const std::vector<Line> lines = parse(text);
  std::vector<Note> notes;
  for (const Line& line : lines) notes.push_back(line.note);
  facts.first = notes.front().psn;
  facts.acked = facts.acked == 0 ? notes.front().psn : facts.acked;
  const std::vector<Ruling> rulings = explain(notes, facts).rulings;
  ASSERT_EQ(rulings.size(), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(said(rulings[i]), lines[i].expected) << "line " << i + 1 << ", PSN " << lines[i].note.psn;
  }
}

TEST(Explain, ASequenceNakNamesWhatWasLostDownstream) {
  expect_said(
      "0 write 10 | \n"
      "1 write 11 | \n"
      "2 write 12 | \n"
      "20 nak 11  | after=1\n"
      "25 write 11 | nak\n"
      "26 write 12 | nak\n"
      "27 write 13 | \n"
      "50 ack 13   | \n");
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
