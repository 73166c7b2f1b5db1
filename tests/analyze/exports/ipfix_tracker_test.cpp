// SPDX-License-Identifier: Apache-2.0
// IPFIX, NetFlow version 9 and mirrored drops, as a collector gets them.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "analyze/exports/export_tracker.hpp"
#include "dissect/dissect.hpp"
#include "tests/dissect/ipfix_bytes.hpp"

namespace roce::analyze {
namespace {

using dissect::frame_record;
using dissect::frame_template;
using dissect::ipfix_message;
using dissect::netflow9_message;
using dissect::Octets;
using dissect::selector_record;
using dissect::selector_template;

struct IpfixCollector {
  ExportTracker tracker;
  std::uint64_t number = 0;

  void take(const Octets& message, std::uint16_t port = 4739) {
    const std::vector<std::uint8_t> bytes = dissect::framed(message, port);
    capture::Frame frame;
    frame.data = bytes.data();
    frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = dissect::link_ethernet;
    frame.time_ns = 1'000'000;
    dissect::Dissection d;
    dissect::dissect(bytes, frame.wire, frame.link_type, d);
    ASSERT_TRUE(d.is_export());
    tracker.see(++number, frame, d);
  }
  /// `count` records, one a message, numbered from `sequence`.
  void take_samples(std::uint32_t sequence, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i)
      take(ipfix_message(sequence + i, Octets().set(256, frame_record())));
  }
  /// What is known so far.
  [[nodiscard]] Exports now() const {
    ExportTracker copy = tracker;
    return std::move(copy).finish({});
  }
  [[nodiscard]] Exports end(std::vector<LostTransmission> losses = {}) {
    return std::move(tracker).finish(std::move(losses));
  }
};

Octets templates() {
  return ipfix_message(0, Octets().set(2, frame_template()).set(3, selector_template()));
}
Octets rate(std::uint32_t sequence, std::uint32_t space = 63) {
  return ipfix_message(sequence, Octets().set(257, selector_record(space)));
}

TEST(IpfixTracker, ScalesByTheSelectorThatItIsToldOf) {
  IpfixCollector collector;
  collector.take(templates());
  collector.take(rate(0));
  collector.take_samples(1, 20);
  const Exports e = collector.end();
  ASSERT_EQ(e.agents.size(), 1U);
  EXPECT_EQ(e.agents[0].protocol, ExportProtocol::ipfix);
  EXPECT_EQ(e.agents[0].sub_agent, dissect::ipfix_domain);
  EXPECT_EQ(e.agents[0].missing, 0U);
  ASSERT_EQ(e.sources.size(), 1U);
  EXPECT_EQ(e.sources[0].rate, 64U);
  EXPECT_EQ(export_source_text(e, e.sources[0]), "selection sequence 7");
  ASSERT_EQ(e.flows.size(), 1U);
  EXPECT_EQ(e.flows[0].key.dst_qp, 0x11U);
  EXPECT_EQ(e.flows[0].counts.ecn[3], 20U);
  EXPECT_NEAR(e.flows[0].packets.value, 20 * 64, 0.1);
  EXPECT_NEAR(e.flows[0].bytes.value, 20 * 64 * 1102, 1);
  EXPECT_EQ(exports_text(e), "IPFIX samples of 1 switch, about 1 in 64");
  EXPECT_EQ(e.sets_without_template, 0U);
}

TEST(IpfixTracker, TheRateMayComeLater) {
  IpfixCollector collector;
  collector.take(templates());
  collector.take_samples(0, 10);
  EXPECT_EQ(collector.now().flows[0].packets.value, 0);
  EXPECT_EQ(exports_text(collector.now()), "IPFIX samples of 1 switch, one in how many is not told");
  collector.take(rate(10));
  EXPECT_NEAR(collector.now().flows[0].packets.value, 640, 0.1);
  // What follows another rate is another source.
  collector.take(rate(11, 127));
  collector.take_samples(12, 10);
  const Exports e = collector.end();
  EXPECT_EQ(e.sources.size(), 2U);
  EXPECT_NEAR(e.flows[0].packets.value, 640 + 1280, 0.1);
}

TEST(IpfixTracker, SelectorsOfASequenceMultiply) {
  IpfixCollector collector;
  // 301 is made of selectors 1 and 2; 1 takes 1 of 10 (size of population), 2 is a filter.
  collector.take(ipfix_message(0, Octets()
                                      .set(2, frame_template())
                                      .set(3, Octets()
                                                  .words({258, 3, 1, 301, 4, 302, 4, 302, 4})
                                                  .words({259, 3, 1, 302, 4, 309, 4, 310, 4})
                                                  .words({260, 2, 1, 302, 4, 304, 2}))));
  collector.take(ipfix_message(0, Octets().set(258, Octets().put(4, 7).put(4, 1).put(4, 2))));
  collector.take(ipfix_message(1, Octets().set(259, Octets().put(4, 1).put(4, 2).put(4, 25))));
  collector.take_samples(2, 10);
  EXPECT_EQ(collector.now().flows[0].packets.value, 0);  // 2 might sample as well
  collector.take(ipfix_message(12, Octets().set(260, Octets().put(4, 2).put(2, 5))));
  const Exports e = collector.end();
  EXPECT_NEAR(e.sources[0].one_in(), 12.5, 1e-9);
  EXPECT_NEAR(e.flows[0].packets.value, 125, 0.1);
}

TEST(IpfixTracker, WhatWasObservedIsBetterThanARate) {
  IpfixCollector collector;
  const Octets counted = Octets().words({258, 3, 1, 301, 4, 318, 8, 319, 8});
  const auto told = [](std::uint64_t observed, std::uint64_t selected) {
    return Octets().set(258, Octets().put(4, 7).put(8, observed).put(8, selected));
  };
  collector.take(ipfix_message(0, Octets().set(2, frame_template()).set(3, counted)));
  collector.take(ipfix_message(0, told(1'000'000, 1000)));
  collector.take_samples(1, 10);
  EXPECT_NEAR(collector.now().sources[0].one_in(), 1000, 1e-9);
  collector.take(ipfix_message(11, told(1'020'000, 1010)));
  EXPECT_NEAR(collector.end().sources[0].one_in(), 2000, 1e-9);
}

TEST(IpfixTracker, DataBeforeItsTemplateIsCounted) {
  IpfixCollector collector;
  collector.take_samples(0, 3);
  collector.take(templates());
  collector.take_samples(3, 2);
  const Exports e = collector.end();
  EXPECT_EQ(e.sets_without_template, 3U);
  EXPECT_EQ(e.samples(), 2U);
  EXPECT_EQ(export_records_text(e),
            "3 sets of data came before their template, which says what is in them: not read");
}

TEST(IpfixTracker, TemplatesAreThoseOfOneDomain) {
  IpfixCollector collector;
  collector.take(templates());
  collector.take(ipfix_message(0, Octets().set(256, frame_record()), 8));
  const Exports e = collector.end();
  EXPECT_EQ(e.agents.size(), 2U);
  EXPECT_EQ(e.sets_without_template, 1U);
  EXPECT_EQ(e.samples(), 0U);
}

TEST(IpfixTracker, TemplatesThatChangeOrAreWithdrawn) {
  IpfixCollector collector;
  collector.take(templates());
  collector.take(templates());  // again and again
  collector.take_samples(0, 1);
  // The same number for flows: source port, destination port, protocol.
  const Octets flows = Octets().words({256, 3, 7, 2, 11, 2, 4, 1});
  collector.take(ipfix_message(1, Octets().set(2, flows)));
  collector.take(ipfix_message(
      1,
      Octets().set(256, Octets().put(2, 50'000).put(2, 4791).put(1, 17).put(2, 443).put(2, 80).put(1, 6))));
  Exports e = collector.now();
  EXPECT_EQ(e.samples(), 1U);
  EXPECT_EQ(e.templates_changed, 1U);
  EXPECT_EQ(e.flow_records, 2U);
  EXPECT_EQ(e.roce_flow_records, 1U);
  EXPECT_EQ(e.unreadable, 0U);
  collector.take(ipfix_message(3, Octets().set(2, Octets().words({2, 0}))));  // all that describe data
  collector.take_samples(3, 1);
  collector.take(rate(4));
  e = collector.end();
  EXPECT_EQ(e.templates_changed, 2U);
  EXPECT_EQ(e.sets_without_template, 1U);
  EXPECT_EQ(e.samples(), 1U);
}

TEST(IpfixTracker, RecordsThatAreMissingLateOrComeTwice) {
  IpfixCollector collector;
  collector.take(templates());
  const auto message = [](std::uint32_t sequence) {
    Octets two = frame_record(sequence);  // no two are the same
    return ipfix_message(sequence, Octets().set(256, two.raw(frame_record().bytes)));
  };
  for (const std::uint32_t sequence : {0U, 2U, 8U, 6U, 8U, 10U}) collector.take(message(sequence));
  const Exports e = collector.end();
  EXPECT_EQ(e.agents[0].missing, 2U);  // 4 and 5
  EXPECT_EQ(e.agents[0].duplicates, 1U);
  EXPECT_EQ(e.samples(), 10U);
  EXPECT_EQ(export_gaps_text(e), "2 records of IPFIX were lost on the way to the collector");
}

TEST(IpfixTracker, NetFlowNumbersMessagesAndForgetsWithARestart) {
  IpfixCollector collector;
  const Octets sampler = Octets().words({258, 4, 8, 1, 4, 48, 4, 50, 4});
  const Octets data = Octets().words({256, 3, 48, 1, 312, 2, 104, 58});
  const Octets record = Octets().put(1, 3).put(2, 1000).raw(dissect::sampled_roce());
  collector.take(
      netflow9_message(
          1, 3, Octets().set(0, data).set(1, sampler).set(258, Octets().put(4, 1).put(4, 3).put(4, 100))),
      2055);
  for (const std::uint32_t sequence : {2U, 4U, 4U})
    collector.take(netflow9_message(sequence, 1, Octets().set(256, record)), 2055);
  collector.take(netflow9_message(1, 1, Octets().set(256, record), 1000), 2055);  // 59 s less
  const Exports e = collector.end();
  EXPECT_EQ(e.agents[0].protocol, ExportProtocol::netflow9);
  EXPECT_EQ(e.agents[0].missing, 1U);
  EXPECT_EQ(e.agents[0].duplicates, 1U);
  EXPECT_EQ(e.agents[0].restarts, 1U);
  EXPECT_EQ(e.sets_without_template, 1U);
  ASSERT_EQ(e.sources.size(), 1U);
  EXPECT_EQ(e.sources[0].rate, 100U);
  EXPECT_EQ(export_source_text(e, e.sources[0]), "sampler 3");
  EXPECT_EQ(e.samples(), 2U);
}

TEST(IpfixTracker, SectionsOfIpPacketsHaveTheirLengthFromThere) {
  IpfixCollector collector;
  const std::vector<std::uint8_t> frame = dissect::sampled_roce();
  const Octets packet = Octets().raw({frame.begin() + 14, frame.end()});
  collector.take(ipfix_message(0, Octets().set(2, Octets().words({256, 2, 34, 4, 313, 44}))));
  for (std::uint32_t i = 0; i < 10; ++i)
    collector.take(ipfix_message(i, Octets().set(256, Octets().put(4, 32).raw(packet.bytes)).put(1, i)));
  const Exports e = collector.end();
  ASSERT_EQ(e.flows.size(), 1U);
  EXPECT_NEAR(e.flows[0].packets.value, 320, 0.1);
  EXPECT_NEAR(e.flows[0].bytes.value, 320 * 1104, 1);  // the IP total length
}

TEST(IpfixTracker, MirroredDropsAndForwardingStatus) {
  IpfixCollector collector;
  collector.take(ipfix_message(1, dissect::drop_mirror()));
  collector.take(ipfix_message(2, Octets().set(2, Octets().words({256, 3, 89, 1, 14, 4, 315, 0xffff}))));
  collector.take(
      ipfix_message(2, Octets().set(256, Octets().put(1, 139).put(4, 5).variable(dissect::sampled_roce()))));
  LostTransmission loss;
  loss.psn = 7;
  loss.shown_by = 99;
  const Exports before = collector.now();
  loss.key = before.drops.at(0).key;
  const Exports e = collector.end({loss});
  ASSERT_EQ(e.drops.size(), 2U);
  EXPECT_EQ(e.drops[0].output, 12U);
  EXPECT_EQ(e.drops[0].psn, 7U);
  EXPECT_EQ(e.drops[0].loss_shown_by, 99U);
  EXPECT_EQ(e.drops[0].reason.kind(), DropReason::Kind::no_buffer);
  EXPECT_EQ(drop_reason_text(e.drops[0].reason), "no buffer (limit of the egress port)");
  EXPECT_EQ(drop_reason_text(e.drops[1].reason), "WRED");
  EXPECT_EQ(e.drops[1].reason.kind(), DropReason::Kind::early);
  EXPECT_EQ(e.sets_without_template, 0U);
  EXPECT_EQ(drop_reason_text({DropReason::List::mirror_on_drop, 0x107}), "memory reason 7");
  EXPECT_EQ(drop_reason_text({DropReason::List::mirror_on_drop, 0}), "the switch says no reason");
}

TEST(IpfixTracker, RecordsWithoutALengthAreNotFollowed) {
  IpfixCollector collector;
  collector.take(ipfix_message(0, Octets().set(2, Octets().words({256, 2, 7, 0, 11, 0}))));
  collector.take_samples(0, 1);
  const Exports e = collector.end();
  EXPECT_EQ(e.sets_without_template, 1U);
  EXPECT_EQ(e.others_dropped, 1U);
}

TEST(IpfixTracker, EverNewTemplatesAndSamplersDoNotFillTheMemory) {
  IpfixCollector collector;
  // In many domains, as one has no more numbers.
  constexpr std::uint32_t of_one = 4096, domains = IpfixTracker::templates_at_most / of_one + 1;
  Octets many, samplers;
  for (std::uint32_t id = 0; id < of_one; ++id) many.words({static_cast<std::uint16_t>(1000 + id), 1, 4, 1});
  for (std::uint32_t domain = 0; domain < domains; ++domain)
    collector.take(ipfix_message(0, Octets().set(2, many), domain));
  EXPECT_EQ(collector.now().others_dropped, of_one);
  collector.take(ipfix_message(0, Octets().set(3, selector_template()).set(2, frame_template()), 0));
  collector.take(ipfix_message(0, Octets().set(2, Octets().words({2, 0})), 1));  // makes room
  collector.take(ipfix_message(0, Octets().set(3, selector_template()), 0));
  constexpr std::uint32_t records = 4096;
  constexpr auto messages = static_cast<std::uint32_t>(IpfixTracker::samplers_at_most / records + 1);
  for (std::uint32_t i = 0; i < messages; ++i) {
    Octets all;
    for (std::uint32_t k = 0; k < records; ++k) all.raw(selector_record(63, i * records + k).bytes);
    collector.take(ipfix_message(i * records, Octets().set(257, all), 0));
  }
  EXPECT_GE(collector.now().others_dropped, of_one + records);
}

TEST(IpfixTracker, TemplatesOfManyRowsAreBounded) {
  IpfixCollector collector;
  constexpr std::uint16_t rows = 16'000;
  Octets wide = Octets().words({256, rows});
  for (std::uint16_t i = 0; i < rows; ++i) wide.words({1, 1});
  constexpr std::uint32_t most = IpfixTracker::rows_at_most / rows;
  for (std::uint32_t domain = 0; domain <= most; ++domain)
    collector.take(ipfix_message(0, Octets().set(2, wide), domain));
  EXPECT_EQ(collector.now().others_dropped, 1U);
}

TEST(IpfixTracker, EveryTruncationIsRead) {
  const Octets whole = ipfix_message(0, Octets()
                                            .set(2, frame_template())
                                            .set(3, selector_template())
                                            .set(257, selector_record())
                                            .set(256, frame_record()));
  const std::vector<std::uint8_t> bytes = dissect::framed(whole);
  for (std::size_t length = 44; length < bytes.size(); ++length) {
    const std::vector<std::uint8_t> cut(bytes.begin(), bytes.begin() + static_cast<long>(length));
    capture::Frame frame;
    frame.data = cut.data();
    frame.captured = static_cast<std::uint32_t>(length);
    frame.wire = static_cast<std::uint32_t>(bytes.size());
    frame.link_type = dissect::link_ethernet;
    dissect::Dissection d;
    dissect::dissect(cut, frame.wire, frame.link_type, d);
    if (!d.is_export()) continue;
    ExportTracker tracker;
    tracker.see(1, frame, d);
    const Exports e = std::move(tracker).finish({});
    EXPECT_EQ(e.samples(), 0U) << length;
    EXPECT_NE(e.unreadable, 0U) << length;
  }
}

}  // namespace
}  // namespace roce::analyze
