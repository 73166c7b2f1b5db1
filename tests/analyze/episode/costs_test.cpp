// SPDX-License-Identifier: Apache-2.0
// What is said of a packet beside what it was: whether it was needed, what it cost, who made a copy.
#include <gtest/gtest.h>

#include <vector>

#include "analyze/episode/explain.hpp"

namespace roce::analyze::episode {
namespace costs_test {
namespace {

constexpr std::uint8_t write_only = 0x0a, acknowledge = 0x11;

class Capture {
 public:
  Capture& request(std::int64_t psn, std::int64_t at_us) {
    Note note = next(psn, at_us, write_only);
    note.request = true;
    note.has_ip_id = true;
    note.ip_id = ++request_id_;
    notes.push_back(note);
    return *this;
  }
  Capture& answer(std::int64_t psn, std::int64_t at_us, std::uint8_t syndrome = 0x1f) {
    Note note = next(psn, at_us, acknowledge);
    note.has_aeth = true;
    note.aeth = std::uint32_t{syndrome} << 24U;
    note.has_ip_id = true;
    note.ip_id = ++answer_id_;
    notes.push_back(note);
    return *this;
  }
  /// The last one comes once more.
  Capture& again(std::int64_t at_us) {
    Note note = notes.back();
    note.frame = notes.size() + 1;
    note.time_ns = at_us * 1000;
    notes.push_back(note);
    return *this;
  }
  [[nodiscard]] std::vector<Ruling> explained() {
    Facts facts;
    facts.first = facts.acked = notes.front().psn;
    facts.requests = {100, 0, 0, 100, 0, 0, 0, 100};
    facts.responses = {100, 0, 0, 100, 0, 0, 0, 100};
    return explain(notes, facts).rulings;
  }
  std::vector<Note> notes;

 private:
  [[nodiscard]] Note next(std::int64_t psn, std::int64_t at_us, std::uint8_t opcode) const {
    Note note;
    note.psn = psn;
    note.time_ns = at_us * 1000;
    note.frame = notes.size() + 1;
    note.opcode = opcode;
    return note;
  }
  std::uint16_t request_id_ = 100;
  std::uint16_t answer_id_ = 500;
};

constexpr std::uint8_t nak = 0x60;

TEST(Costs, WhatWasConfirmedIsSentAgainInVain) {
  const auto said = Capture()
                        .request(10, 0)
                        .answer(10, 10)
                        .request(10, 9000)
                        .answer(10, 9010)
                        .request(11, 9020)
                        .explained();
  EXPECT_EQ(said[2].what, Ruling::What::repeat);
  EXPECT_TRUE(said[2].spurious);
  EXPECT_FALSE(said[2].thrown_away);
}

TEST(Costs, BehindWhatANakNamesAllIsThrownAway) {
  const auto said = Capture()
                        .request(10, 0)
                        .request(12, 1)
                        .answer(11, 20, nak)
                        .request(11, 30)
                        .request(12, 31)
                        .answer(12, 50)
                        .explained();
  EXPECT_FALSE(said[3].thrown_away);  // it never came
  EXPECT_TRUE(said[4].thrown_away);
  EXPECT_FALSE(said[4].spurious);
  EXPECT_EQ(said[3].trigger_frame, 3U);
  EXPECT_EQ(said[3].trigger_ns, 20'000);
}

TEST(Costs, AnAcknowledgementWithTheSameIdIsACopy) {
  const auto said = Capture().request(10, 0).answer(10, 10).again(12).request(11, 20).explained();
  EXPECT_EQ(said[2].what, Ruling::What::copy);
  EXPECT_EQ(said[2].original, 2U);
  EXPECT_TRUE(said[2].by_network);
}

TEST(Costs, AnswersAreRepeatedByRule) {
  const auto said = Capture().request(10, 0).answer(10, 10).answer(10, 12).request(11, 20).explained();
  EXPECT_EQ(said[2].what, Ruling::What::first);
}

TEST(Costs, WhatIsConfirmedWasSent) {
  const auto said = Capture().request(10, 0).answer(11, 10).request(12, 20).answer(12, 30).explained();
  EXPECT_TRUE(said[1].unseen);
  EXPECT_FALSE(said[3].unseen);
  const auto behind = Capture().request(10, 0).answer(11, 10).request(11, 11).explained();
  EXPECT_FALSE(behind[1].unseen);  // its request is only captured behind it
}

}  // namespace
}  // namespace costs_test
}  // namespace roce::analyze::episode
