// SPDX-License-Identifier: Apache-2.0
// A queue pair number that is used again towards another peer, without the CM: its requests begin a flow, but
// the answers to it come in the one that was there.
#include <vector>

#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_reuse_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr End other{2, 0x33};
constexpr std::uint32_t elsewhere = 0x800000;

TEST(TrackerReuse, AnswersToAnotherQueuePairAreAnotherConnection) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.talk(a, other, elsewhere, 20);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 2U);
  for (const Connection& c : wire.result.connections) {
    EXPECT_TRUE(c.paired());
    EXPECT_EQ(c.pairing.answered, 20U);
    EXPECT_EQ(c.pairing.unfitting, 0U);
    EXPECT_EQ(c.requester[0].acks, 20U);
    EXPECT_EQ(c.sent[1].count(Event::msn_backwards), 0U);
  }
  EXPECT_EQ(*wire.connection(1).ends[1].qp, other.qpn);
  wire.expect_all_counted();
}

TEST(TrackerReuse, ASingleFarAnswerIsGarbage) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.answer(b, a, elsewhere);
  wire.talk(a, b, 120, 20);
  wire.answer(b, a, elsewhere + 7);  // the last packet
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.connection().requester[0].acks, 42U);
  EXPECT_EQ(wire.connection().requester[0].next_psn, 140U);
  wire.expect_all_counted();
}

/// The two ends disagree on the first PSN: everything is acknowledged as old.
TEST(TrackerReuse, AResponderThatStandsElsewhereIsNoOther) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t i = 0; i < 20; ++i) {
    wire.request(a, b, 120 + i);
    wire.answer(b, a, elsewhere);
  }
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.connection().requester[0].acks, 40U);
  wire.expect_all_counted();
}

/// Each far from the one before: none waits longer than until the next.
TEST(TrackerReuse, AnswersOfAllKindsEndTheSearch) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (std::uint32_t i = 1; i < 2000; ++i) wire.answer(b, a, 100 + i * 524'287);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.connection().requester[0].acks, 2019U);
  wire.expect_all_counted();
}

/// The new sequence is not far from the old one: its first answers were given before.
TEST(TrackerReuse, AnswersToAnotherQueuePairNearThePsnsBefore) {
  for (const std::uint32_t first : {100U, 90U, 110U, 120U, 400U}) {
    Wire wire;
    wire.talk(a, b, 100, 20);
    wire.now_ns += 2'000'000'000;
    wire.talk(a, other, first, 40);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 2U) << first;
    EXPECT_TRUE(wire.connection(0).paired());
    EXPECT_TRUE(wire.connection(1).paired());
    EXPECT_EQ(wire.connection(0).requester[0].acks, 20U) << first;
    EXPECT_EQ(wire.connection(1).requester[0].acks, 40U) << first;
    EXPECT_EQ(wire.connection(0).sent[1].count(Event::ack_unseen), 0U);
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 0U);
    wire.expect_all_counted();
  }
}

/// Both numbers are in use again, and so are the PSNs: the responder counts its messages anew.
TEST(TrackerReuse, TheSameQueuePairsWithTheSamePsns) {
  for (const std::uint32_t first : {100U, 90U, 105U, 130U, 5000U}) {
    Wire wire;
    wire.talk(a, b, 100, 20);
    wire.now_ns += 100'000'000;
    wire.forget_counts();
    wire.request(a, b, first);
    wire.request(a, b, first + 1);
    wire.answer(b, a, first + 1);
    wire.talk(a, b, first + 2, 30);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 2U) << first;
    for (const Connection& c : wire.result.connections) {
      EXPECT_TRUE(c.paired());
      EXPECT_EQ(c.sent[0].count(Event::spurious), 0U);
      EXPECT_EQ(c.sent[1].count(Event::msn_backwards), 0U);
    }
    EXPECT_EQ(wire.connection(0).requester[0].requests, 20U);
    EXPECT_EQ(wire.connection(1).requester[0].requests, 32U);
    wire.expect_all_counted();
  }
}

/// Programs that always begin with the same PSN set their queue pairs up again within microseconds.
TEST(TrackerReuse, TheSameFirstPsnAtOnce) {
  Wire wire;
  wire.talk(a, b, 0, 20);
  for (int again = 0; again < 3; ++again) {
    wire.now_ns += 300'000;
    wire.forget_counts();
    for (std::uint32_t psn = 0; psn < 10; ++psn) wire.request(a, b, psn);
    wire.answer(b, a, 9);
    wire.talk(a, b, 10, 10);
  }
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 4U);
  for (const Connection& c : wire.result.connections) {
    EXPECT_EQ(c.requester[0].requests, 20U);
    EXPECT_EQ(c.sent[0].count(Event::spurious), 0U);
    EXPECT_EQ(c.sent[0].count(Event::retransmitted_timeout), 0U);
  }
  wire.expect_all_counted();
}

/// Three messages, and three longer ones with the same PSNs: both ACKs count three.
TEST(TrackerReuse, OtherMessagesWithTheSamePsns) {
  Wire wire;
  for (const std::uint32_t bytes : {64U, 512U, 64U}) {
    for (std::uint32_t psn = 0; psn < 3; ++psn) {
      PacketRecord r = wire.make(a, b, write_only, psn);
      r.more |= PacketRecord::payload_whole;
      r.payload = r.dma_length = bytes;
      r.flags |= PacketRecord::ack_requested;
      wire.send(r);
    }
    PacketRecord r = wire.make(b, a, acknowledge, 2);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1fU << 24U | 3U;
    wire.send(r);
    wire.now_ns += 20'000'000;
  }
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 3U);
  for (const Connection& c : wire.result.connections) {
    EXPECT_EQ(c.requester[0].requests, 3U);
    EXPECT_EQ(c.sent[0].count(Event::retransmitted_timeout), 0U);
  }
  wire.expect_all_counted();
}

/// The capture begins with an answer to what it does not show: nothing is as it should be yet when the
/// numbers are used again.
TEST(TrackerReuse, BeforeAnythingWasSteady) {
  for (const std::uint32_t first : {90U, 5'000U}) {
    Wire wire;
    wire.answer(b, a, 2'000'000);
    wire.forget_counts();
    wire.talk(a, b, 100, 10);
    wire.now_ns += 2'000'000;
    wire.forget_counts();
    for (std::uint32_t i = 0; i < 3; ++i) wire.request(a, b, first + i);
    wire.answer(b, a, first);
    wire.talk(a, b, first + 3, 40);
    wire.finish();
    std::uint64_t requests = 0;
    for (const Connection& c : wire.result.connections) {
      for (const Requester& each : c.requester) requests += each.requests;
      for (const Events& sent : c.sent) {
        EXPECT_EQ(sent.count(Event::retransmitted_timeout), 0U) << first;
        EXPECT_EQ(sent.count(Event::out_of_order), 0U) << first;
      }
    }
    EXPECT_EQ(requests, 53U) << first;
    EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 0U) << first;
    wire.expect_all_counted();
  }
}

/// Three messages, and three others below them: both ACKs count three.
TEST(TrackerReuse, BelowTheFirstMessage) {
  Wire wire;
  const auto live = [&](std::uint32_t psn) {
    wire.forget_counts();
    for (std::uint32_t i = 0; i < 3; ++i) {
      wire.request(a, b, psn + i);
      wire.answer(b, a, psn + i);
    }
  };
  live(0);
  wire.now_ns += 1'000'000;
  wire.forget_counts();
  for (std::uint32_t psn = 16776791; psn < 16776794; ++psn) wire.request(a, b, psn);
  PacketRecord r = wire.make(b, a, acknowledge, 16776793);
  r.flags |= PacketRecord::has_aeth;
  r.aeth = 0x1fU << 24U | 3U;
  wire.send(r);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 2U);
  for (const Connection& c : wire.result.connections) {
    EXPECT_EQ(c.requester[0].requests, 3U);
    EXPECT_EQ(c.sent[0].count(Event::spurious), 0U);
  }
  wire.expect_all_counted();
}

/// The host that captures hands over what it received before what it sent, or stamps it earlier.
TEST(TrackerReuse, ItsAnswerComesFirst) {
  for (const std::int64_t stamped_ns : {-800, 3000}) {
    Wire wire;
    wire.talk(a, b, 0, 20);
    wire.now_ns += 1'000'000;
    std::vector<PacketRecord> sent;
    for (std::uint32_t psn = 0; psn < 6; ++psn) {
      sent.push_back(wire.make(a, b, send_only, 16777000 + psn));
      sent.back().flags |= PacketRecord::ack_requested;
    }
    const auto hand_over = [&](std::size_t from, std::uint32_t count) {
      PacketRecord r = wire.make(b, a, acknowledge, 16777000 + count - 1);
      r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1fU << 24U | count;
      r.time_ns = sent[from].time_ns + stamped_ns;
      wire.send(r);
      for (std::size_t i = from; i < count; ++i) wire.send(sent[i]);
    };
    hand_over(0, 3);
    hand_over(3, 6);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 2U) << stamped_ns;
    EXPECT_EQ(wire.connection(0).requester[0].requests, 20U) << stamped_ns;
    // The answer was the first packet of the other connection.
    EXPECT_EQ(wire.connection(1).requester[1].requests, 6U) << stamped_ns;
    EXPECT_EQ(wire.connection(1).requester[1].acks, 2U) << stamped_ns;
    for (const Connection& c : wire.result.connections) {
      for (const Events& sent : c.sent) {
        EXPECT_EQ(sent.count(Event::spurious), 0U) << stamped_ns;
        EXPECT_EQ(sent.count(Event::retransmitted_timeout), 0U) << stamped_ns;
        EXPECT_EQ(sent.count(Event::msn_backwards), 0U) << stamped_ns;
      }
    }
    wire.expect_all_counted();
  }
}

/// An answer that the responder gave once more, late, is no other connection's.
TEST(TrackerReuse, ALateAnswerStaysWhereItWasAskedFor) {
  for (const std::uint32_t first : {110U, 130U}) {
    Wire wire;
    wire.talk(a, b, 100, 20);
    wire.now_ns += 1'000'000;
    wire.answer(b, a, 119);
    wire.now_ns += 150'000;
    wire.forget_counts();
    wire.talk(a, b, first, 20);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 2U) << first;
    EXPECT_EQ(wire.connection(0).requester[0].acks, 21U) << first;
    EXPECT_EQ(wire.connection(1).requester[0].acks, 20U) << first;
    EXPECT_EQ(wire.connection(1).requester[0].requests, 20U) << first;
    wire.expect_all_counted();
  }
}

/// The count goes on with the first message sent again.
TEST(TrackerReuse, TheFirstMessageOnceMore) {
  Wire wire;
  wire.talk(a, b, 0, 1);
  wire.now_ns += 300'000;
  const auto again = wire.request(a, b, 0);
  wire.answer(b, a, 0);
  wire.talk(a, b, 1, 20);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_TRUE(wire.verdict(again).has(Verdict::spurious));
  wire.expect_all_counted();
}

/// Both sides begin anew at the same time, near what was sent before, far from it, or one of each; also where
/// the last request was never answered.
TEST(TrackerReuse, BothSidesAtOnce) {
  struct Anew {
    std::uint32_t of_a, of_b;
    bool gave_up;
  };
  for (const Anew& anew : {Anew{0, 0, false}, Anew{5000, 9000, false}, Anew{0, 9'500'000, false},
                           Anew{8'000'000, 0, false}, Anew{0, 0, true}, Anew{5900, 9900, true}}) {
    Wire wire;
    const auto live = [&](std::uint32_t of_a, std::uint32_t of_b) {
      for (std::uint32_t i = 0; i < 20; ++i) {
        wire.request(a, b, of_a + i);
        wire.request(b, a, of_b + i);
        wire.answer(a, b, of_b + i);
        wire.answer(b, a, of_a + i);
      }
    };
    live(5000, 9000);
    for (unsigned i = 0; anew.gave_up && i < 8; ++i) {
      wire.now_ns += 67'000'000;
      wire.request(b, a, 9020);
    }
    wire.now_ns += 60'000'000'000;
    wire.forget_counts();
    live(anew.of_a, anew.of_b);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 2U) << anew.of_a << ' ' << anew.of_b;
    const auto before = wire.connection(0);
    for (unsigned side = 0; side < 2; ++side) {
      EXPECT_EQ(wire.connection(1).requester[side].requests, 20U) << anew.of_a << ' ' << anew.of_b;
      EXPECT_EQ(before.sent[side].count(Event::spurious), 0U) << anew.of_a << ' ' << anew.of_b;
      EXPECT_EQ(before.sent[side].count(Event::lost_by_capture), 0U) << anew.of_a << ' ' << anew.of_b;
    }
    EXPECT_EQ(before.requester[0].requests + before.requester[1].requests, anew.gave_up ? 48U : 40U);
    EXPECT_EQ(before.requester[0].retries_exhausted || before.requester[1].retries_exhausted, anew.gave_up);
    wire.expect_all_counted();
  }
}

/// The count goes on: the capture missed some.
TEST(TrackerReuse, AfterSilenceSomeMayBeMissing) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.now_ns += 100'000'000;
  wire.talk(a, b, 130, 20);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(Wire::lost(wire.flow(a, b), Lost::by_capture), 10U);
  wire.expect_all_counted();
}

/// The count goes on: the answer had not reached the sender.
TEST(TrackerReuse, AfterALostAnswerTheSenderRepeats) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  wire.now_ns += 100'000'000;
  const auto again = wire.request(a, b, 119);
  wire.answer(b, a, 119);
  wire.talk(a, b, 120, 20);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.verdict(again).cause, Cause::timeout);
  EXPECT_TRUE(wire.verdict(again).has(Verdict::spurious));
  wire.expect_all_counted();
}

/// Nobody answers: the end of the capture tells.
TEST(TrackerReuse, WhatWaitsForAnAnswerIsCountedAtTheEnd) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  for (unsigned i = 0; i < 5; ++i) {
    wire.now_ns += 100'000'000;
    wire.request(a, b, 119);
  }
  wire.finish(1'000'000'000);
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(Wire::resent(wire.flow(a, b), Cause::timeout), 5U);
  wire.expect_all_counted();
}

/// Where each request waits for its answer, the first answer tells that the numbers are another's.
TEST(TrackerReuse, OneAfterAnother) {
  for (const std::uint8_t opcode : {write_only, read_request, send_only}) {
    Wire wire;
    const auto life = [&](std::uint32_t psn) {
      wire.forget_counts();
      for (std::uint32_t i = 0; i < 30; ++i) {
        wire.request(a, b, psn + i, opcode);
        if (opcode == read_request) {
          PacketRecord r = wire.make(b, a, read_response_only, psn + i);
          r.flags |= PacketRecord::has_aeth;
          r.aeth = 0x1fU << 24U | (i + 1);
          wire.send(r);
        } else {
          wire.answer(b, a, psn + i);
        }
      }
    };
    life(100);
    wire.now_ns += 1'000'000'000;
    life(8'000'000);
    wire.now_ns += 1'000'000'000;
    life(3'000'000);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 3U) << int{opcode};
    for (const Connection& c : wire.result.connections) {
      const auto& operations = c.requester[0].operations;
      ASSERT_EQ(operations.size(), 1U) << int{opcode};
      EXPECT_EQ(operations[0].count, 30U) << int{opcode};
      EXPECT_EQ(operations[0].latency_ns.count(), 30U) << int{opcode};
      for (const Events& sent : c.sent) {
        EXPECT_EQ(sent.count(Event::msn_backwards), 0U) << int{opcode};
        EXPECT_EQ(sent.count(Event::lost_by_capture), 0U) << int{opcode};
      }
    }
    wire.expect_all_counted();
  }
}

/// Given up, and used again from about where it stood: not sent once more, long after its timer.
TEST(TrackerReuse, AfterTheRetriesWereExhausted) {
  for (const std::uint32_t first : {0U, 120U, 121U, 600U, 8'000'000U}) {
    Wire wire;
    wire.talk(a, b, 100, 20);
    for (unsigned i = 0; i < 8; ++i) {
      wire.request(a, b, 120);
      wire.now_ns += 67'000'000;
    }
    wire.now_ns += 2'000'000'000;
    wire.forget_counts();
    wire.talk(a, b, first, 20);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 2U) << first;
    EXPECT_TRUE(wire.connection(0).requester[0].retries_exhausted) << first;
    EXPECT_EQ(wire.connection(0).requester[0].requests, 28U) << first;
    EXPECT_EQ(wire.connection(1).requester[0].requests, 20U) << first;
    wire.expect_all_counted();
  }
}

}  // namespace
}  // namespace tracker_reuse_test
}  // namespace roce::analyze
