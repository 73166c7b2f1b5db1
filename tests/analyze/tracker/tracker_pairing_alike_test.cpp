// SPDX-License-Identifier: Apache-2.0
// Flows of many connections between the same two hosts that look alike: what their answers tell.
#include <algorithm>
#include <vector>

#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_pairing_alike_test {
namespace {

constexpr std::uint16_t useless_port = 4791;
constexpr std::uint8_t write_first = 0x06, write_middle = 0x07, write_last = 0x08;

/// Many connections between two hosts, all from PSN 0, that send a message of some packets now and then.
struct Parallel {
  explicit Parallel(std::uint32_t count) : next(count), messages(count) { wire.port = useless_port; }

  Wire wire;
  std::vector<std::uint32_t> next;  ///< PSN, by connection
  std::vector<std::uint32_t> messages;
  std::uint32_t random = 1;
  bool counts_messages = true;

  std::uint32_t any(std::uint32_t below) {
    random = random * 1'103'515'245U + 12'345U;
    return (random >> 16U) % below;
  }
  static End left(std::uint32_t i) { return {1, 0x100 + i}; }
  std::uint32_t right_number(std::uint32_t i) const {
    return 0x1000 + (i * 7) % static_cast<std::uint32_t>(next.size());
  }
  End right(std::uint32_t i) const { return {2, right_number(i)}; }

  void burst(bool requests = true, bool answers = true) {
    const std::uint32_t i = any(static_cast<std::uint32_t>(next.size()));
    const std::uint32_t many = 1 + any(6);
    for (std::uint32_t k = 0; k < many; ++k, ++next[i]) {
      const std::uint8_t opcode = many == 1       ? write_only
                                  : k == 0        ? write_first
                                  : k + 1 == many ? write_last
                                                  : write_middle;
      if (requests) wire.request(left(i), right(i), next[i], opcode);
    }
    ++messages[i];
    if (!answers) return;
    PacketRecord answer = wire.make(right(i), left(i), acknowledge, next[i] - 1);
    answer.flags |= PacketRecord::has_aeth;
    answer.aeth = 0x1fU << 24U | (counts_messages ? messages[i] : 0);
    wire.send(answer);
  }
  /// Connections that are paired, all of them rightly.
  std::uint32_t paired() {
    std::uint32_t count = 0;
    for (const Connection& c : wire.result.connections) {
      if (!c.paired()) continue;
      ++count;
      const bool a_is_left = *c.ends[0].qp < 0x1000;
      EXPECT_EQ(*c.ends[a_is_left ? 1 : 0].qp, right_number(*c.ends[a_is_left ? 0 : 1].qp - 0x100))
          << c.answers_first << ' ' << c.id << ' ' << c.pairing.evidence;
    }
    return count;
  }
};

TEST(TrackerPairingAlike, ParallelConnectionsFromPsnZeroAreToldApart) {
  Parallel p(41);
  for (int i = 0; i < 3000; ++i) p.burst();
  p.wire.finish();
  EXPECT_EQ(p.paired(), 41U);
  p.wire.expect_all_counted();
}

TEST(TrackerPairingAlike, AlsoWithoutMsns) {
  Parallel p(11);
  p.counts_messages = false;
  for (int i = 0; i < 3000; ++i) p.burst();
  p.wire.finish();
  EXPECT_EQ(p.paired(), 11U);
}

TEST(TrackerPairingAlike, AnswersToWhatWasNotCapturedArePairedWithNobody) {
  // Requests of one half of the connections, answers of the other half.
  Parallel p(40);
  for (int i = 0; i < 6000; ++i) {
    const std::uint32_t before = p.random;
    const bool asks = p.any(40) % 2 == 0;
    p.random = before;
    p.burst(asks, !asks);
  }
  p.wire.finish();
  for (const Connection& c : p.wire.result.connections) EXPECT_FALSE(c.paired());
}

TEST(TrackerPairingAlike, APortThatAllShareIsNotDerivedFromTheirNumbers) {
  // Among many flows on one port some numbers give that port by chance.
  Wire wire;
  wire.port = source_port_of(0x100 + 17, 0x1000 + 3);
  for (std::uint32_t i = 0; i < 30; ++i) wire.request({1, 0x100 + i}, {2, 0x1000 + i}, 1000 * i);
  for (std::uint32_t i = 0; i < 30; ++i) wire.answer({2, 0x1000 + i}, {1, 0x100 + i}, 1000 * i);
  wire.finish();
  for (const Connection& c : wire.result.connections) {
    if (!c.paired()) continue;
    EXPECT_EQ(*c.ends[0].qp + 0xf00, *c.ends[1].qp);
  }
}

TEST(TrackerPairingAlike, NeitherIsAPortThatManyHostsShare) {
  // One connection between any two hosts, which alone would not show that all have one port.
  Wire wire;
  wire.port = source_port_of(0x1030, 0x140);
  for (std::uint32_t i = 0; i < 20; ++i) wire.request({i + 10, 0x300 + i}, {i + 11, 0x400 + i}, 1000 * i);
  wire.request({1, 0x111}, {2, 0x1030}, 5);
  wire.request({2, 0x2222}, {1, 0x140}, 9000);  // the two numbers that they go to fit by chance
  wire.finish();
  for (const Connection& c : wire.result.connections) EXPECT_FALSE(c.paired());
}

TEST(TrackerPairingAlike, HundredsAtOnceAreToldApartWhileTheyLast) {
  Parallel p(400);
  for (int i = 0; i < 16'000; ++i) p.burst();
  p.wire.finish();
  EXPECT_GE(p.paired(), 392U);
  p.wire.expect_all_counted();
}

/// Of some only the requests were captured, of some only the answers: none of these finds another's.
TEST(TrackerPairingAlike, NorAreHundredsAtOnceOfWhichAPartWasNotCaptured) {
  Parallel p(300);
  for (int i = 0; i < 12'000; ++i) {
    const std::uint32_t before = p.random;
    const std::uint32_t which = p.any(300) % 3;
    p.random = before;
    p.burst(which != 1, which != 2);
  }
  p.wire.finish();
  const std::uint32_t paired = p.paired();
  EXPECT_LE(paired, 100U);
  EXPECT_GE(paired, 90U);
}

TEST(TrackerPairingAlike, LockstepIsAmbiguousAndSaysSo) {
  // Two connections with the same PSNs at the same time: nothing tells which answers which.
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t i = 0; i < 100; ++i) {
    wire.request({1, 0x10}, {2, 0x20}, i);
    wire.request({1, 0x11}, {2, 0x21}, i);
    wire.answer({2, 0x20}, {1, 0x10}, i);
    wire.answer({2, 0x21}, {1, 0x11}, i);
  }
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), 4U);
  unsigned ambiguous = 0;
  for (const Connection& c : wire.result.connections) {
    EXPECT_FALSE(c.paired());
    EXPECT_EQ(c.pairing.confidence, 0.0);
    if (c.pairing.ambiguous) ++ambiguous;
  }
  EXPECT_EQ(ambiguous, 2U);  // those that send the answers
  wire.expect_all_counted();
}

/// Two connections in lockstep: each request of both, then each answer, of which `swapped` ones come the
/// other way round. Each connection has a port of its own, the same both ways, or all have one.
std::uint32_t paired_in_lockstep(bool own_ports, unsigned unswapped_of_8) {
  Wire wire;
  const auto port_of = [&](std::uint32_t i) {
    return static_cast<std::uint16_t>(own_ports ? 0xc111 + 7 * i : 0xc000);
  };
  for (std::uint32_t psn = 0; psn < 120; ++psn) {
    for (const std::uint32_t i : {0U, 1U}) {
      wire.port = port_of(i);
      wire.request({1, 0x10 + i}, {2, 0x20 + i}, psn);
    }
    wire.now_ns += 2000;
    const bool in_order = psn % 8 < unswapped_of_8;
    for (const std::uint32_t k : {0U, 1U}) {
      const std::uint32_t i = in_order ? k : 1 - k;
      wire.port = port_of(i);
      wire.answer({2, 0x20 + i}, {1, 0x10 + i}, psn);
      wire.now_ns += 3000;
    }
    wire.now_ns += 20'000;
  }
  wire.finish();
  wire.expect_all_counted();
  std::uint32_t paired = 0;
  for (const Connection& c : wire.result.connections) {
    if (!c.paired()) continue;
    ++paired;
    EXPECT_EQ(*c.ends[0].qp + 0x10, *c.ends[1].qp);
  }
  return paired;
}

/// How soon answers come tells nothing, however often: either order may seem the steadier one.
TEST(TrackerPairingAlike, ThePaceOfAnswersAloneDoesNotPair) {
  for (unsigned unswapped = 0; unswapped <= 8; ++unswapped) {
    EXPECT_EQ(paired_in_lockstep(false, unswapped), 0U) << unswapped;
    paired_in_lockstep(true, unswapped);  // never wrongly
  }
}

/// Messages of one packet at any moment, all from PSN 0: no answer comes before its request, and those to
/// others come any time after.
TEST(TrackerPairingAlike, AnswersAtAnyMomentAreToldApartByHowSteadyTheyCome) {
  for (const std::uint32_t connections : {2U, 5U, 10U}) {
    Wire wire;
    struct Sent {
      std::int64_t time_ns = 0;
      std::uint32_t connection = 0, psn = 0;
      bool answer = false;
    };
    std::vector<Sent> all;
    std::uint32_t random = 7;
    const auto any = [&](std::uint32_t below) {
      random = random * 1'103'515'245U + 12'345U;
      return (random >> 16U) % below;
    };
    for (std::uint32_t i = 0; i < connections; ++i) {
      std::int64_t now_ns = wire.now_ns + any(5000);
      for (std::uint32_t psn = 0; psn < 100; ++psn) {
        all.push_back({now_ns, i, psn, false});
        all.push_back({now_ns + 2500 + any(300), i, psn, true});
        now_ns += 2000 + any(2000);
      }
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Sent& x, const Sent& y) { return x.time_ns < y.time_ns; });
    for (const Sent& one : all) {
      wire.port = static_cast<std::uint16_t>(0xc000 + 97 * one.connection + (one.answer ? 31 : 0));
      wire.now_ns = one.time_ns - 1000;
      const std::uint32_t i = one.connection;
      if (one.answer) {
        wire.answer({2, 0x20 + i}, {1, 0x10 + i}, one.psn);
      } else {
        wire.request({1, 0x10 + i}, {2, 0x20 + i}, one.psn);
      }
    }
    wire.finish();
    EXPECT_EQ(wire.result.connections.size(), connections);
    for (const Connection& c : wire.result.connections) {
      ASSERT_TRUE(c.paired()) << connections;
      EXPECT_EQ(*c.ends[0].qp + 0x10, *c.ends[1].qp) << connections;
    }
  }
}

}  // namespace
}  // namespace tracker_pairing_alike_test
}  // namespace roce::analyze
