// SPDX-License-Identifier: Apache-2.0
// CE marks and CNPs of connections made by hand; every figure is computed by hand.
#include "analyze/tracker/congestion_tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace {

constexpr std::uint8_t cnp_opcode = 0x81;
constexpr std::uint8_t ect0 = 2, ce = 3;
constexpr End a{1, 0x11}, b{2, 0x22};

/// A connection whose data is ECT(0), and that is paired.
struct Congested : Wire {
  std::uint32_t psn = 0;

  Congested() { connect(a, b); }
  /// A WRITE at that time in microseconds.
  std::int64_t write(std::int64_t at_us, std::uint8_t ecn = ect0) {
    now_ns = start + at_us * 1000 - 1000;
    PacketRecord r = make(a, b, write_only, psn++);
    r.traffic_class = static_cast<std::uint8_t>(26U << 2U | ecn);
    send(r);
    return r.time_ns;
  }
  void cnp(std::int64_t at_us, End from = b, End to = a) {
    now_ns = start + at_us * 1000 - 1000;
    send(make(from, to, cnp_opcode, 0));
  }
  static constexpr std::int64_t start = 1'795'171'301'000'000'000;
};

TEST(Congestion, DelayIsFromTheFirstCeSinceTheCnpBefore) {
  Congested wire;
  wire.write(0);
  wire.write(10, ce);
  wire.write(12, ce);
  wire.cnp(15);  // 5 us after the first
  wire.write(20, ce);
  wire.cnp(65);  // 45 us
  wire.write(70, ce);
  wire.finish();
  const CongestionSide& side = *wire.connection().congestion[0];
  EXPECT_EQ(side.ce, 4U);
  EXPECT_EQ(side.cnps, 2U);
  EXPECT_EQ(side.cnps_without_ce, 0U);
  EXPECT_EQ(side.ce_after_cnp, 1U);
  EXPECT_EQ(side.ce_to_cnp.count, 2U);
  EXPECT_EQ(side.ce_to_cnp.min_ns, 5'000U);
  EXPECT_EQ(side.ce_to_cnp.max_ns, 45'000U);
  EXPECT_EQ(side.ce_to_cnp.mean_ns(), 25'000U);
  EXPECT_EQ(side.cnp_spacing.count, 1U);
  EXPECT_EQ(side.cnp_spacing.min_ns, 50'000U);
  EXPECT_FALSE(wire.connection().congestion[1].there());
  EXPECT_EQ(wire.result.congestion.ce_to_cnp_ns.count(), 2U);
  EXPECT_EQ(wire.result.congestion.ce_to_cnp_ns.min(), 5'000U);
  std::uint64_t ces = 0, cnps = 0;
  for (const Series::Bucket& bucket : wire.result.series.buckets()) {
    ces += bucket.ce;
    cnps += bucket.cnps;
  }
  EXPECT_EQ(ces, 4U);
  EXPECT_EQ(cnps, 2U);
}

TEST(Congestion, CnpsThatNothingAskedForAreCounted) {
  Congested wire;
  wire.write(0);
  wire.cnp(5);
  wire.write(6, ce);
  wire.cnp(8);
  wire.cnp(60);
  wire.finish();
  const CongestionSide& side = *wire.connection().congestion[0];
  EXPECT_EQ(side.cnps, 3U);
  EXPECT_EQ(side.cnps_without_ce, 2U);
  EXPECT_EQ(side.ce_after_cnp, 0U);
  EXPECT_EQ(side.ce_to_cnp.count, 1U);
}

TEST(Congestion, WithoutACongestedPacketThereIsNothing) {
  Congested wire;
  for (int i = 0; i < 50; ++i) wire.write(i);
  wire.finish();
  EXPECT_FALSE(wire.connection().congestion[0].there());
  EXPECT_FALSE(wire.connection().congestion[1].there());
  EXPECT_TRUE(wire.result.congestion.senders.empty());
}

TEST(Congestion, WhatTheSenderDidAfterEachCnp) {
  Congested wire;
  // Packets of 126 bytes. Before the first CNP, at 100 us: 50 of them, one every 2 us.
  for (int i = 0; i < 50; ++i) wire.write(2 * i, i == 49 ? ce : ect0);
  wire.cnp(100);
  // Then one every 4 us for 40 us: it fell to a half. Then one every 4 us again: it held.
  for (int i = 0; i < 10; ++i) wire.write(101 + 4 * i, i == 9 ? ce : ect0);
  wire.cnp(140);
  for (int i = 0; i < 10; ++i) wire.write(141 + 4 * i, i == 9 ? ce : ect0);
  wire.cnp(180);
  for (int i = 0; i < 5; ++i) wire.write(190 + 10 * i);
  wire.finish();
  const CongestionSide& side = *wire.connection().congestion[0];
  EXPECT_EQ(side.before.bytes, 50U * 126);
  EXPECT_EQ(side.before.ns, 100'000U);
  EXPECT_NEAR(side.before.bps(), 504e6, 1);  // 50 x 126 x 8 bits in 100 us
  EXPECT_EQ(side.between.bytes, 20U * 126);
  EXPECT_EQ(side.between.ns, 80'000U);
  EXPECT_NEAR(side.between.bps(), 252e6, 1);
  EXPECT_EQ(side.after.bytes, 5U * 126);
  EXPECT_EQ(side.after.ns, 50'000U);
  EXPECT_EQ(side.fell, 1U);
  EXPECT_EQ(side.held, 1U);
}

TEST(Congestion, WhatTheFilterLeavesOutIsFollowedButNotCounted) {
  Congested wire;
  wire.write(0);
  wire.now_ns = Congested::start + 9'000;
  PacketRecord marked = wire.make(a, b, write_only, wire.psn++);
  marked.traffic_class = ce;
  marked.flags = static_cast<std::uint8_t>(marked.flags & ~PacketRecord::selected);
  marked.more |= PacketRecord::left_out;
  wire.send(marked);
  wire.cnp(12);
  wire.finish();
  const CongestionSide& side = *wire.connection().congestion[0];
  EXPECT_EQ(side.ce, 0U);
  EXPECT_EQ(side.left_out, 1U);
  EXPECT_EQ(side.cnps, 1U);
  EXPECT_EQ(side.cnps_without_ce, 0U);  // it was asked for
}

/// CNPs to `peers` hosts, to two queue pairs of each, as `next` says: which flow, and when.
template <class Next>
CnpSender cnps(unsigned peers, unsigned times, Next next) {
  Wire wire;
  const End sender{9, 0x900};
  for (unsigned flow = 0; flow < peers * 2; ++flow) {
    wire.connect({1 + flow / 2, 0x10 + flow}, {sender.host, sender.qpn + flow});
    wire.request({1 + flow / 2, 0x10 + flow}, {sender.host, sender.qpn + flow}, 0);
    wire.answer({sender.host, sender.qpn + flow}, {1 + flow / 2, 0x10 + flow}, 0);
  }
  const std::int64_t start = wire.now_ns + 1'000'000;
  for (unsigned i = 0; i < times; ++i) {
    const auto [flow, at_ns] = next(i);
    wire.now_ns = start + at_ns - 1000;
    wire.send(wire.make({sender.host, sender.qpn + flow}, {1 + flow / 2, 0x10 + flow}, cnp_opcode, 0));
  }
  wire.finish();
  if (wire.result.congestion.senders.size() != 1) {
    ADD_FAILURE() << wire.result.congestion.senders.size() << " senders";
    return {};
  }
  EXPECT_EQ(wire.result.congestion.senders[0].cnps, times);
  return wire.result.congestion.senders[0];
}

TEST(CnpLimit, ByFlow) {
  // Each flow every 50 us, shifted by 1 us: the port sends them in bursts of four.
  const CnpSender sender = cnps(2, 400, [](unsigned i) {
    return std::pair(i % 4, std::int64_t{i / 4} * 50'000 + std::int64_t{i % 4} * 1'000);
  });
  EXPECT_EQ(sender.flows, 4U);
  EXPECT_EQ(sender.pairs, 2U);
  EXPECT_EQ(sender.limited_by(), CnpSender::Limit::flow);
  EXPECT_EQ(sender.flow_spacing_ns.min(), 50'000U);
  EXPECT_EQ(sender.port_spacing_ns.min(), 1'000U);
}

TEST(CnpLimit, ByAddressPair) {
  // Each pair every 50 us, its two flows in turn; the pairs 3 us apart.
  const CnpSender sender = cnps(2, 400, [](unsigned i) {
    const unsigned pair = i % 2, turn = i / 2;
    return std::pair(pair * 2 + turn % 2, std::int64_t{turn} * 50'000 + std::int64_t{pair} * 3'000);
  });
  EXPECT_EQ(sender.limited_by(), CnpSender::Limit::address_pair);
  EXPECT_EQ(sender.pair_spacing_ns.min(), 50'000U);
}

TEST(CnpLimit, ByPort) {
  // One every 50 us, of all four flows in turn.
  const CnpSender sender =
      cnps(2, 400, [](unsigned i) { return std::pair(i % 4, std::int64_t{i} * 50'000); });
  EXPECT_EQ(sender.limited_by(), CnpSender::Limit::port);
  EXPECT_EQ(sender.flow_spacing_ns.min(), 200'000U);
}

TEST(CnpLimit, IsUnknownOfOneFlow) {
  const CnpSender sender = cnps(2, 400, [](unsigned i) { return std::pair(0U, std::int64_t{i} * 50'000); });
  EXPECT_EQ(sender.flows, 1U);
  EXPECT_EQ(sender.limited_by(), CnpSender::Limit::unknown);
}

TEST(CnpLimit, OfRareMarksIsUnknown) {
  // CNPs come when marks do, 50 us apart or much more: no limit can be told from them, nor its absence.
  constexpr std::int64_t after_us[] = {50, 700, 60, 2'000, 90, 1'200};
  const auto at_random = [&](std::int64_t unit_ns) {
    std::int64_t at_ns = 0;
    return cnps(2, 400, [&, at_ns](unsigned i) mutable {
      at_ns += after_us[i % 6] * unit_ns;
      return std::pair(i % 5 % 4, at_ns);
    });
  };
  EXPECT_EQ(at_random(1000).limited_by(), CnpSender::Limit::unknown);
  EXPECT_EQ(at_random(5).limited_by(), CnpSender::Limit::none);  // hardly any time between them
}

TEST(CnpLimit, OnePairDoesNotTellPortFromPair) {
  const CnpSender sender =
      cnps(1, 400, [](unsigned i) { return std::pair(i % 2, std::int64_t{i} * 50'000); });
  EXPECT_EQ(sender.limited_by(), CnpSender::Limit::address_pair);
}

TEST(Congestion, SendersAreBounded) {
  CongestionTracker tracker;
  Connection connection;
  PacketRecord r;
  r.flags = PacketRecord::valid | PacketRecord::selected;
  r.opcode = cnp_opcode;
  constexpr unsigned senders = 1000;
  for (unsigned i = 0; i < senders; ++i) {
    r.key.src.bytes[0] = static_cast<std::uint8_t>(i);
    r.key.src.bytes[1] = static_cast<std::uint8_t>(i >> 8U);
    r.time_ns = i;
    tracker.notified(connection, 0, nullptr, r);
  }
  const Congestion all = tracker.take();
  EXPECT_EQ(all.senders.size(), CongestionTracker::sender_limit);
  EXPECT_EQ(all.senders_dropped, senders - CongestionTracker::sender_limit);
  EXPECT_TRUE(tracker.take().senders.empty());
}

// Where nothing else was captured, it is said all the same who slows whom down, and how often.
TEST(Congestion, PairsOfCnpsWithoutConnections) {
  Congested wire;
  wire.write(0);
  wire.write(1, ce);
  wire.cnp(5);
  wire.cnp(105);
  constexpr End c{3, 0x33}, other{1, 0x12};
  for (int i = 0; i < 5; ++i) wire.cnp(200 + 40 * i, c, i % 2 == 0 ? End{1, 0x13} : other);
  wire.finish();
  Congestion& all = wire.result.congestion;
  sum_up(all, wire.result.flows, wire.result.connections);
  EXPECT_EQ(all.cnp_packets, 7U);
  ASSERT_EQ(all.pairs.size(), 2U);
  EXPECT_EQ(all.pairs[0].from, tracker_host(3));
  EXPECT_EQ(all.pairs[0].to, tracker_host(1));
  EXPECT_EQ(all.pairs[0].cnps, 5U);
  EXPECT_EQ(all.pairs[0].queue_pairs, 2U);
  EXPECT_EQ(all.pairs[0].mean_spacing_ns(), 40'000);
  EXPECT_EQ(all.pairs[1].from, tracker_host(2));
  EXPECT_EQ(all.pairs[1].cnps, 2U);
  EXPECT_EQ(all.pairs[1].mean_spacing_ns(), 100'000);
  ASSERT_EQ(all.senders.size(), 2U);
  EXPECT_EQ(all.senders[0].cnps, 2U);
  EXPECT_EQ(all.senders[1].address, tracker_host(3));
  EXPECT_EQ(all.senders[1].cnps, 5U);
  EXPECT_EQ(all.senders[1].pairs, 1U);
  EXPECT_EQ(all.senders[1].flows, 2U);
  EXPECT_EQ(all.senders[1].limited_by(), CnpSender::Limit::unknown);
}

TEST(Congestion, PairsAreBounded) {
  std::vector<Flow> flows(Congestion::pairs_kept + 2);
  for (unsigned i = 0; i < flows.size(); ++i) {
    flows[i].id = i;
    flows[i].key.src = tracker_host(1 + i / 200);
    flows[i].key.dst = tracker_host(50 + i % 200);
    PacketRecord r;
    r.flags = PacketRecord::valid | PacketRecord::selected;
    r.opcode = cnp_opcode;
    r.time_ns = 1;
    flows[i].count(r, i + 1);
    flows[i].settle();
  }
  Congestion all;
  sum_up(all, flows, {});
  EXPECT_EQ(all.pairs.size(), Congestion::pairs_kept);
  EXPECT_EQ(all.pairs_dropped, 2U);
  EXPECT_EQ(all.cnp_packets, Congestion::pairs_kept + 2);
}

TEST(Congestion, HostileTimesDoNoHarm) {
  CongestionTracker tracker;
  Connection connection;
  Flow flow;
  PacketRecord r;
  r.flags = PacketRecord::valid | PacketRecord::selected;
  for (const std::int64_t time : {std::int64_t{0}, PacketRecord::latest_ns, std::int64_t{5}, capture::no_time,
                                  std::int64_t{7}, PacketRecord::latest_ns}) {
    r.time_ns = time;
    tracker.marked(connection, 0, r);
    tracker.notified(connection, 0, &flow, r);
  }
  CongestionTracker::finish(connection, 0, &flow);
  EXPECT_EQ((*connection.congestion[0]).cnps, 6U);
}

TEST(Congestion, ARepeatWithOtherMarksIsNoted) {
  Wire wire;
  wire.connect(a, b);
  const auto data = [&](std::uint32_t psn, std::uint8_t dscp) {
    PacketRecord r = wire.make(a, b, write_only, psn);
    r.traffic_class = static_cast<std::uint8_t>(dscp << 2U);
    return wire.send(r);
  };
  for (std::uint32_t psn = 0; psn < 5; ++psn) data(psn, 26);
  wire.answer(b, a, 2, nak_sequence);
  data(2, 0);   // sent again, unmarked
  data(3, 26);  // sent again as before
  data(4, 26);
  wire.answer(b, a, 4);
  wire.finish();
  EXPECT_EQ(wire.connection().sent[0].count(Event::repeat_marked_otherwise), 1U);
  EXPECT_EQ(wire.connection().sent[0].find(Event::repeat_marked_otherwise)->frames[0], 7U);
}

}  // namespace
}  // namespace roce::analyze
