// SPDX-License-Identifier: Apache-2.0
// Messages of IPFIX and NetFlow version 9 as frames: the layers and their fields.
#include <algorithm>

#include "tests/dissect/ipfix_bytes.hpp"
#include "tests/dissect/literal_frame.hpp"

namespace roce::dissect {
namespace {

constexpr HeaderId first_of_ipfix = HeaderId::ipfix_message;

/// Every truncation of the capture; from where `told` bytes of the datagram are there it is known as one.
void check_cuts(const std::vector<std::uint8_t>& frame, std::size_t told) {
  for (std::size_t length = 0; length < frame.size(); ++length) {
    const LiteralFrame cut(
        std::vector<std::uint8_t>(frame.begin(), frame.begin() + static_cast<long>(length)), frame.size());
    for (const Layer& layer : cut.d.all()) {
      ASSERT_LE(layer.offset + layer.length, length);
      ASSERT_GE(layer.length, header_info(layer.id).size) << header_info(layer.id).title;
    }
    if (length >= 42 + told) {
      ASSERT_EQ(cut.d.stop, Stop::cut_by_capture) << length;
    }
  }
}

TEST(IpfixWalk, SetsTemplatesAndData) {
  const LiteralFrame frame(framed(ipfix_message(77, Octets()
                                                        .set(2, frame_template())
                                                        .set(3, selector_template())
                                                        .set(257, selector_record())
                                                        .set(256, frame_record()))));
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_TRUE(frame.d.is_ipfix());
  EXPECT_TRUE(frame.d.is_export());
  EXPECT_FALSE(frame.d.is_sflow());
  EXPECT_EQ(frame.ids(first_of_ipfix),
            (std::vector{HeaderId::ipfix_message, HeaderId::ipfix_set, HeaderId::ipfix_template,
                         HeaderId::ipfix_set, HeaderId::ipfix_options_template, HeaderId::ipfix_set,
                         HeaderId::ipfix_set}));
  EXPECT_EQ(frame.number("cflow.sequence"), 77U);
  EXPECT_EQ(frame.number("cflow.od_id"), ipfix_domain);
  EXPECT_EQ(frame.all("cflow.template_id"), (std::vector<std::uint64_t>{256, 257}));
  EXPECT_EQ(frame.number("cflow.template_field_count"), 5U);
  EXPECT_EQ(frame.number("cflow.template_ipfix_scope_field_count"), 1U);
  EXPECT_EQ(frame.all("cflow.flowset_id"), (std::vector<std::uint64_t>{2, 3, 257, 256}));
  // Only the template says what is in the record.
  EXPECT_FALSE(frame.d.is_transport());
  check_cuts(frame.bytes, 20);
}

TEST(IpfixWalk, NetFlow) {
  const LiteralFrame frame(framed(netflow9_message(3, 2,
                                                   Octets()
                                                       .set(0, frame_template())
                                                       .set(1, Octets().words({258, 4, 4, 1, 4, 34, 4}))
                                                       .set(256, frame_record())),
                                  2055));
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_TRUE(frame.d.is_ipfix());
  EXPECT_EQ(frame.ids(first_of_ipfix),
            (std::vector{HeaderId::netflow9_message, HeaderId::ipfix_set, HeaderId::ipfix_template,
                         HeaderId::ipfix_set, HeaderId::netflow9_options_template, HeaderId::ipfix_set}));
  EXPECT_EQ(frame.number("cflow.source_id"), ipfix_domain);
  EXPECT_EQ(frame.number("cflow.option_length"), 4U);
  check_cuts(frame.bytes, 2);
}

TEST(IpfixWalk, TheDroppedFrameLiesBeneathItsNotification) {
  const LiteralFrame frame(framed(ipfix_message(1, drop_mirror()), 0x7777));
  EXPECT_EQ(frame.d.stop, Stop::complete);
  EXPECT_EQ(frame.ids(first_of_ipfix).size(), 4U);  // its BTH as well, which comes later in the table
  EXPECT_EQ(frame.number("ipfix.mirror_on_drop.egress_port"), 12U);
  EXPECT_EQ(frame.number("ipfix.mirror_on_drop.reason"), 3U);
  EXPECT_EQ(frame.number("infiniband.bth.psn"), 7U);
  EXPECT_EQ(frame.d.find(HeaderId::bth), nullptr);  // of no packet of this capture
  EXPECT_FALSE(frame.d.is_transport());
  check_cuts(frame.bytes, 20);
}

TEST(IpfixWalk, AnyPortHasIpfixIfEveryLengthAgrees) {
  const Octets whole = ipfix_message(1, Octets().set(2, frame_template()));
  EXPECT_TRUE(LiteralFrame(framed(whole, 30'000)).d.is_ipfix());
  EXPECT_TRUE(
      LiteralFrame(framed(netflow9_message(1, 0, Octets().set(0, frame_template())), 9995)).d.is_ipfix());
  Octets longer = whole;
  longer.put(1, 0);
  for (const auto& other : {framed(longer, 30'000), framed(ipfix_message(1, {}), 30'000),
                            framed(ipfix_message(1, Octets().set(9, frame_template())), 30'000),
                            framed(netflow9_message(1, 0, Octets().set(0, frame_template())), 30'000)}) {
    const LiteralFrame frame(other);
    EXPECT_FALSE(frame.d.is_ipfix());
    EXPECT_EQ(frame.d.stop, Stop::unknown_protocol);
    EXPECT_EQ(frame.d.unknown_type, 30'000);
  }
}

TEST(IpfixWalk, LengthsThatLieContradict) {
  Octets lying = ipfix_message(1, Octets().set(2, frame_template()).set(256, frame_record()));
  lying.bytes[19] += 200;  // the first set, beyond the message
  const LiteralFrame frame(framed(lying));
  EXPECT_EQ(frame.d.stop, Stop::contradicts_itself);
  EXPECT_EQ(frame.d.stopped_at, HeaderId::ipfix_set);
}

TEST(IpfixWalk, ManyTemplatesStop) {
  Octets templates;
  for (std::uint16_t id = 256; id < 500; ++id) templates.words({id, 1, 4, 1});
  const LiteralFrame frame(framed(ipfix_message(1, Octets().set(2, templates))));
  EXPECT_EQ(frame.d.stop, Stop::too_deep);
  EXPECT_EQ(frame.d.layer_count, max_layers_of_exports);
}

}  // namespace
}  // namespace roce::dissect
