// SPDX-License-Identifier: Apache-2.0
// Datagrams of sFlow as frames: the layers, their fields, and the sampled frame beneath.
#include <algorithm>

#include "tests/dissect/literal_frame.hpp"
#include "tests/dissect/xdr.hpp"

namespace roce::dissect {
namespace {

constexpr HeaderId first_of_sflow = HeaderId::sflow;

Xdr flow_sample() {
  Xdr body{41, 9, 1024, 70'000, 3, 9, 4, 3};
  return body.item(1, sampled_header(sampled_roce())).item(1036, {5}).item(1040, {64'000});
}

/// As check_truncations(), from where the datagram can be told from others to its port.
void check_cuts(const std::vector<std::uint8_t>& frame) {
  for (std::size_t length = 50; length < frame.size(); ++length) {
    const LiteralFrame cut(
        std::vector<std::uint8_t>(frame.begin(), frame.begin() + static_cast<long>(length)), frame.size());
    for (const Layer& layer : cut.d.all()) {
      ASSERT_LE(layer.offset + layer.length, length);
      ASSERT_GE(layer.length, header_info(layer.id).size) << header_info(layer.id).title;
    }
    ASSERT_EQ(cut.d.stop, Stop::cut_by_capture) << length;
  }
}

TEST(SFlowWalk, TheSampledFrameLiesBeneathItsRecord) {
  const LiteralFrame frame(framed(sflow_datagram(77, 1).item(1, flow_sample())));
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_TRUE(frame.d.is_sflow());
  std::vector<HeaderId> ids;
  for (const Layer& layer : frame.d.all()) ids.push_back(layer.id);
  EXPECT_EQ(ids, (std::vector{HeaderId::ethernet, HeaderId::ipv4, HeaderId::udp, HeaderId::sflow,
                              HeaderId::sflow_flow_sample, HeaderId::sflow_raw_header, HeaderId::ethernet,
                              HeaderId::ipv4, HeaderId::udp, HeaderId::bth, HeaderId::sflow_egress_queue,
                              HeaderId::sflow_queue_depth}));
  // What was sampled is no packet of this capture.
  EXPECT_FALSE(frame.d.is_transport());
  EXPECT_EQ(frame.d.transport, Transport::none);
  EXPECT_EQ(frame.d.network, 1);
  EXPECT_EQ(frame.d.find(HeaderId::bth), nullptr);
  for (const Layer& layer : frame.d.all())
    EXPECT_EQ(layer.sampled, &layer >= &frame.d.layers[6] && &layer <= &frame.d.layers[9]);
  EXPECT_EQ(frame.number("infiniband.bth.psn"), 7U);
  EXPECT_EQ(frame.number("sflow.flow_sample.sampling_rate"), 1024U);
  EXPECT_EQ(frame.number("sflow_245.header.frame_length"), 1106U);
  EXPECT_EQ(frame.number("sflow.egress_queue"), 5U);
  EXPECT_EQ(frame.number("sflow.queue_depth"), 64'000U);
  check_cuts(frame.bytes);
}

TEST(SFlowWalk, OnAnotherPortIfAllLengthsFit) {
  const auto on_port = [](std::uint16_t port, std::uint32_t samples) {
    std::vector<std::uint8_t> frame = framed(sflow_datagram(77, samples).item(1, flow_sample()));
    frame[14 + 20 + 2] = static_cast<std::uint8_t>(port >> 8U);
    frame[14 + 20 + 3] = static_cast<std::uint8_t>(port);
    return LiteralFrame(frame).d.is_sflow();
  };
  EXPECT_TRUE(on_port(6344, 1));
  EXPECT_FALSE(on_port(6344, 2));  // a sample is missing
  EXPECT_TRUE(on_port(6343, 2));
}

TEST(SFlowWalk, DiscardedPacketsAndTheirRecords) {
  Xdr trap;
  trap.text("buffer_drops").text("tail_drop");
  Xdr acl{7};
  acl.text("deny").put({1});
  Xdr body{3, 0, 12, 17, 4, 5, 259, 5};
  body.item(1, sampled_header(sampled_roce()))
      .item(1041, trap)
      .item(1037, acl)
      .item(1043, {1, 2})
      .item(1039, {900});
  const LiteralFrame frame(framed(sflow_datagram(1, 1).item(5, body)));
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.number("sflow.discarded_sample.reason"), 259U);
  EXPECT_EQ(frame.number("sflow.discarded_sample.input_interface"), 4U);
  EXPECT_EQ(frame.number("sflow.discarded_sample.output_interface"), 5U);
  EXPECT_EQ(frame.number("sflow.timestamp"), (std::uint64_t{1} << 32U) + 2);
  EXPECT_EQ(frame.number("sflow.transit_delay"), 900U);
  EXPECT_EQ(frame.number("sflow.acl.number"), 7U);
  EXPECT_EQ(frame.text_of("sflow.hw_trap.group").substr(0, 12), "buffer_drops");
  check_cuts(frame.bytes);
}

TEST(SFlowWalk, InfiniBandRecordsAndPfcCounters) {
  Xdr body{1, 0, 9, 16, 16, 0, 0, 9, 0, 4, 3};
  body.item(1031, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  Xdr grh{0x12345, 26};
  grh.opaque(hex("fe800000000000000000000000000001 fe800000000000000000000000000002"));
  body.item(1032, grh).item(1033, {0xffff, 0x17});
  const LiteralFrame frame(
      framed(sflow_datagram(1, 2).item(3, body).item(4, Xdr{1, 0, 9, 1}.item(11, {1, 2, 3, 4, 5}))));
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.number("sflow.ib_lrh.dst_dlid"), 8U);
  EXPECT_EQ(frame.bytes_of("sflow.ib_grh.dgid"), "fe800000000000000000000000000002");
  EXPECT_EQ(frame.number("sflow.ib_bth.destqp"), 0x17U);
  EXPECT_EQ(frame.number("sflow.pfc.pause_duration"), 3U);
}

TEST(SFlowWalk, SamplesOfSamplesAreNotFollowed) {
  const std::vector<std::uint8_t> inner = framed(sflow_datagram(1, 1).item(1, flow_sample()));
  const LiteralFrame frame(
      framed(sflow_datagram(2, 1).item(1, Xdr{1, 9, 16, 16, 0, 9, 4, 1}.item(1, sampled_header(inner)))));
  const std::vector<HeaderId> ids = frame.ids(first_of_sflow);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), HeaderId::sflow), 1);
  EXPECT_EQ(frame.d.stop, Stop::complete);
}

TEST(SFlowWalk, AManySampledDatagramStops) {
  Xdr xdr = sflow_datagram(1, 60);
  for (int i = 0; i < 60; ++i) xdr.item(1, flow_sample());
  const LiteralFrame frame(framed(xdr));
  EXPECT_EQ(frame.d.stop, Stop::too_deep);
  EXPECT_EQ(frame.d.layer_count, max_layers_of_exports);
}

TEST(SFlowWalk, OtherDatagramsToThatPortAreNot) {
  for (const Xdr& other : {Xdr{4, 1, 0x0a000007, 0, 0, 0, 0}, Xdr{5, 3, 0, 0, 0, 0, 0}, Xdr{5}}) {
    const LiteralFrame frame(framed(other));
    EXPECT_EQ(frame.d.stop, Stop::unknown_protocol);
    EXPECT_EQ(frame.d.unknown_type, 6343);
    EXPECT_FALSE(frame.d.is_sflow());
  }
}

TEST(SFlowWalk, LengthsThatLieContradict) {
  const LiteralFrame sample(framed(sflow_datagram(1, 2).item(1, {1, 2, 3}).item(1, flow_sample())));
  EXPECT_EQ(sample.d.stop, Stop::contradicts_itself);
  EXPECT_EQ(sample.d.stopped_at, HeaderId::sflow_flow_sample);
  EXPECT_EQ(sample.number("infiniband.bth.psn"), 7U);  // the next one is read all the same
  const LiteralFrame beyond(framed(sflow_datagram(1, 1).put({1, 4000, 1})));
  EXPECT_EQ(beyond.d.stop, Stop::contradicts_itself);
}

}  // namespace
}  // namespace roce::dissect
