// SPDX-License-Identifier: Apache-2.0
// Queue pair numbers that are used again while nothing tells which two halves are one connection.
#include <cstdint>

#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_halves_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

class TrackerHalves : public testing::Test {
 protected:
  /// Three messages, and one ACK: too little to pair the two by.
  void live(std::uint32_t psn, std::uint32_t bytes = 64) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      wire.port = port_of_a;
      PacketRecord r = wire.make(a, b, write_only, psn + i);
      r.more |= PacketRecord::payload_whole;
      r.payload = r.dma_length = bytes;
      r.wire = 74 + bytes;
      r.virtual_address = 0x7f0000000000U + bytes * 4096U + i;
      if (i == 2) r.flags |= PacketRecord::ack_requested;
      wire.send(r);
    }
  }
  void confirm(std::uint32_t psn, std::uint32_t msn, std::uint8_t opcode = acknowledge) {
    wire.port = port_of_b;
    PacketRecord r = wire.make(b, a, opcode, psn);
    r.flags |= PacketRecord::has_aeth;
    r.aeth = 0x1fU << 24U | msn;
    wire.send(r);
  }
  void expect_no_repeats() {
    for (const Connection& c : wire.result.connections) {
      for (const Events& sent : c.sent) {
        EXPECT_EQ(sent.count(Event::retransmitted_timeout), 0U);
        EXPECT_EQ(sent.count(Event::spurious), 0U);
        EXPECT_EQ(sent.count(Event::msn_backwards), 0U);
        EXPECT_EQ(sent.count(Event::out_of_order), 0U);
      }
    }
  }
  Wire wire;
  std::uint16_t port_of_a = 50'000, port_of_b = 60'000;
};

/// Each half alone could be a timer's repeat, and an ACK that came late: but both at a time, and the ACK
/// counts as many messages as were sent since.
TEST_F(TrackerHalves, BothTurn) {
  for (const std::uint32_t psn : {100U, 50U, 98U, 40U}) {
    live(psn);
    confirm(psn + 2, 3);
    wire.now_ns += 20'000'000;
  }
  wire.finish();
  expect_no_repeats();
  wire.expect_all_counted();
}

/// The same PSNs, and other messages.
TEST_F(TrackerHalves, OtherMessages) {
  for (const std::uint32_t bytes : {64U, 512U, 128U}) {
    live(0, bytes);
    confirm(2, 3);
    wire.now_ns += 20'000'000;
  }
  wire.finish();
  expect_no_repeats();
  wire.expect_all_counted();
}

/// A host that counts no IPv4 IDs, and the same messages with the same PSNs.
TEST_F(TrackerHalves, TheSameMessagesWithoutIds) {
  const auto life = [&] {
    for (std::uint32_t i = 0; i < 300; ++i) {
      wire.port = port_of_a;
      PacketRecord r = wire.make(a, b, send_only, i);
      r.ip_id = 0;
      r.flags |= PacketRecord::ack_requested;
      wire.send(r);
      if (i % 3 != 2) continue;
      wire.port = port_of_b;
      r = wire.make(b, a, acknowledge, i);
      r.ip_id = 0;
      r.flags |= PacketRecord::has_aeth;
      r.aeth = 0x1fU << 24U | (i + 1);
      wire.send(r);
    }
    wire.now_ns += 3'000'000;
  };
  life();
  life();
  wire.finish();
  expect_no_repeats();
  wire.expect_all_counted();
}

/// Answers without the requests.
TEST_F(TrackerHalves, AnswersAlone) {
  for (const std::uint32_t psn : {1'000U, 20'000U, 5'000'000U, 500U}) {
    for (std::uint32_t i = 0; i < 200; ++i) confirm(psn + i, i + 1, read_response_only);
    wire.now_ns += 1'000'000;
  }
  wire.finish();
  expect_no_repeats();
  wire.expect_all_counted();
}

/// A responder whose count of messages means nothing.
TEST_F(TrackerHalves, ACountAtRandom) {
  for (std::uint32_t i = 0; i < 400; ++i) {
    confirm(100 + i, i * 0x9e3779U & 0xffffffU);
    wire.now_ns += 200'000;
  }
  wire.finish();
  EXPECT_EQ(wire.result.flows.size(), 1U);
}

TEST_F(TrackerHalves, ACountOfFourBits) {
  for (std::uint32_t i = 0; i < 400; ++i) {
    confirm(100 + i, i % 16);
    wire.now_ns += 200'000;
  }
  wire.finish();
  EXPECT_EQ(wire.result.flows.size(), 1U);
}

/// With the count of then.
TEST_F(TrackerHalves, ReadsGivenAgain) {
  for (std::uint32_t i = 0; i < 400; ++i) {
    if (i == 200) wire.now_ns += 4'000'000;
    const std::uint32_t read = i < 200 ? i : i - 50;
    confirm(100 + read, read + 1, read_response_only);
  }
  wire.finish();
  EXPECT_EQ(wire.result.flows.size(), 1U);
}

TEST_F(TrackerHalves, AnAckThatOvertakesThree) {
  for (std::uint32_t i = 0; i < 400; ++i) {
    if (i % 4 == 1) wire.now_ns += 150'000;
    const std::uint32_t at = i % 4 == 0 ? i + 3 : i - 1;
    confirm(100 + at, at + 1);
  }
  wire.finish();
  EXPECT_EQ(wire.result.flows.size(), 1U);
}

/// A requester that goes back to what a NAK asks for has heard it.
TEST_F(TrackerHalves, NaksThatAreHeard) {
  constexpr End others[] = {{1, 0x31}, {2, 0x32}};
  const auto send = [&](End from, End to, std::uint32_t first, std::uint32_t count) {
    wire.port = static_cast<std::uint16_t>(50'000 + from.qpn);
    std::uint32_t begins = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::uint32_t sent = wire.request(from, to, first + i, send_only);
      if (i == 0) begins = sent;
    }
    return begins;
  };
  const auto refuse = [&](End from, End to, std::uint32_t psn, std::uint8_t syndrome) {
    wire.port = static_cast<std::uint16_t>(50'000 + from.qpn);
    return wire.answer(from, to, psn, syndrome);
  };
  send(a, b, 100, 5);
  send(others[0], others[1], 100, 5);  // in lockstep
  refuse(b, a, 100, nak_sequence);
  const std::uint32_t again = send(a, b, 100, 5);
  send(others[0], others[1], 105, 5);
  refuse(b, a, 102, rnr_code_14);
  wire.now_ns += 1'300'000;
  send(a, b, 102, 3);
  refuse(b, a, 103, nak_sequence);
  send(a, b, 103, 2);
  wire.finish();
  const Connection& c = wire.connection(wire.verdict(again).connection);
  EXPECT_TRUE(c.paired());
  EXPECT_EQ(c.sent[0].count(Event::retransmitted_nak), 7U);
  EXPECT_EQ(c.sent[0].count(Event::retransmitted_rnr), 3U);
  EXPECT_FALSE(wire.connection(1).paired());
  wire.expect_all_counted();
}

/// Two that go back to the same at the same time cannot be told apart.
TEST_F(TrackerHalves, NaksThatTwoMayHaveHeard) {
  constexpr End c{1, 0x31}, d{2, 0x32};
  const auto send = [&](End from, End to, std::uint32_t first, std::uint32_t count) {
    wire.port = static_cast<std::uint16_t>(50'000 + from.qpn);
    for (std::uint32_t i = 0; i < count; ++i) wire.request(from, to, first + i, send_only);
  };
  const auto refuse = [&](End from, End to, std::uint32_t psn) {
    wire.port = static_cast<std::uint16_t>(50'000 + from.qpn);
    wire.answer(from, to, psn, nak_sequence);
  };
  send(a, b, 100, 5);
  send(c, d, 100, 5);
  for (const std::uint32_t psn : {100U, 101U, 102U, 103U}) {
    refuse(b, a, psn);
    refuse(d, c, psn);
    send(c, d, psn, 105 - psn);
    send(a, b, psn, 105 - psn);
  }
  wire.finish();
  for (const Connection& each : wire.result.connections) EXPECT_FALSE(each.paired());
  wire.expect_all_counted();
}

/// What is sent again, is: also behind a long silence, and in vain.
TEST_F(TrackerHalves, TimersAreNone) {
  for (int pass = 0; pass < 4; ++pass) {
    live(100);
    wire.now_ns += 20'000'000;
  }
  confirm(102, 3);
  live(103);
  confirm(105, 6);
  wire.finish();
  std::uint64_t repeats = 0;
  for (const Connection& c : wire.result.connections)
    repeats += c.sent[0].count(Event::retransmitted_timeout) + c.sent[1].count(Event::retransmitted_timeout);
  EXPECT_EQ(repeats, 9U);
  wire.expect_all_counted();
}

}  // namespace
}  // namespace tracker_halves_test
}  // namespace roce::analyze
