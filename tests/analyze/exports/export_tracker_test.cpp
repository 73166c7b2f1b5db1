// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/export_tracker.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "dissect/dissect.hpp"
#include "tests/dissect/xdr.hpp"

namespace roce::analyze {
namespace {

using dissect::Xdr;

constexpr std::int64_t ms = 1'000'000;

/// Datagrams to a collector, one after the other.
struct Collector {
  ExportTracker tracker;
  std::uint64_t number = 0;

  void take(const Xdr& datagram, std::int64_t time_ns = ms) {
    const std::vector<std::uint8_t> bytes = dissect::framed(datagram);
    capture::Frame frame;
    frame.data = bytes.data();
    frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = dissect::link_ethernet;
    frame.time_ns = time_ns;
    dissect::Dissection d;
    dissect::dissect(bytes, frame.wire, frame.link_type, d);
    ASSERT_TRUE(d.is_export());
    tracker.see(++number, frame, d);
  }
  [[nodiscard]] Exports end(std::vector<LostTransmission> losses = {}) {
    return std::move(tracker).finish(std::move(losses));
  }
};

Xdr datagram(std::uint32_t sequence, std::uint32_t samples, std::uint32_t uptime_ms = 60'000) {
  return {5, 1, 0x0a000007, 2, sequence, uptime_ms, samples};
}
Xdr sample(std::uint32_t sequence, std::uint32_t pool, std::uint32_t rate = 100, std::uint32_t input = 9,
           std::uint32_t output = 4) {
  Xdr body{sequence, 9, rate, pool, 0, input, output, 1};
  return body.item(1, dissect::sampled_header(dissect::sampled_roce()));
}
Xdr drop(std::uint32_t sequence, std::uint32_t dropped = 0) {
  Xdr body{sequence, 0, 12, dropped, 3, 12, 259, 2};
  return body.item(1, dissect::sampled_header(dissect::sampled_roce())).item(1036, {5});
}

TEST(ExportTracker, WhatTheCaptureCutWasNotLostOnTheWay) {
  Collector collector;
  for (std::uint32_t i = 1; i <= 10; ++i) {
    Xdr both = datagram(i, 2).item(1, sample(2 * i, 2000 * i)).item(1, sample(2 * i + 1, 2000 * i + 1000));
    const std::vector<std::uint8_t> whole = dissect::framed(both);
    const std::vector<std::uint8_t> one = dissect::framed(datagram(i, 2).item(1, sample(2 * i, 2000 * i)));
    capture::Frame frame;
    frame.data = whole.data();
    frame.captured = static_cast<std::uint32_t>(one.size());
    frame.wire = static_cast<std::uint32_t>(whole.size());
    frame.link_type = dissect::link_ethernet;
    frame.time_ns = ms;
    dissect::Dissection d;
    dissect::dissect({whole.data(), one.size()}, frame.wire, frame.link_type, d);
    collector.tracker.see(++collector.number, frame, d);
  }
  const Exports e = collector.end();
  ASSERT_EQ(e.sources.size(), 1U);
  EXPECT_EQ(e.sources[0].samples, 10U);
  EXPECT_EQ(e.sources[0].missing, 0U);
  EXPECT_EQ(e.unreadable, 10U);
}

TEST(ExportTracker, ScalesByThePoolAndCountsWhatIsMissing) {
  Collector collector;
  for (std::uint32_t i = 1; i <= 21; ++i) {
    if (i == 5) continue;  // a datagram with its sample that is lost on the way
    collector.take(datagram(i, 1).item(1, sample(i, 1000 * i)));
  }
  const Exports e = collector.end();
  ASSERT_EQ(e.agents.size(), 1U);
  EXPECT_EQ(e.agents[0].datagrams, 20U);
  EXPECT_EQ(e.agents[0].missing, 1U);
  ASSERT_EQ(e.sources.size(), 1U);
  const ExportSource& source = e.sources[0];
  EXPECT_EQ(source.samples, 20U);
  EXPECT_EQ(source.missing, 1U);
  EXPECT_EQ(source.pool, 20'000U);
  EXPECT_EQ(source.ingress, 20U);
  EXPECT_NEAR(source.one_in(), 20'000.0 / 19, 0.01);  // the pool, whatever rate the switch names
  ASSERT_EQ(e.flows.size(), 1U);
  const ExportFlow& flow = e.flows[0];
  EXPECT_EQ(flow.key.dst_qp, 0x11U);
  EXPECT_EQ(flow.counts.samples, 20U);
  EXPECT_EQ(flow.counts.ecn[3], 20U);
  EXPECT_EQ(flow.dscp.of(26), 20U);
  EXPECT_TRUE(flow.packets.told());
  EXPECT_NEAR(flow.packets.value, 20 * 20'000.0 / 19, 0.1);
  EXPECT_NEAR(flow.packets.error / flow.packets.value, 1.96 / std::sqrt(20.0), 1e-9);
  EXPECT_NEAR(flow.bytes.value, flow.packets.value * 1106, 1);
  EXPECT_EQ(exports_text(e), "sFlow samples of 1 switch, about 1 in 1053");
}

TEST(ExportTracker, FewSamplesAreOnlySeen) {
  Collector collector;
  for (std::uint32_t i = 1; i <= 9; ++i) collector.take(datagram(i, 1).item(1, sample(i, 100 * i)));
  const Exports e = collector.end();
  EXPECT_FALSE(e.flows[0].packets.told());
  EXPECT_EQ(estimate_text(e.flows[0].packets), "seen");
}

TEST(ExportTracker, WithoutAPoolTheRateCounts) {
  Collector collector;
  for (std::uint32_t i = 1; i <= 16; ++i) collector.take(datagram(i, 1).item(1, sample(i, 7)));
  EXPECT_NEAR(collector.end().flows[0].packets.value, 1600, 0.01);
}

TEST(ExportTracker, DatagramsThatComeTwiceOrLate) {
  Collector collector;
  for (const std::uint32_t i : {1U, 2U, 4U, 3U, 4U, 1U})
    collector.take(datagram(i, 1).item(1, sample(i, 100 * i)));
  const Exports e = collector.end();
  EXPECT_EQ(e.agents[0].datagrams, 4U);
  EXPECT_EQ(e.agents[0].duplicates, 2U);
  EXPECT_EQ(e.agents[0].missing, 0U);
  EXPECT_EQ(e.sources[0].samples, 4U);
  EXPECT_EQ(e.sources[0].missing, 0U);
}

TEST(ExportTracker, ARestartLosesNothing) {
  Collector collector;
  collector.take(datagram(500, 1, 900'000).item(1, sample(800, 90'000)));
  collector.take(datagram(501, 1, 901'000).item(1, sample(801, 90'100)));
  collector.take(datagram(1, 1, 1'000).item(1, sample(1, 50)));
  collector.take(datagram(2, 1, 2'000).item(1, sample(2, 150)));
  const Exports e = collector.end();
  EXPECT_EQ(e.agents[0].restarts, 1U);
  EXPECT_EQ(e.agents[0].missing, 0U);
  EXPECT_EQ(e.sources[0].missing, 0U);
  EXPECT_EQ(e.sources[0].pool, 200U);
  EXPECT_EQ(e.sources[0].samples, 4U);
}

TEST(ExportTracker, EverNewSourcesDoNotFillTheMemory) {
  Collector collector;
  const auto most = static_cast<std::uint32_t>(SflowTracker::states_at_most);
  constexpr std::uint32_t of_one = 16;
  for (std::uint32_t i = 0; i < most + of_one; i += of_one) {
    Xdr all = datagram(i / of_one, of_one);
    for (std::uint32_t k = 0; k < of_one; ++k) all.item(5, {1, 0, i + k, 0, 3, 12, 259, 0});
    collector.take(all);
  }
  const Exports e = collector.end();
  EXPECT_EQ(e.others_dropped, of_one);
  EXPECT_LE(e.drops.size(), ExportBook::drops_at_most);
}

TEST(ExportTracker, APacketSampledOnBothWaysIsOne) {
  Collector collector;
  std::uint32_t sequence = 0;
  for (std::uint32_t i = 1; i <= 20; ++i) {
    Xdr out{i, 4, 100, 100 * i, 0, 9, 4, 1};  // the data source is where it goes out
    out.item(1, dissect::sampled_header(dissect::sampled_roce()));
    collector.take(datagram(++sequence, 2).item(1, sample(i, 100 * i)).item(1, out));
  }
  const Exports e = collector.end();
  EXPECT_EQ(e.sources.size(), 2U);
  EXPECT_EQ(e.sources[1].egress, 20U);
  ASSERT_EQ(e.flows.size(), 1U);
  EXPECT_EQ(e.flows[0].counts.samples, 20U);
  EXPECT_NEAR(e.flows[0].packets.value, 2000, 0.1);
}

TEST(ExportTracker, QueuesAndCounters) {
  Collector collector;
  for (std::uint32_t i = 1; i <= 4; ++i) {
    Xdr body{i, 9, 100, 100 * i, 0, 9, 4, 4};
    body.item(1, dissect::sampled_header(dissect::sampled_roce())).item(1036, {3}).item(1040, {1000 * i});
    body.item(1039, {i == 4 ? 0xffff'ffff : 500 * i});
    Xdr counters{i, 9, 2};
    counters.item(1,
                  {9, 6, 0, 1, 1, 3, 0, 1000 * i, 0, 0, 0, 5 * i, 0, 0, 0, 2000 * i, 0, 0, 0, 7 * i, 0, 0});
    counters.item(11, {i, 2 * i, 100 * i, 0, 0xffffffff});
    collector.take(datagram(i, 2).item(1, body).item(2, counters));
  }
  const Exports e = collector.end();
  ASSERT_EQ(e.queues.size(), 1U);
  EXPECT_EQ(e.queues[0].port, 4U);
  EXPECT_EQ(e.queues[0].queue, 3U);
  EXPECT_EQ(e.queues[0].samples, 4U);
  EXPECT_EQ(e.queues[0].depth.max(), 4000U);
  EXPECT_EQ(e.queues[0].delay_ns.count(), 3U);
  EXPECT_EQ(e.queues[0].longer, 1U);
  ASSERT_EQ(e.ports.size(), 1U);
  EXPECT_EQ(e.ports[0].in_octets, 3000U);
  EXPECT_EQ(e.ports[0].in_discards, 15U);
  EXPECT_EQ(e.ports[0].out_discards, 21U);
  EXPECT_EQ(e.ports[0].pfc_requests, 3U);
  EXPECT_EQ(e.ports[0].pause_us, 300U);
}

TEST(ExportTracker, DropsAreJoinedWithLossesOfTheSamePacket) {
  Collector collector;
  collector.take(datagram(1, 3).item(5, drop(1)).item(5, drop(2)).item(5, drop(3, 6)));
  FlowKey key;
  key.src = dissect::IpAddress::v4(dissect::hex("0a4d0001").data());
  key.dst = dissect::IpAddress::v4(dissect::hex("0a4d0002").data());
  key.dst_qp = 0x11;
  key.transport = dissect::Transport::roce_v2_ipv4;
  FlowKey other = key;
  other.dst_qp = 0x12;
  const Exports e =
      collector.end({{key, 7, 1, 90, ms}, {key, 7, 1, 30, ms}, {key, 8, 1, 10, ms}, {other, 7, 2, 5, ms}});
  ASSERT_EQ(e.drops.size(), 3U);
  EXPECT_EQ(e.drops[0].loss_shown_by, 30U);
  EXPECT_EQ(e.drops[1].loss_shown_by, 90U);
  EXPECT_EQ(e.drops[2].loss_shown_by, 0U);
  EXPECT_EQ(e.matched_drops(), 2U);
  EXPECT_EQ(e.drops_suppressed, 6U);
  EXPECT_EQ(e.drops[0].psn, 7U);
  EXPECT_EQ(e.drops[0].queue, 5U);
  const std::vector<ExportDropGroup> groups = drop_groups(e);
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].packets, 3U);
  EXPECT_EQ(groups[0].matched, 2U);
  EXPECT_EQ(drop_place_text(e, groups[0]), "10.0.0.7 port 12, queue 5");
  EXPECT_EQ(drop_reason_text(groups[0].reason), "no buffer (tail drop)");
  EXPECT_EQ(drop_reason_text({DropReason::List::sflow, 400}), "reason 400");
}

/// Not of one before, which nobody missed. What is only perhaps lost comes second.
TEST(ExportTracker, ALossIsOfTheDropJustBeforeIt) {
  Exports exports;
  for (const std::int64_t at : {10, 20, 30}) {
    ExportDrop& drop = exports.drops.emplace_back();
    drop.roce = true;
    drop.key.dst_qp = 0x11;
    drop.psn = 7;
    drop.time_ns = at * ms;
  }
  const FlowKey key = exports.drops[0].key;
  const auto shown = [&] {
    return std::vector<std::uint64_t>{exports.drops[0].loss_shown_by, exports.drops[1].loss_shown_by,
                                      exports.drops[2].loss_shown_by};
  };
  join_drops(exports, {{key, 7, 1, 50, 25 * ms}, {key, 8, 1, 51, 25 * ms}}, true);
  EXPECT_EQ(shown(), (std::vector<std::uint64_t>{0, 50, 0}));
  join_drops(exports, {{key, 7, 1, 52, 26 * ms}}, true);
  EXPECT_EQ(shown(), (std::vector<std::uint64_t>{52, 50, 0}));
  join_drops(exports, {{key, 7, 1, 53, 5 * ms}, {key, 7, 1, 54, 6 * ms}}, true);
  EXPECT_EQ(shown(), (std::vector<std::uint64_t>{52, 50, 53}));
}

TEST(ExportTracker, WhatCannotBeReadIsCounted) {
  Collector collector;
  collector.take(datagram(1, 3).item(1, {1, 2}).item(77, {1}).item(1, sample(1, 100)));
  collector.take(datagram(2, 5).item(1, sample(2, 200)));
  const Exports e = collector.end();
  EXPECT_EQ(e.unreadable, 2U);
  EXPECT_EQ(e.other_formats, 1U);
  EXPECT_EQ(e.sources[0].samples, 2U);
}

}  // namespace
}  // namespace roce::analyze
