// SPDX-License-Identifier: Apache-2.0
// The layers of whole frames of every link type and transport, and where the walk ends.
#include "dissect/dissect.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "dissect/header_table.hpp"
#include "tests/dissect/frames.hpp"

namespace roce::dissect {
namespace dissect_test {
namespace {

using test::bth;
using test::ethernet;
using test::filled;
using test::grh;
using test::hex;
using test::ipv4;
using test::ipv6;
using test::lrh;
using test::operator+;
using test::Packet;
using test::roce_v2;
using test::udp;
using test::vlan;

Dissection dissected(const Packet& frame, std::uint16_t link_type = link_ethernet, std::size_t wire = 0,
                     const Options& options = {}) {
  Dissection out;
  std::memset(static_cast<void*>(&out), 0xa5, sizeof out);  // nothing may rely on what was there
  dissect({frame.data(), frame.size()}, static_cast<std::uint32_t>(wire == 0 ? frame.size() : wire),
          link_type, out, options);
  return out;
}

/// "ethernet@0+14 ipv4@14+20 ..." with the names of header_id.hpp shortened to those of filters.
std::string layers(const Dissection& d) {
  std::string out;
  for (const Layer& layer : d.all()) {
    std::string name(header_info(layer.id).name);
    if (name.starts_with("infiniband.")) name = name.substr(11);
    if (name.empty()) name = header_info(layer.id).title;
    out += (out.empty() ? "" : " ") + name + "@" + std::to_string(layer.offset) + "+" +
           std::to_string(layer.length);
  }
  return out;
}

constexpr std::uint8_t write_only = 0x0a;
const Packet write_body = filled(16) + filled(8);  // RETH, payload

TEST(Dissect, roce_v2_ipv4) {
  const Dissection d = dissected(ethernet(0x0800, ipv4(17, roce_v2(write_only, write_body))));
  EXPECT_EQ(layers(d), "eth@0+14 ip@14+20 udp@34+8 bth@42+12 reth@54+16 payload@70+8 Invariant CRC@78+4");
  EXPECT_EQ(d.transport, Transport::roce_v2_ipv4);
  EXPECT_EQ(d.stop, Stop::complete);
  EXPECT_EQ(d.ethernet, 0);
  EXPECT_EQ(d.vlan, Dissection::none);
  EXPECT_EQ(d.network, 1);
  EXPECT_EQ(d.udp, 2);
  EXPECT_EQ(d.bth, 3);
  EXPECT_EQ(d.payload_offset, 70U);
  EXPECT_EQ(d.payload_length, 8U);
  EXPECT_EQ(d.captured_end, 82U);
  EXPECT_EQ(d.declared_end, 82U);
  EXPECT_EQ(d.tunnels, 0);
  EXPECT_EQ(d.notes, 0);
}

TEST(Dissect, trailer_behind_the_packet_is_not_payload) {
  const Dissection d =
      dissected(ethernet(0x0800, ipv4(17, roce_v2(write_only, write_body))) + filled(4, 0xfc));
  EXPECT_EQ(d.captured_end, 86U);
  EXPECT_EQ(d.declared_end, 82U);
  EXPECT_EQ(d.payload_length, 8U);
  EXPECT_EQ(d.stop, Stop::complete);
}

TEST(Dissect, ipv4_options) {
  const Dissection d =
      dissected(ethernet(0x0800, ipv4(17, roce_v2(write_only, write_body), {.options = 40})));
  EXPECT_EQ(layers(d), "eth@0+14 ip@14+60 udp@74+8 bth@82+12 reth@94+16 payload@110+8 Invariant CRC@118+4");
}

TEST(Dissect, ipv6_with_extension_headers) {
  const Packet packet = test::ipv6_extension(
      43, 1, test::ipv6_extension(60, 2, test::ipv6_extension(17, 1, roce_v2(write_only, write_body))));
  const Dissection d = dissected(ethernet(0x86dd, ipv6(0, packet)));
  EXPECT_EQ(layers(d),
            "eth@0+14 ipv6@14+40 ipv6.hopopts@54+8 ipv6.routing@62+16 ipv6.dstopts@78+8 udp@86+8 bth@94+12 "
            "reth@106+16 payload@122+8 Invariant CRC@130+4");
  EXPECT_EQ(d.transport, Transport::roce_v2_ipv6);
  EXPECT_EQ(d.stop, Stop::complete);
}

TEST(Dissect, vlan_tags) {
  const Packet packet = ipv4(17, roce_v2(write_only, write_body));
  const Dissection one = dissected(ethernet(0x8100, vlan(0x6064, 0x0800, packet)));
  EXPECT_EQ(one.vlan, 1);
  EXPECT_EQ(one.transport, Transport::roce_v2_ipv4);
  const Dissection two = dissected(ethernet(0x88a8, vlan(0x00c8, 0x8100, vlan(0x601e, 0x0800, packet))));
  EXPECT_EQ(two.layers[1].id, HeaderId::service_vlan);
  EXPECT_EQ(two.layers[2].id, HeaderId::vlan);
  EXPECT_EQ(two.vlan, 2);
  EXPECT_EQ(two.transport, Transport::roce_v2_ipv4);
  const Dissection old = dissected(ethernet(0x9100, vlan(0, 0x8100, vlan(0, 0x0800, packet))));
  EXPECT_EQ(old.transport, Transport::roce_v2_ipv4);
}

TEST(Dissect, roce_v1_padded_to_the_least_frame) {
  // GRH says 20 bytes of payload: BTH, AETH, ICRC; zeros follow.
  const Dissection d = dissected(ethernet(0x8915, grh(bth(0x11, hex("1f000001")))) + filled(12, 0));
  EXPECT_EQ(layers(d), "eth@0+14 grh@14+40 bth@54+12 aeth@66+4 Invariant CRC@70+4");
  EXPECT_EQ(d.transport, Transport::roce_v1);
  EXPECT_EQ(d.declared_end, 74U);
  EXPECT_EQ(d.payload_length, 0U);
  EXPECT_EQ(d.stop, Stop::complete);
}

TEST(Dissect, native_infiniband) {
  const Dissection d = dissected(lrh(2, bth(0x04, filled(8))), link_infiniband);
  EXPECT_EQ(d.transport, Transport::native_ib);
  EXPECT_EQ(d.stop, Stop::complete);
  ASSERT_NE(d.find(HeaderId::vcrc), nullptr);
  EXPECT_EQ(d.find(HeaderId::vcrc)->offset, 32U);
  EXPECT_EQ(d.find(HeaderId::icrc)->offset, 28U);
  EXPECT_EQ(d.payload_offset, 20U);
  EXPECT_EQ(d.payload_length, 8U);

  const Dissection global = dissected(lrh(3, grh(bth(0x04, filled(8)))), link_infiniband);
  EXPECT_EQ(global.transport, Transport::native_ib);
  EXPECT_EQ(global.layers[global.network].id, HeaderId::grh);
  EXPECT_EQ(global.payload_offset, 60U);
  EXPECT_EQ(global.stop, Stop::complete);

  EXPECT_EQ(dissected(lrh(0, filled(20)), link_infiniband).stop, Stop::unknown_protocol);
  EXPECT_EQ(dissected(lrh(2, bth(0x04, filled(8)), 1), link_infiniband).stop, Stop::contradicts_itself);
}

Packet erf(std::uint8_t type, const Packet& payload, bool extension = false) {
  Packet out = hex("0102030405060708");
  test::put(out, type | (extension ? 0x80U : 0U), 1);
  out = out + hex("04");
  test::put(out, 16 + (extension ? 8U : 0U) + payload.size(), 2);
  out = out + hex("0000");
  test::put(out, payload.size(), 2);
  return (extension ? out + hex("0100000000000000") : out) + payload;
}

TEST(Dissect, erf_records) {
  EXPECT_EQ(dissected(erf(21, lrh(2, bth(0x04, filled(8)))), link_erf).transport, Transport::native_ib);
  EXPECT_EQ(dissected(erf(21, lrh(2, bth(0x04, filled(8))), true), link_erf).transport, Transport::native_ib);
  const Packet frame = hex("0000") + ethernet(0x0800, ipv4(17, roce_v2(write_only, write_body)));
  EXPECT_EQ(dissected(erf(2, frame), link_erf).transport, Transport::roce_v2_ipv4);
  const Dissection link = dissected(erf(25, filled(8)), link_erf);
  EXPECT_EQ(link.transport, Transport::none);
  EXPECT_EQ(link.stop, Stop::complete);
  EXPECT_EQ(dissected(erf(5, filled(40)), link_erf).stop, Stop::unknown_protocol);
}

TEST(Dissect, link_types_without_ethernet) {
  const Packet v4 = ipv4(17, roce_v2(write_only, write_body));
  const Packet v6 = ipv6(17, roce_v2(write_only, write_body));
  for (const std::uint16_t type : {link_raw, link_ipv4})
    EXPECT_EQ(dissected(v4, type).transport, Transport::roce_v2_ipv4);
  for (const std::uint16_t type : {link_raw, link_ipv6})
    EXPECT_EQ(dissected(v6, type).transport, Transport::roce_v2_ipv6);
  EXPECT_EQ(dissected(hex("02000000") + v4, link_null).transport, Transport::roce_v2_ipv4);
  EXPECT_EQ(dissected(hex("0000001c") + v6, link_loop).transport, Transport::roce_v2_ipv6);
  const Packet sll = hex("0000 0001 0006 525400000a010000 0800") + v4;
  EXPECT_EQ(layers(dissected(sll, link_linux_sll)).substr(0, 16), "sll@0+16 ip@16+2");
  const Packet sll2 = hex("0800 0000 00000002 0001 00 06 525400000a010000") + v4;
  EXPECT_EQ(dissected(sll2, link_linux_sll2).transport, Transport::roce_v2_ipv4);
  EXPECT_EQ(dissected(v4, 999).stop, Stop::unknown_link_type);
  EXPECT_EQ(dissected(filled(60), link_raw).stop, Stop::unknown_protocol);
}

TEST(Dissect, only_the_destination_port_makes_roce) {
  const Packet payload = bth(0x04, filled(8));
  const Dissection source = dissected(ethernet(0x0800, ipv4(17, udp(53, payload, 0, 4791))));
  EXPECT_FALSE(source.is_transport());
  EXPECT_TRUE(source.has(Note::only_source_port));
  EXPECT_EQ(source.stop, Stop::unknown_protocol);
  EXPECT_EQ(source.unknown_type, 53);
  EXPECT_TRUE(dissected(ethernet(0x0800, ipv4(17, udp(4791, payload, 0, 4791)))).is_transport());
}

TEST(Dissect, short_datagram_to_4791_is_no_roce) {
  const Dissection d = dissected(ethernet(0x0800, ipv4(17, udp(4791, filled(15)))));
  EXPECT_FALSE(d.is_transport());
  EXPECT_TRUE(d.has(Note::short_roce_datagram));
  EXPECT_EQ(d.stop, Stop::unknown_protocol);  // it contradicts nothing
  EXPECT_TRUE(dissected(ethernet(0x0800, ipv4(17, udp(4791, filled(16, 0))))).is_transport());
}

TEST(Dissect, a_header_that_was_cut_is_no_payload) {
  // RDMA WRITE First: 16 bytes of RETH, then 32 of payload.
  const Packet whole = ethernet(0x0800, ipv4(17, roce_v2(0x06, filled(16 + 32))));
  const std::size_t behind_bth = 14 + 20 + 8 + 12;
  for (std::size_t captured = behind_bth; captured <= whole.size(); ++captured) {
    Dissection d;
    dissect({whole.data(), captured}, static_cast<std::uint32_t>(whole.size()), link_ethernet, d);
    ASSERT_TRUE(d.is_transport()) << captured;
    EXPECT_EQ(d.payload_length, 32U) << captured;
    EXPECT_FALSE(d.has(Note::cut_before_bth));
  }
  Dissection d;
  dissect({whole.data(), behind_bth - 1}, static_cast<std::uint32_t>(whole.size()), link_ethernet, d);
  EXPECT_FALSE(d.is_transport());
  EXPECT_TRUE(d.has(Note::cut_before_bth));
}

TEST(Dissect, unknown_opcode_and_version_are_notes) {
  const Dissection unknown = dissected(ethernet(0x0800, ipv4(17, roce_v2(0xd7, filled(12)))));
  EXPECT_TRUE(unknown.has(Note::unknown_opcode));
  EXPECT_EQ(unknown.stop, Stop::complete);
  EXPECT_EQ(unknown.payload_length, 12U);
  Packet version = ethernet(0x0800, ipv4(17, roce_v2(0x04, filled(8))));
  version[43] |= 1;
  EXPECT_TRUE(dissected(version).has(Note::transport_version));
}

TEST(Dissect, cnp) {
  const Dissection d = dissected(ethernet(0x0800, ipv4(17, roce_v2(0x81, filled(16, 0)))));
  EXPECT_EQ(layers(d), "eth@0+14 ip@14+20 udp@34+8 bth@42+12 payload@54+16 Invariant CRC@70+4");
  EXPECT_FALSE(d.has(Note::unknown_opcode));
}

TEST(Dissect, extended_headers_that_do_not_fit_contradict) {
  // RDMA WRITE Only with room for half a RETH
  const Dissection d = dissected(ethernet(0x0800, ipv4(17, roce_v2(write_only, filled(8)))));
  EXPECT_EQ(d.stop, Stop::contradicts_itself);
  EXPECT_EQ(d.stopped_at, HeaderId::reth);
  EXPECT_TRUE(d.is_transport());
  // The same of the RD service may be NVIDIA's DC transport, of which nobody knows the headers.
  EXPECT_EQ(dissected(ethernet(0x0800, ipv4(17, roce_v2(0x4a, filled(8))))).stop, Stop::complete);
}

TEST(Dissect, ip_protocol_of_roce_only_by_option) {
  const Packet frame = ethernet(0x0800, ipv4(254, bth(0x04, filled(8))));
  EXPECT_FALSE(dissected(frame).is_transport());
  Options options;
  options.roce_ip_protocol = 254;
  const Dissection d = dissected(frame, link_ethernet, 0, options);
  EXPECT_TRUE(d.is_transport());
  EXPECT_EQ(d.transport, Transport::roce_v2_ipv4);
  EXPECT_EQ(d.udp, Dissection::none);
}

TEST(Dissect, fragments) {
  const Packet whole = roce_v2(write_only, filled(16) + filled(64));
  const Packet first_part(whole.begin(), whole.begin() + 48), later_part(whole.begin() + 48, whole.end());
  const Dissection first = dissected(ethernet(0x0800, ipv4(17, first_part, {.fragment = 0x2000})));
  EXPECT_TRUE(first.is_transport());
  EXPECT_TRUE(first.has(Note::fragmented));
  EXPECT_EQ(first.find(HeaderId::icrc), nullptr);
  EXPECT_FALSE(first.has(Note::udp_length_mismatch));
  EXPECT_EQ(first.payload_length, 64U);  // as of the whole packet: its UDP header says so
  EXPECT_EQ(
      dissected(ethernet(0x0800, ipv4(17, roce_v2(write_only, filled(16) + filled(64))))).payload_length,
      64U);
  const Dissection later = dissected(ethernet(0x0800, ipv4(17, later_part, {.fragment = 6})));
  EXPECT_EQ(later.stop, Stop::fragment);
  EXPECT_FALSE(later.is_transport());
  EXPECT_TRUE(later.has(Note::fragmented));
  const Dissection first6 =
      dissected(ethernet(0x86dd, ipv6(44, test::ipv6_fragment(17, 0x0001, first_part))));
  EXPECT_TRUE(first6.is_transport() && first6.has(Note::fragmented));
  EXPECT_EQ(first6.payload_length, 64U);
  // A UDP length that ends before the part does is not believed, nor one that ends inside the headers.
  for (const std::uint8_t lie : std::initializer_list<std::uint8_t>{0, 3, 8, 40, 44}) {
    Packet lying = first_part;
    lying[4] = 0;
    lying[5] = lie;
    const Dissection d = dissected(ethernet(0x0800, ipv4(17, lying, {.fragment = 0x2000})));
    EXPECT_LE(d.payload_length, 48U - 8 - 12 - 16 - 4) << int{lie};
  }
  const Dissection later6 =
      dissected(ethernet(0x86dd, ipv6(44, test::ipv6_fragment(17, 0x0030, later_part))));
  EXPECT_EQ(later6.stop, Stop::fragment);
  // Of UDP every fragment is told, for later ones do not show their port; of ICMP none.
  const Dissection other = dissected(ethernet(0x0800, ipv4(17, udp(53, filled(30)), {.fragment = 0x2000})));
  EXPECT_TRUE(other.has(Note::fragmented));
  const Dissection icmp = dissected(ethernet(0x0800, ipv4(1, filled(30), {.fragment = 0x2000})));
  EXPECT_FALSE(icmp.has(Note::fragmented));
}

TEST(Dissect, lengths_that_lie) {
  const Packet datagram = roce_v2(0x04, filled(32));
  // IP claims more than the frame had on the wire: cut by something on its way.
  const Dissection longer = dissected(ethernet(0x0800, ipv4(17, datagram, {.length_lie = 100})));
  EXPECT_TRUE(longer.has(Note::cut_on_the_way));
  EXPECT_TRUE(longer.is_transport());
  EXPECT_EQ(longer.find(HeaderId::icrc), nullptr);
  // Or a bit of the length flipped on its way, as its checksum shows: the packet is whole.
  const Dissection damaged =
      dissected(ethernet(0x0800, ipv4(17, datagram, {.length_lie = 1024, .damaged = true})));
  EXPECT_FALSE(damaged.has(Note::cut_on_the_way));
  EXPECT_NE(damaged.find(HeaderId::icrc), nullptr);
  EXPECT_EQ(damaged.payload_length, 32U);
  // IP claims less than UDP: the IP length bounds all.
  const Dissection shorter = dissected(ethernet(0x0800, ipv4(17, datagram, {.length_lie = -10})));
  EXPECT_TRUE(shorter.has(Note::udp_length_mismatch));
  EXPECT_EQ(shorter.declared_end, shorter.captured_end - 10);
  EXPECT_EQ(shorter.payload_length, 22U);
  // UDP claims less than IP: the UDP length bounds the transport.
  const Dissection udp_short = dissected(ethernet(0x0800, ipv4(17, udp(4791, bth(0x04, filled(32)), -12))));
  EXPECT_EQ(udp_short.payload_length, 20U);
  // UDP length 0 means jumbo or offload: the IP length counts.
  const Dissection udp_zero = dissected(ethernet(0x0800, ipv4(17, udp(4791, bth(0x04, filled(32)), -56))));
  EXPECT_EQ(udp_zero.payload_length, 32U);
  // IP length 0: segmentation offload, the frame's end counts.
  const Dissection zero = dissected(ethernet(0x0800, ipv4(17, datagram, {.length_lie = -76})));
  EXPECT_TRUE(zero.has(Note::zero_ip_length));
  EXPECT_EQ(zero.payload_length, 32U);
  // An IP length inside the header.
  EXPECT_EQ(dissected(ethernet(0x0800, ipv4(17, datagram, {.length_lie = -57}))).stop,
            Stop::contradicts_itself);
  // Version 5, header length 16.
  Packet version = ethernet(0x0800, ipv4(17, datagram));
  version[14] = 0x55;
  EXPECT_EQ(dissected(version).stop, Stop::contradicts_itself);
  version[14] = 0x44;
  EXPECT_EQ(dissected(version).stop, Stop::contradicts_itself);
}

TEST(Dissect, other_protocols_are_named_not_followed) {
  const Dissection arp = dissected(ethernet(0x0806, filled(28)));
  EXPECT_EQ(arp.stop, Stop::unknown_protocol);
  EXPECT_EQ(arp.unknown_type, 0x0806);
  const Dissection tcp = dissected(ethernet(0x0800, ipv4(6, filled(20))));
  EXPECT_EQ(tcp.stop, Stop::unknown_protocol);
  EXPECT_EQ(tcp.unknown_type, 6);
  EXPECT_EQ(dissected(ethernet(0x0026, filled(38))).stop, Stop::unknown_protocol);
  EXPECT_EQ(dissected(ethernet(0x8915, grh(bth(0x04, {}), 0, 0x3a))).stop, Stop::unknown_protocol);
}

TEST(Dissect, stops_after_too_many_headers) {
  Packet packet = ipv4(17, roce_v2(0x04, filled(8)));
  for (int i = 0; i < 100; ++i) packet = vlan(0, i == 0 ? 0x0800 : 0x8100, packet);
  const Dissection d = dissected(ethernet(0x8100, packet));
  EXPECT_EQ(d.stop, Stop::too_deep);
  EXPECT_EQ(d.layer_count, max_layers);
}

TEST(Dissect, names_of_all_states) {
  EXPECT_EQ(stop_name(Stop::complete), "complete");
  EXPECT_EQ(stop_name(Stop::fragment), "later IP fragment");
  EXPECT_EQ(transport_name(Transport::native_ib), "native InfiniBand");
  EXPECT_EQ(tunnel_name(Tunnel::macsec), "macsec");
}

}  // namespace
}  // namespace dissect_test
}  // namespace roce::dissect
