// SPDX-License-Identifier: Apache-2.0
// Which two flows become a connection, on what evidence, and which stay alone.
#include <array>

#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_pairing_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::uint16_t useless_port = 4791;

TEST(TrackerPairing, TheSourcePortFormulaIsTheSameBothWaysAndInItsRange) {
  for (std::uint32_t x = 1; x < 0x1000000; x = x * 5 + 3) {
    for (std::uint32_t y = 2; y < 0x1000000; y = y * 7 + 1) {
      EXPECT_EQ(source_port_of(x, y), source_port_of(y, x));
      EXPECT_GE(source_port_of(x, y), 0xc000);
    }
  }
}

TEST(TrackerPairing, BySourcePort) {
  Wire wire;
  wire.talk(a, b, 100, 30);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  const Connection& c = wire.connection();
  EXPECT_TRUE(c.paired());
  EXPECT_TRUE(c.pairing.has(Evidence::udp_source_port));
  EXPECT_TRUE(c.pairing.has(Evidence::answers));
  EXPECT_FALSE(c.pairing.has(Evidence::cm));
  EXPECT_GE(c.pairing.confidence, 0.98);
  EXPECT_EQ(c.pairing.answered, 30U);
  EXPECT_EQ(c.pairing.unfitting, 0U);
  EXPECT_EQ(c.ends[0].qp, a.qpn);  // the sender of the first packet
  EXPECT_EQ(c.ends[1].qp, b.qpn);
  EXPECT_EQ(c.state, Connection::State::open);
  EXPECT_EQ(c.packets[0], 30U);
  EXPECT_EQ(c.packets[1], 30U);
  EXPECT_EQ(c.requester[0].acks, 30U);
  EXPECT_FALSE(c.requester[1].seen);
  EXPECT_FALSE(wire.verdict(1).has(Verdict::b_to_a));
  EXPECT_TRUE(wire.verdict(2).has(Verdict::b_to_a));
  EXPECT_EQ(wire.verdict(2).request, 1U);
  EXPECT_EQ(wire.verdict(1).response, 2U);
  EXPECT_EQ(wire.verdict(1).connection, c.id);
  wire.expect_all_counted();
}

TEST(TrackerPairing, ByTheExchangeEvenWithoutPorts) {
  Wire wire;
  wire.port = useless_port;
  wire.connect(a, b, 7, 1024);
  wire.talk(a, b, 100, 3);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  const Connection& c = wire.connection();
  EXPECT_TRUE(c.pairing.has(Evidence::cm));
  EXPECT_EQ(c.pairing.confidence, 1.0);
  EXPECT_EQ(c.cm, 7U);
  EXPECT_TRUE(c.client_is_a);
  EXPECT_EQ(c.pmtu, 1024U);
  EXPECT_TRUE(c.pmtu_by_cm);
}

TEST(TrackerPairing, TheServerMayBeTheFirstToSend) {
  Wire wire;
  wire.port = useless_port;
  wire.connect(b, a, 3);
  wire.talk(a, b, 100, 3);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_FALSE(wire.connection().client_is_a);
  EXPECT_EQ(wire.connection().ends[0].qp, a.qpn);
}

TEST(TrackerPairing, TheExchangeNamesTheMissingEndToo) {
  Wire wire;
  wire.connect(a, b);
  for (std::uint32_t i = 0; i < 5; ++i) wire.request(a, b, i);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_FALSE(wire.connection().paired());
  EXPECT_EQ(wire.connection().ends[0].qp, a.qpn);
  EXPECT_EQ(wire.connection().pairing.confidence, 0.0);
}

/// The flow whose requests its answers fit has found another partner by the time that it has waited too long.
TEST(TrackerPairing, WhomAFlowMayBelongToMayBeTakenWhileItWaits) {
  for (std::uint32_t answers = 1; answers < 4; ++answers) {
    constexpr End other{1, 0x33};
    Wire wire;
    wire.port = source_port_of(b.qpn, other.qpn);
    for (std::uint32_t i = 0; i < 4; ++i) wire.request(a, b, 100 + i);
    for (std::uint32_t i = 0; i < answers; ++i) wire.answer(b, a, 100 + i);
    wire.request(b, other, 7000);
    for (std::uint32_t i = 0; i < 600; ++i) wire.request(b, a, 9000 + i);
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), 2U) << answers;
    wire.expect_all_counted();
  }
}

TEST(TrackerPairing, ByAnswersAmongManyQueuePairs) {
  constexpr std::uint32_t pairs = 24;
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t round = 0; round < 40; ++round) {
    for (std::uint32_t i = 0; i < pairs; ++i) {
      const End from{1, 0x100 + i};
      const End to{2, 0x200 + (i * 7) % pairs};
      wire.talk(from, to, i * 10'000 + round, 1);
    }
  }
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), pairs);
  for (const Connection& c : wire.result.connections) {
    EXPECT_TRUE(c.paired());
    EXPECT_TRUE(c.pairing.has(Evidence::answers));
    EXPECT_FALSE(c.pairing.has(Evidence::udp_source_port));
    EXPECT_GT(c.pairing.confidence, 0.9);
    ASSERT_TRUE(c.ends[0].qp && c.ends[1].qp);
    EXPECT_EQ(*c.ends[1].qp, 0x200 + (*c.ends[0].qp - 0x100) * 7 % pairs);
  }
  wire.expect_all_counted();
}

TEST(TrackerPairing, TheSameFirstPsnIsToldApartByProgress) {
  // All begin with PSN 0, but each has its own pace.
  Wire wire;
  wire.port = useless_port;
  std::array<std::uint32_t, 3> psn{};
  for (std::uint32_t round = 0; round < 60; ++round) {
    for (std::uint32_t i = 0; i < psn.size(); ++i) {
      for (std::uint32_t n = 0; n < 1 + i * 20; ++n) wire.request({1, 0x10 + i}, {2, 0x20 + i}, psn.at(i)++);
      wire.answer({2, 0x20 + i}, {1, 0x10 + i}, psn.at(i) - 1);
    }
  }
  wire.finish();
  for (const Connection& c : wire.result.connections) {
    if (!c.paired()) continue;
    EXPECT_EQ(*c.ends[0].qp + 0x10, *c.ends[1].qp);
  }
  EXPECT_EQ(wire.result.connections.size(), psn.size());
  wire.expect_all_counted();
}

TEST(TrackerPairing, OneDirectionIsHalfSeen) {
  Wire wire;
  for (std::uint32_t i = 0; i < 700; ++i) wire.request(a, b, i);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  const Connection& c = wire.connection();
  EXPECT_EQ(c.state, Connection::State::half_seen);
  EXPECT_EQ(c.pairing.confidence, 0.0);
  EXPECT_EQ(c.pairing.evidence, 0U);
  EXPECT_FALSE(c.ends[0].qp);
  EXPECT_EQ(c.ends[1].qp, b.qpn);
  EXPECT_EQ(c.requester[0].requests, 700U);
  wire.expect_all_counted();
}

TEST(TrackerPairing, AnswersAloneAreHalfSeenToo) {
  Wire wire;
  for (std::uint32_t i = 0; i < 30; ++i) wire.answer(b, a, i);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.connection().state, Connection::State::half_seen);
  EXPECT_EQ(wire.connection().requester[1].acks, 30U);
  wire.expect_all_counted();
}

TEST(TrackerPairing, TheOtherDirectionMayComeVeryLate) {
  // Longer than packets are held back: both were followed alone by then.
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t i = 0; i < 600; ++i) wire.request(a, b, i);
  for (std::uint32_t i = 600; i < 640; ++i) wire.talk(a, b, i, 1);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_TRUE(wire.connection().paired());
  EXPECT_EQ(wire.connection().packets[0], 640U);
  EXPECT_EQ(wire.connection().packets[1], 40U);
  wire.expect_all_counted();
}

/// An answer to a READ begins under the READ's own PSN, which of all that its responses take another flow's
/// answers hit by chance only. The second answer comes long after both have been followed alone.
TEST(TrackerPairing, WhereTheAnswerToALongReadBeginsTellsWhoseItIs) {
  constexpr std::uint32_t psn = 0x123456, responses = 700;
  constexpr std::uint8_t first = 0x0d, middle = 0x0e;
  for (const std::uint32_t off : {0U, 5U}) {
    Wire wire;
    wire.port = useless_port;
    PacketRecord read = wire.make(a, b, read_request, psn);
    read.dma_length = responses * 1024;
    wire.send(read);
    for (std::uint32_t i = 0; i < responses - off; ++i)
      wire.send(wire.make(b, a, i == 0 ? first : middle, psn + off + i));
    wire.finish();
    EXPECT_EQ(wire.connection().paired(), off == 0);
    wire.expect_all_counted();
  }
}

/// The answer to what is asked for again of a READ begins there, too.
TEST(TrackerPairing, TheAnswerToTheRestOfAReadBeginsWhereThatWasAskedFor) {
  constexpr std::uint32_t psn = 0x123456, responses = 1500;
  constexpr std::uint8_t first = 0x0d, middle = 0x0e;
  Wire wire;
  wire.port = useless_port;
  const auto ask = [&](std::uint32_t from) {
    PacketRecord read = wire.make(a, b, read_request, psn + from);
    read.dma_length = (responses - from) * 1024;
    wire.send(read);
  };
  ask(0);
  for (const std::uint32_t from : {0U, 100U, 200U, 300U}) {
    if (from != 0) ask(from);
    for (std::uint32_t i = 0; i < 200; ++i)
      wire.send(wire.make(b, a, i == 0 ? first : middle, psn + from + i));
  }
  wire.finish();
  EXPECT_TRUE(wire.connection().paired());
}

/// Two interfaces whose clocks differ by more than an answer takes.
TEST(TrackerPairing, AnswersBeforeTheirRequestsFindThemByTheirNumbers) {
  for (const std::uint32_t times : {60U, 700U}) {
    Wire wire;
    wire.port = useless_port;
    constexpr std::uint32_t connections = 4, first = 1'000'000;
    for (std::uint32_t i = 0; i < times; ++i) {
      for (std::uint32_t c = 0; c < connections; ++c) {
        wire.answer({2, 0x200 + c}, {1, 0x100 + 7 * c}, first * (c + 1) + i);
      }
      if (i < 3) continue;  // three answers ahead
      for (std::uint32_t c = 0; c < connections; ++c) {
        wire.request({1, 0x100 + 7 * c}, {2, 0x200 + c}, first * (c + 1) + i - 3);
      }
    }
    wire.finish();
    ASSERT_EQ(wire.result.connections.size(), connections) << times;
    for (const Connection& c : wire.result.connections) {
      ASSERT_TRUE(c.paired());
      EXPECT_TRUE(c.pairing.has(Evidence::answers));
      EXPECT_TRUE(c.answers_first);
      const bool asks = c.flow[0] && c.ends[0].address == tracker_host(1);
      EXPECT_EQ((*c.ends[asks ? 0 : 1].qp - 0x100) / 7, *c.ends[asks ? 1 : 0].qp - 0x200);
    }
    wire.expect_all_counted();
  }
}

TEST(TrackerPairing, NumbersThatAllBeginWithProveNothingBackwards) {
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t i = 0; i < 100; ++i) {
    wire.answer({2, 0x200}, {1, 0x100}, i);  // of requests that were not captured
    if (i >= 3) wire.request({1, 0x107}, {2, 0x207}, i - 3);
  }
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), 2U);
  for (const Connection& c : wire.result.connections) EXPECT_FALSE(c.paired());
}

TEST(TrackerPairing, CnpsGoToTheOnlyFlowTheyCanMean) {
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t i = 0; i < 20; ++i) wire.request(a, b, i);
  for (int i = 0; i < 4; ++i) wire.send(wire.make(b, a, dissect::opcode_cnp, 0));
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_TRUE(wire.connection().paired());
  EXPECT_TRUE(wire.connection().pairing.has(Evidence::cnp));
  EXPECT_EQ(wire.connection().cnps[1], 4U);
  EXPECT_EQ(wire.connection().service, dissect::Service::rc);
  wire.expect_all_counted();
}

TEST(TrackerPairing, CnpsThatCouldMeanSeveralFlowsAreOnlyCounted) {
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t i = 0; i < 20; ++i) {
    wire.request(a, b, i);
    wire.request({1, 0x12}, {2, 0x23}, i);
  }
  wire.send(wire.make(b, a, dissect::opcode_cnp, 0));
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), 2U);
  for (const Connection& c : wire.result.connections) EXPECT_FALSE(c.paired());
  EXPECT_EQ(wire.result.flows.size(), 3U);
  wire.expect_all_counted();
}

TEST(TrackerPairing, ANewExchangeWithTheSameNumbersIsANewConnection) {
  Wire wire;
  wire.connect(a, b, 0);
  wire.talk(a, b, 100, 10);
  wire.connect(a, b, 1);
  wire.talk(a, b, 110, 10);  // even where the PSNs go on
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 2U);
  EXPECT_EQ(wire.connection(0).cm, 0U);
  EXPECT_EQ(wire.connection(1).cm, 1U);
  for (const Connection& c : wire.result.connections) EXPECT_EQ(c.packets[0], 10U);
  EXPECT_EQ(wire.result.flows.size(), 4U);
  EXPECT_NE(wire.flow(a, b, 0).id, wire.flow(a, b, 1).id);
  wire.expect_all_counted();
}

TEST(TrackerPairing, TheSameNumbersOnManyHosts) {
  Wire wire;
  for (std::uint32_t round = 0; round < 25; ++round) {
    for (unsigned host = 2; host < 40; ++host) {
      wire.talk({1, 0x11}, {host, 0x11}, round, 1);  // one QPN everywhere, one port, one PSN
    }
  }
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), 38U);
  for (const Connection& c : wire.result.connections) {
    EXPECT_TRUE(c.paired());
    EXPECT_EQ(c.packets[0], 25U);
    EXPECT_EQ(c.packets[1], 25U);
    EXPECT_EQ(c.requester[0].acks, 25U);
  }
  wire.expect_all_counted();
}

TEST(TrackerPairing, DatagramsBesideItAreCountedAndMakeNoConnection) {
  Wire wire;
  const End gsi{2, 1};
  for (std::uint32_t i = 0; i < 20; ++i) {
    wire.talk(a, b, i, 1);
    wire.send(wire.make({1, 0x31}, {2, 0x32}, ud_send_only, i * 1000));
    wire.send(wire.make({1, 1}, gsi, ud_send_only, i));
  }
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.result.flows.size(), 4U);
  EXPECT_EQ(wire.flow({1, 0}, {2, 0x32}).packets, 20U);
  EXPECT_FALSE(wire.flow({1, 0}, {2, 0x32}).connection);
  EXPECT_EQ(wire.flow({1, 0}, gsi).packets, 20U);
  EXPECT_EQ(wire.verdict(3).connection, Verdict::no_connection);
  wire.expect_all_counted();
}

TEST(TrackerPairing, RequestsInBothDirectionsAreTwoSpaces) {
  Wire wire;
  for (std::uint32_t i = 0; i < 20; ++i) {
    wire.request(a, b, 1000 + i);
    wire.request(b, a, 500'000 + i);
    wire.answer(b, a, 1000 + i);
    wire.answer(a, b, 500'000 + i);
  }
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  const Connection& c = wire.connection();
  for (const Requester& r : c.requester) {
    EXPECT_EQ(r.requests, 20U);
    EXPECT_EQ(r.acks, 20U);
  }
  EXPECT_EQ(c.requester[0].first_psn, 1000U);
  EXPECT_EQ(c.requester[1].first_psn, 500'000U);
  EXPECT_EQ(c.requester[1].next_psn, 500'020U);
  for (const Events& events : c.sent) EXPECT_TRUE(events.empty());
}

TEST(TrackerPairing, ANumberConnectedToItselfIsNotPairedWithItself) {
  // Only a forged exchange says so.
  Wire wire;
  wire.connect(a, a);
  for (std::uint32_t i = 0; i < 5; ++i) wire.request(a, a, i);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_FALSE(wire.connection().paired());
  EXPECT_EQ(wire.flow(a, a).sequence().duplicate_captures, 0U);
  wire.expect_all_counted();
}

TEST(TrackerPairing, WhatWaitedInOrderOfTimeIsFollowedInOrderOfTime) {
  // dumpcap wrote what the interface on the far side saw first.
  Wire wire;
  wire.port = useless_port;
  VerdictStore verdicts;
  Tracker tracker(TrackerOptions{FlowTable::default_limit, &verdicts});
  constexpr std::uint32_t messages = 30;
  std::uint64_t number = 0;
  for (std::uint32_t i = 0; i < messages; ++i) {
    PacketRecord near = wire.make(a, b, write_only, 100 + i);
    PacketRecord far = near;
    far.path = 1;
    far.time_ns = wire.now_ns += 1000;
    tracker.track_one(near, number + 2);
    tracker.track_one(far, number + 1);
    PacketRecord ack = wire.make(b, a, acknowledge, 100 + i);
    ack.flags |= PacketRecord::has_aeth;
    ack.aeth = 0x1f000001U + i;
    tracker.track_one(ack, number + 3);
    number += 3;
  }
  static_cast<void>(tracker.finish(wire.now_ns));
  for (std::uint64_t i = 0; i < messages; ++i) {
    ASSERT_NE(verdicts.find(3 * i + 1), nullptr);
    EXPECT_TRUE(verdicts.find(3 * i + 1)->has(Verdict::duplicate_capture)) << i;
    EXPECT_FALSE(verdicts.find(3 * i + 2)->has(Verdict::duplicate_capture)) << i;
  }
}

}  // namespace
}  // namespace tracker_pairing_test
}  // namespace roce::analyze
