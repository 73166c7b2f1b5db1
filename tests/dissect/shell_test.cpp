// SPDX-License-Identifier: Apache-2.0
// Shells, transports that are only named, and what mirrors and switches add; vectors written from RFC 4302,
// 4303 and 3948, the PSP and UE specifications, the drafts of ERSPAN and IFA.
#include "dissect/headers/shell.hpp"
#include "dissect/headers/mirror.hpp"
#include "dissect/icrc.hpp"
#include "tests/dissect/frames.hpp"
#include "tests/dissect/literal_frame.hpp"

namespace roce::dissect {
namespace shell_test {
namespace {

using test::bth;
using test::ethernet;
using test::filled;
using test::hex;
using test::ipv4;
using test::ipv6;
using test::operator+;
using test::Packet;
using test::roce_v2;
using test::udp;

/// As check_truncations(), for frames of which the dissection ends early by itself.
void check_cuts(const Packet& frame, const Options& options = {}) {
  for (std::size_t length = 0; length <= frame.size(); ++length) {
    const std::vector<std::uint8_t> bytes(frame.begin(), frame.begin() + static_cast<long>(length));
    Dissection d;
    dissect(bytes, static_cast<std::uint32_t>(frame.size()), link_ethernet, d, options);
    for (const Layer& layer : d.all()) {
      ASSERT_LE(layer.offset + layer.length, length);
      ASSERT_GE(layer.length, header_info(layer.id).size) << header_info(layer.id).title;
    }
    ASSERT_NE(d.stop, Stop::contradicts_itself) << length;
  }
}

LiteralFrame literal(const Packet& frame) {
  return LiteralFrame(std::vector<std::uint8_t>(frame.begin(), frame.end()));
}

const Packet esp = hex("0000c0de 00000007") + filled(64);

TEST(Shell, EspOverIpAndUdp) {
  for (const Packet& frame : {ethernet(0x0800, ipv4(50, esp)), ethernet(0x86dd, ipv6(50, esp)),
                              ethernet(0x0800, ipv4(17, udp(4500, esp)))}) {
    const LiteralFrame f = literal(frame);
    EXPECT_EQ(f.d.stop, Stop::encrypted);
    EXPECT_EQ(f.number("esp.spi"), 0xc0deU);
    EXPECT_EQ(f.number("esp.sequence"), 7U);
    check_cuts(frame);
  }
}

TEST(Shell, IkeAndKeepAlivesAreNoEsp) {
  for (const Packet& payload : {hex("00000000") + filled(40), hex("ff")}) {
    const LiteralFrame f = literal(ethernet(0x0800, ipv4(17, udp(4500, payload))));
    EXPECT_EQ(f.d.stop, Stop::unknown_protocol);
    EXPECT_EQ(f.d.find(HeaderId::esp), nullptr);
  }
}

TEST(Shell, WhatAhCarriesIsReadButNotItsIcrc) {
  const Packet ah = hex("11 04 0000 00000100 0000002a 000102030405060708090a0b");
  const Packet frame = ethernet(0x0800, ipv4(51, ah + udp(4791, bth(0x04, filled(12)))));
  const LiteralFrame f = literal(frame);
  EXPECT_TRUE(f.d.is_transport());
  EXPECT_EQ(f.d.icrc, Dissection::none);
  EXPECT_EQ(f.number("ah.spi"), 0x100U);
  EXPECT_EQ(f.number("ah.sequence"), 42U);
  check_cuts(frame);
  EXPECT_EQ(literal(ethernet(0x0800, ipv4(51, hex("11 00 0000 00000100 0000002a") + filled(20)))).d.stop,
            Stop::contradicts_itself);
}

TEST(Shell, Psp) {
  const Packet psp = hex("04 01 02 01 80000005 0000000000000009") + filled(40);
  const Packet frame = ethernet(0x0800, ipv4(17, udp(1000, psp)));
  const LiteralFrame f = literal(frame);
  EXPECT_EQ(f.d.stop, Stop::encrypted);
  EXPECT_EQ(f.number("psp.spi"), 0x80000005U);
  EXPECT_EQ(f.number("psp.iv"), 9U);
  EXPECT_EQ(f.number("psp.crypt_offset"), 2U);
  check_cuts(frame);
  const Packet cookie = hex("04 02 02 03 80000005 0000000000000009 1122334455667788") + filled(40);
  EXPECT_EQ(literal(ethernet(0x0800, ipv4(17, udp(1000, cookie)))).bytes_of("psp.vc"), "1122334455667788");
  // The bit that is always 1 is not: something else on that port.
  EXPECT_EQ(literal(ethernet(0x0800, ipv4(17, udp(1000, filled(40, 0))))).d.find(HeaderId::psp), nullptr);
}

TEST(Shell, MacsecIsNumberedAndHides) {
  const Packet frame = hex("525400000b01525400000a01 88e5 2e00 0000000b 525400000a010001") + filled(64);
  const LiteralFrame f = literal(frame);
  EXPECT_EQ(f.d.stop, Stop::encrypted);
  EXPECT_EQ(f.number("macsec.PN"), 11U);
  check_cuts(frame);
}

TEST(OtherTransport, UetIsNamedByItsType) {
  struct Row {
    std::string_view bytes;
    HeaderId id;
    Stop stop;
  };
  for (const auto& [bytes, id, stop] :
       {Row{"1000 0000 00000007 0102 0304", HeaderId::uet_request, Stop::unknown_protocol},
        Row{"3800 0001 00000005 0102 0304", HeaderId::uet_ack, Stop::unknown_protocol},
        Row{"5000 0100 00000007 0102 0304 00000000", HeaderId::uet_nack, Stop::unknown_protocol},
        Row{"0800", HeaderId::uet, Stop::encrypted}}) {
    const Packet frame = ethernet(0x0800, ipv4(17, udp(4793, hex(bytes) + filled(20))));
    const LiteralFrame f = literal(frame);
    EXPECT_EQ(f.d.stop, stop);
    ASSERT_NE(f.d.find(id), nullptr) << bytes;
    check_cuts(frame);
  }
  const LiteralFrame request =
      literal(ethernet(0x0800, ipv4(17, udp(4793, hex("1000 0000 00000007 0102 0304") + filled(8)))));
  EXPECT_EQ(request.number("uet.pds.psn"), 7U);
  EXPECT_EQ(request.number("uet.pds.spdcid"), 0x0102U);
}

TEST(OtherTransport, FalconAndVeRoceOnlyOnPortsThatTheUserNames) {
  const Packet payload = hex("10 0000ab 000001 45 00000001 00000002 00000003 00000004") + filled(16);
  const Packet frame = ethernet(0x0800, ipv4(17, udp(7777, payload)));
  Options options;
  Dissection d;
  const auto run = [&] {
    dissect({frame.data(), frame.size()}, static_cast<std::uint32_t>(frame.size()), link_ethernet, d,
            options);
  };
  run();
  EXPECT_EQ(d.find(HeaderId::falcon), nullptr);
  options.named.falcon_port = 7777;
  run();
  EXPECT_NE(d.find(HeaderId::falcon), nullptr);
  check_cuts(frame, options);
  options = {};
  options.named.veroce_port = 7777;
  run();
  EXPECT_NE(d.find(HeaderId::veroce), nullptr);
  EXPECT_FALSE(d.is_transport());
  check_cuts(frame, options);
}

TEST(OtherTransport, IfaMetadataLiesBetweenUdpAndBth) {
  const Packet transport = bth(0x04, filled(12));
  Packet datagram = udp(4791, transport);
  const Packet metadata = hex("ff 00 40 02 0102030405060708");
  datagram.insert(datagram.begin() + 8, metadata.begin(), metadata.end());
  const Packet frame = ethernet(0x0800, ipv4(253, hex("3f 11 04 40") + datagram));
  Options options;
  options.named.ifa_protocol = 253;
  Dissection d;
  dissect({frame.data(), frame.size()}, static_cast<std::uint32_t>(frame.size()), link_ethernet, d, options);
  ASSERT_TRUE(d.is_transport());
  EXPECT_EQ(d.stop, Stop::complete);
  EXPECT_EQ(d.notes, 0);
  EXPECT_EQ(d.icrc, Dissection::none);
  Dissection plain;
  const Packet without = ethernet(0x0800, ipv4(17, udp(4791, transport)));
  dissect({without.data(), without.size()}, static_cast<std::uint32_t>(without.size()), link_ethernet, plain);
  EXPECT_EQ(d.payload_length, plain.payload_length);
  check_cuts(frame, options);
}

TEST(Csig, IsSkippedWhereItsEthertypeIsNamed) {
  const Packet rest = hex("0800") + ipv4(17, roce_v2(0x04, filled(8)));
  for (const Packet& before : {hex("525400000b01525400000a01"), hex("525400000b01525400000a01 8100 6064")}) {
    const Packet frame = before + hex("9900 4a85") + rest;
    EXPECT_EQ(literal(frame).d.stop, Stop::unknown_protocol);
    Options options;
    options.named.csig_type = 0x9900;
    const std::vector<std::uint8_t> bytes(frame.begin(), frame.end());
    Dissection d;
    dissect(bytes, static_cast<std::uint32_t>(bytes.size()), link_ethernet, d, options);
    ASSERT_TRUE(d.is_transport());
    const Layer* tag = d.find(HeaderId::csig);
    ASSERT_NE(tag, nullptr);
    const std::uint8_t* p = bytes.data() + tag->offset;
    EXPECT_EQ(read<Csig::type>(p), 2U);
    EXPECT_EQ(read<Csig::signal>(p), 0b10101U);
    EXPECT_EQ(read<Csig::locator>(p), 5U);
    EXPECT_EQ(check_icrc(bytes, d).obstacle, CrcObstacle::none) << "it is no part of the packet's ICRC";
    check_cuts(frame, options);
    // A known EtherType stays what it is.
    options.named.csig_type = 0x0800;
    dissect(bytes, static_cast<std::uint32_t>(bytes.size()), link_ethernet, d, options);
    EXPECT_EQ(d.find(HeaderId::csig), nullptr);
  }
}

TEST(Mirror, SubheadersOfErspan3) {
  const Packet inner = ethernet(0x0800, ipv4(17, roce_v2(0x04, filled(8))));
  const Packet head = hex("1000 22eb 00000009 2000001f 11223344 00000001");
  const auto frame = [&](std::string_view platform) {
    return ethernet(0x0800, ipv4(47, head + hex(platform) + inner));
  };
  LiteralFrame f = literal(frame("15230045 0000abcd"));  // platform 5
  EXPECT_EQ(f.number("erspan.platid"), 5U);
  EXPECT_EQ(f.number("erspan.pid5.switchid"), 0x123U);
  EXPECT_EQ(f.number("erspan.pid5.port_index"), 0x45U);
  EXPECT_EQ(f.number("erspan.pid5.timestamp"), 0xabcdU);
  EXPECT_TRUE(f.all("erspan.pid3.timestamp").empty());
  EXPECT_TRUE(f.d.is_transport());
  f = literal(frame("0c000045 00000001"));  // platform 3
  EXPECT_EQ(f.number("erspan.pid3.port_index"), 0x45U);
  EXPECT_EQ(f.number("erspan.pid3.timestamp"), 1U);
  check_truncations(f.bytes);
}

TEST(Mirror, AristaStampsStandBeforeTheEthertype) {
  const Packet rest = hex("0800") + ipv4(17, roce_v2(0x04, filled(8)));
  const Packet macs = hex("525400000b01525400000a01 d28b 0001");
  const Packet frame = macs + hex("1110 65800000 075bcd15") + rest;
  const LiteralFrame f = literal(frame);
  EXPECT_TRUE(f.d.is_transport());
  EXPECT_EQ(f.number("arista.seconds"), 0x65800000U);
  const Layer* stamp = f.d.find(HeaderId::arista_stamp);
  ASSERT_NE(stamp, nullptr);
  EXPECT_EQ(AristaStamp::nanoseconds64(f.bytes.data() + stamp->offset), 123456789U);
  check_truncations(f.bytes);
  const LiteralFrame narrow = literal(macs + hex("1210 0001 075bcd15") + rest);
  EXPECT_TRUE(narrow.d.is_transport());
  EXPECT_EQ(narrow.number("arista.nanoseconds"), 123456789U);
  EXPECT_EQ(literal(macs + hex("1910 0001 075bcd15") + rest).d.stop, Stop::unknown_protocol);
}

}  // namespace
}  // namespace shell_test
}  // namespace roce::dissect
