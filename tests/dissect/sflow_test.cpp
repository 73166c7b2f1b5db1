// SPDX-License-Identifier: Apache-2.0
// Datagrams written word by word from the documents of sflow.org. Those of formats 1 and 2 and their records
// were read by tshark 4.0, too (tests/oracle/synthetic.py); formats 3 to 5 and the records above 1031 have
// these vectors alone.
#include "dissect/sflow.hpp"

#include <gtest/gtest.h>

#include "tests/dissect/xdr.hpp"

namespace roce::dissect::sflow {
namespace {

struct Read {
  Datagram datagram;
  End end = End::complete;
  std::vector<Sample> samples;
  std::vector<std::vector<Item>> records;
  End list_end = End::complete;

  explicit Read(const Part& payload) {
    end = read_datagram(payload, datagram);
    if (end != End::complete) return;
    Items items = datagram.samples();
    Item item;
    while (items.next(item)) {
      Sample sample;
      if (read_sample(item, sample) != End::complete) continue;
      samples.push_back(sample);
      records.emplace_back();
      Items list = sample.records();
      Item record;
      while (list.next(record)) records.back().push_back(record);
    }
    list_end = items.end();
  }
  explicit Read(const Xdr& xdr) : Read(Part{xdr.bytes, xdr.bytes.size()}) {}
};

Xdr flow_sample() {
  Xdr body{41, 0x00000009, 1024, 70'000, 3, 9, 0x80000004, 2};
  return body.item(1, sampled_header(sampled_roce())).item(1001, {100, 3, 200, 5});
}

TEST(SFlow, FlowSampleOfAnIpv4Agent) {
  const Xdr xdr = sflow_datagram(77, 1).item(1, flow_sample());
  const Read read(xdr);
  ASSERT_EQ(read.end, End::complete);
  EXPECT_EQ(read.datagram.agent, IpAddress::v4(hex("0a000007").data()));
  EXPECT_EQ(read.datagram.sub_agent, 2U);
  EXPECT_EQ(read.datagram.sequence, 77U);
  EXPECT_EQ(read.datagram.uptime_ms, 60'000U);
  EXPECT_EQ(read.list_end, End::complete);
  ASSERT_EQ(read.samples.size(), 1U);
  const Sample& sample = read.samples[0];
  EXPECT_EQ(sample.kind, SampleKind::flow);
  EXPECT_EQ(sample.sequence, 41U);
  EXPECT_EQ(sample.source_class, 0U);
  EXPECT_EQ(sample.source_index, 9U);
  EXPECT_EQ(sample.rate, 1024U);
  EXPECT_EQ(sample.pool, 70'000U);
  EXPECT_EQ(sample.drops, 3U);
  EXPECT_EQ(sample.input, (Port{Port::index, 9}));
  EXPECT_EQ(sample.output, (Port{Port::several, 4}));
  EXPECT_FALSE(sample.output.is_index());
  ASSERT_EQ(read.records[0].size(), 2U);
  SampledHeader header;
  ASSERT_TRUE(read_sampled_header(read.records[0][0], header));
  EXPECT_EQ(header.protocol, SampledHeader::ethernet);
  EXPECT_EQ(header.frame_length, 1106U);
  EXPECT_EQ(header.stripped, 4U);
  EXPECT_EQ(std::vector(header.header.captured.begin(), header.header.captured.end()), sampled_roce());
  EXPECT_FALSE(header.header.is_cut());
  EXPECT_EQ(read.records[0][1].word(3), 5U);
  EXPECT_EQ(read.records[0][1].word(4), std::nullopt);
}

TEST(SFlow, ExpandedSamplesOfAnIpv6Agent) {
  Xdr xdr{5, 2};
  xdr.opaque(hex("fd770000000000000000000000000007")).put({0, 1, 2, 3});
  xdr.item(3, {1, 3, 70'000, 4096, 8192, 0, 0, 0x40000001, 1, 259, 0});
  xdr.item(4, {2, 3, 70'000, 0});
  xdr.item(5, {3, 0, 12, 17, 4, 0x3fffffff, 259, 0});
  const Read read(xdr);
  ASSERT_EQ(read.end, End::complete);
  EXPECT_TRUE(read.datagram.agent_is_ipv6);
  EXPECT_EQ(read.datagram.agent, IpAddress::v6(hex("fd770000000000000000000000000007").data()));
  ASSERT_EQ(read.samples.size(), 3U);
  EXPECT_EQ(read.samples[0].kind, SampleKind::flow_expanded);
  EXPECT_EQ(read.samples[0].source_class, 3U);
  EXPECT_EQ(read.samples[0].source_index, 70'000U);
  EXPECT_EQ(read.samples[0].rate, 4096U);
  EXPECT_EQ(read.samples[0].input, (Port{0, 0x40000001}));
  EXPECT_EQ(read.samples[0].output, (Port{Port::dropped, 259}));
  EXPECT_EQ(read.samples[1].kind, SampleKind::counters_expanded);
  EXPECT_TRUE(read.samples[1].is_counters());
  EXPECT_EQ(read.samples[2].kind, SampleKind::discarded);
  EXPECT_EQ(read.samples[2].source_index, 12U);
  EXPECT_EQ(read.samples[2].drops, 17U);
  EXPECT_EQ(read.samples[2].input.value, 4U);
  EXPECT_EQ(read.samples[2].output.value, Port::own);
  EXPECT_EQ(read.samples[2].reason, reason_no_buffer);
  EXPECT_EQ(drop_reason_name(read.samples[2].reason), "no buffer (tail drop)");
}

TEST(SFlow, CountersOfAnInterfaceAndOfPfc) {
  Xdr body{5, 9, 2};
  body.item(1, {9, 6, 0x17, 0x4876e800, 1, 3, 1, 2, 30, 31, 32, 33, 34, 35, 4, 5, 60, 61, 62, 63, 64, 0});
  body.item(11, {10, 20, 30'000, 1, 0xffffffff});
  const Read read(sflow_datagram(1, 1).item(2, body));
  ASSERT_EQ(read.samples.size(), 1U);
  EXPECT_EQ(read.samples[0].kind, SampleKind::counters);
  InterfaceCounters port;
  ASSERT_TRUE(read_interface_counters(read.records[0][0], port));
  EXPECT_EQ(port.index, 9U);
  EXPECT_EQ(port.speed_bps, 100'000'000'000U);
  EXPECT_EQ(port.in_octets, (std::uint64_t{1} << 32U) + 2);
  EXPECT_EQ(port.in_packets, 30U);
  EXPECT_EQ(port.in_discards, 33U);
  EXPECT_EQ(port.in_errors, 34U);
  EXPECT_EQ(port.out_octets, (std::uint64_t{4} << 32U) + 5);
  EXPECT_EQ(port.out_packets, 60U);
  EXPECT_EQ(port.out_discards, 63U);
  EXPECT_EQ(port.out_errors, 64U);
  PfcCounters pfc;
  ASSERT_TRUE(read_pfc_counters(read.records[0][1], pfc));
  EXPECT_EQ(pfc.requests, 10U);
  EXPECT_EQ(pfc.indications, 20U);
  EXPECT_EQ(pfc.pause_us, 30'000U);
  EXPECT_EQ(pfc.storms_detected, 1U);
  EXPECT_EQ(pfc.storms_restored, PfcCounters::unknown);
  EXPECT_FALSE(read_pfc_counters(Item{11, {{}, 20}}, pfc));
}

TEST(SFlow, TextsEndInsideTheirRecord) {
  Xdr body;
  body.text("tail_drop").text("buffer");
  const Item record{flow_record::hardware_trap, {body.bytes, body.bytes.size()}};
  EXPECT_EQ(text_at(record, 0), "tail_drop");
  EXPECT_EQ(text_at(record, 4), "buffer");
  EXPECT_EQ(text_at(record, 7), std::nullopt);
  const Xdr lying{9, 0x61626364};
  EXPECT_EQ(text_at(Item{1038, {lying.bytes, lying.bytes.size()}}, 0), std::nullopt);
  const Xdr cut{6, 0x61626364};
  EXPECT_EQ(text_at(Item{1038, {cut.bytes, 12}}, 0), "abcd");
}

TEST(SFlow, WhatIsUnknownIsPassedByItsLength) {
  Xdr unknown_records{1, 9, 16, 0, 0, 9, 0, 3};
  unknown_records.item(4413U << 12U | 1U, {1, 2, 3}).item(999, {}).item(1036, {5});
  Xdr xdr = sflow_datagram(1, 4);
  xdr.item(4413U << 12U | 1U, {1, 2, 3});    // another enterprise's format 1
  xdr.put({77, 5}).opaque({1, 2, 3, 4, 5});  // a length that is no multiple of four
  xdr.item(1, unknown_records).item(1, flow_sample());
  const Read read(xdr);
  ASSERT_EQ(read.samples.size(), 4U);
  EXPECT_EQ(read.samples[0].kind, SampleKind::other);
  EXPECT_EQ(read.samples[1].kind, SampleKind::other);
  ASSERT_EQ(read.records[2].size(), 3U);
  EXPECT_EQ(read.records[2][0].standard(), std::nullopt);
  EXPECT_EQ(read.records[2][2].standard(), flow_record::egress_queue);
  EXPECT_EQ(read.records[2][2].word(0), 5U);
  EXPECT_EQ(read.records[3].size(), 2U);
  EXPECT_EQ(read.list_end, End::complete);
}

TEST(SFlow, LyingLengthsAndCounts) {
  EXPECT_EQ(Read(Xdr{4, 1, 0x0a000007, 2, 1, 1, 0}).end, End::contradicts);
  EXPECT_EQ(Read(Xdr{5, 3, 0x0a000007, 2, 1, 1, 0}).end, End::contradicts);
  EXPECT_EQ(Read(Xdr{5, 2, 0x0a000007, 2, 1, 1, 0}).end, End::contradicts);  // no room for an IPv6 address
  const Read many(sflow_datagram(1, 0xffff'ffff).item(1, flow_sample()));
  EXPECT_EQ(many.samples.size(), 1U);
  EXPECT_EQ(many.list_end, End::contradicts);
  EXPECT_EQ(Read(sflow_datagram(1, 1).put({1, 0xffff'fffc, 1})).list_end, End::contradicts);
  // A sample that is too short for its format does not hide the next one.
  const Read shorter(sflow_datagram(1, 2).item(1, {1, 2, 3}).item(1, flow_sample()));
  ASSERT_EQ(shorter.samples.size(), 1U);
  EXPECT_EQ(shorter.samples[0].sequence, 41U);
  // The header of a record cannot be longer than the record.
  Xdr body{1, 1500, 0, 0xffff'fff0};
  body.put({1, 2});
  SampledHeader header;
  ASSERT_TRUE(read_sampled_header(Item{1, {body.bytes, body.bytes.size()}}, header));
  EXPECT_EQ(header.header.captured.size(), 8U);
}

TEST(SFlow, EveryTruncation) {
  const Xdr whole = sflow_datagram(1, 2).item(1, flow_sample()).item(2, {5, 9, 0});
  for (std::size_t size = 0; size < whole.bytes.size(); ++size) {
    const std::vector<std::uint8_t> bytes(whole.bytes.begin(), whole.bytes.begin() + static_cast<long>(size));
    const Read read(Part{bytes, whole.bytes.size()});
    if (read.end == End::complete) {
      EXPECT_NE(read.list_end, End::contradicts) << size;
      EXPECT_LE(read.samples.size(), 2U);
    } else {
      EXPECT_EQ(read.end, End::cut) << size;
    }
    // The same bytes as a whole datagram contradict themselves, and are read as far.
    const Read lying(Part{bytes, size});
    EXPECT_TRUE(lying.end == End::contradicts || lying.list_end != End::cut) << size;
  }
}

TEST(SFlow, NamesOfReasons) {
  EXPECT_EQ(drop_reason_name(0), "network unreachable");
  EXPECT_EQ(drop_reason_name(16), "");
  EXPECT_EQ(drop_reason_name(258), "ACL");
  EXPECT_EQ(drop_reason_name(reason_red), "RED");
  EXPECT_EQ(drop_reason_name(reason_too_big), "packet too big");
  EXPECT_EQ(drop_reason_name(310), "parser error");
  EXPECT_EQ(drop_reason_name(371), "reason of the Linux stack");
  EXPECT_EQ(drop_reason_name(372), "");
}

}  // namespace
}  // namespace roce::dissect::sflow
