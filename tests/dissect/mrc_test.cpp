// SPDX-License-Identifier: Apache-2.0
// MRC (OCP, revision 1.0). No capture of hardware was at hand: the packets are written by hand from what
// independent readers of the specification agree on, header by header, so that an offset that is wrong here
// or there shows.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

#include "dissect/dissect.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/mrc.hpp"
#include "dissect/icrc.hpp"
#include "dissect/opcode.hpp"
#include "tests/dissect/frames.hpp"
#include "tests/dissect/literal_frame.hpp"

namespace roce::dissect {
namespace mrc_test {
namespace {

using namespace test;
using Ids = std::vector<HeaderId>;

/// Ethernet, IPv4, UDP from 51234 with the two lengths right, BTH to queue pair 0x000123 with PSN 0x0a0b0c.
Packet frame(std::uint8_t opcode, std::uint8_t byte_8, const Packet& behind, std::uint16_t port = 4791) {
  Packet bth;
  put(bth, opcode, 1);
  bth = bth + hex("00 ffff 00 000123");
  put(bth, byte_8, 1);
  bth = bth + hex("0a0b0c") + behind + hex("00000000");
  Packet udp;
  put(udp, 51234, 2);
  put(udp, port, 2);
  put(udp, 8 + bth.size(), 2);
  put(udp, 0, 2);
  return ethernet(0x0800, ipv4(17, udp + bth));
}

const Packet meth = hex("0007 0102");
const Packet tseth = hex("1234 8001");
const Packet reth = hex("0000700000001000 0000abcd 00002000");
const Packet seth =
    hex("0022 fffe 0000c822 0011 0022 00 0a0b0c 0108 0002 8000000000000005"
        "4321 0007 85 000100");

TEST(Mrc, a_write_has_a_reth_in_every_packet) {
  for (const std::uint8_t opcode : std::initializer_list<std::uint8_t>{0xc6, 0xc7, 0xc8, 0xca}) {
    const LiteralFrame f(frame(opcode, 0x20, meth + reth + filled(16)));
    EXPECT_EQ(f.ids(HeaderId::bth),
              (Ids{HeaderId::bth, HeaderId::mrc_meth, HeaderId::reth, HeaderId::payload, HeaderId::icrc}));
    EXPECT_EQ(f.number("mrc.bth.rtx"), 1U);
    EXPECT_EQ(f.number("mrc.bth.ts"), 0U);
    EXPECT_EQ(f.number("mrc.meth.rqmsn"), 7U);
    EXPECT_EQ(f.number("mrc.meth.msn"), 0x102U);
    EXPECT_EQ(f.number("infiniband.reth.va"), 0x700000001000U);
    EXPECT_EQ(f.number("infiniband.reth.dmalen"), 0x2000U);
    EXPECT_EQ(f.d.payload_length, 16U);
    EXPECT_EQ(f.d.stop, Stop::complete);
    check_truncations(f.bytes);
  }
}

TEST(Mrc, a_timestamp_stands_between_meth_and_reth_if_the_bth_says_so) {
  const LiteralFrame f(frame(0xcb, 0x90, meth + tseth + reth + hex("deadbeef") + filled(8)));
  EXPECT_EQ(f.ids(HeaderId::bth), (Ids{HeaderId::bth, HeaderId::mrc_meth, HeaderId::mrc_tseth, HeaderId::reth,
                                       HeaderId::immdt, HeaderId::payload, HeaderId::icrc}));
  EXPECT_EQ(f.number("infiniband.bth.a"), 1U);
  EXPECT_EQ(f.number("mrc.tseth.tx_timestamp"), 0x1234U);
  EXPECT_EQ(f.number("mrc.tseth.tsr"), 1U);
  EXPECT_EQ(f.number("mrc.tseth.ftype"), 1U);
  EXPECT_EQ(f.number("infiniband.immdt.data"), 0xdeadbeefU);
  EXPECT_EQ(f.d.payload_length, 8U);
  check_truncations(f.bytes);
}

TEST(Mrc, a_sack_reports_of_a_packet_a_path_and_64_others) {
  const LiteralFrame f(frame(0xdc, 0, seth));
  EXPECT_EQ(f.ids(HeaderId::bth), (Ids{HeaderId::bth, HeaderId::mrc_seth, HeaderId::icrc}));
  EXPECT_EQ(f.number("mrc.seth.m"), 1U);
  EXPECT_EQ(f.number("mrc.seth.pr"), 1U);
  EXPECT_EQ(f.number("mrc.seth.probe_id"), 0xfffeU);
  EXPECT_TRUE(f.all("mrc.seth.ack_psn_offset").empty());
  EXPECT_EQ(f.number("mrc.ev"), 51234U);
  EXPECT_EQ(f.number("mrc.spdcid"), 0x11U);
  EXPECT_EQ(f.number("mrc.dpdcid"), 0x22U);
  EXPECT_EQ(f.number("mrc.seth.cack_psn"), 0x0a0b0cU);
  EXPECT_EQ(f.number("mrc.seth.cc_type"), 0U);
  EXPECT_EQ(f.number("mrc.seth.cc_fl"), 1U);
  EXPECT_EQ(f.number("mrc.seth.mpr"), 8U);
  EXPECT_EQ(f.number("mrc.seth.sack_offset"), 2U);
  EXPECT_EQ(f.number("mrc.seth.sack_bitmap"), 0x8000000000000005U);
  EXPECT_EQ(f.number("mrc.cc.tx_timestamp"), 0x4321U);
  EXPECT_EQ(f.number("mrc.cc.ooo_count"), 7U);
  EXPECT_EQ(f.number("mrc.cc.restore_cwnd"), 1U);
  EXPECT_EQ(f.number("mrc.cc.rcv_cwnd_pen"), 5U);
  EXPECT_EQ(f.number("mrc.cc.rcvd_bytes"), 0x100U);
  check_truncations(f.bytes);
}

TEST(Mrc, congestion_state_of_another_type_is_shown_as_it_is) {
  Packet other = seth;
  other[1] = 0;      // of a packet
  other[16] = 0x20;  // cc_type 2
  const LiteralFrame f(frame(0xdc, 0, other));
  EXPECT_EQ(f.number("mrc.seth.ack_psn_offset"), 0xfffeU);
  EXPECT_TRUE(f.all("mrc.cc.tx_timestamp").empty());
  EXPECT_EQ(f.bytes_of("mrc.cc.raw"), "4321000785000100");
}

TEST(Mrc, a_nack_has_a_reason) {
  const LiteralFrame f(frame(0xdd, 0, hex("0000 02 00 0000c822 0011 0022 00 0a0b0d 20 00 4321")));
  EXPECT_EQ(f.ids(HeaderId::bth), (Ids{HeaderId::bth, HeaderId::mrc_neth, HeaderId::icrc}));
  EXPECT_EQ(f.number("mrc.neth.reason"), 2U);
  EXPECT_EQ(name_of(mrc_nack_reason_names, 2), "trimmed at the last hop");
  EXPECT_EQ(f.number("mrc.ev"), 51234U);
  EXPECT_EQ(f.number("mrc.neth.nack_psn"), 0x0a0b0dU);
  EXPECT_EQ(f.number("mrc.neth.cc_type"), 2U);
  EXPECT_EQ(f.number("mrc.neth.tx_timestamp"), 0x4321U);
  check_truncations(f.bytes);
}

TEST(Mrc, probes_and_endpoints) {
  const LiteralFrame probe(frame(0xde, 0, hex("0000 00 01 0055 0000 0011 0022 4321 0001")));
  EXPECT_EQ(probe.ids(HeaderId::bth), (Ids{HeaderId::bth, HeaderId::mrc_peth, HeaderId::icrc}));
  EXPECT_EQ(probe.number("mrc.peth.probe_id"), 0x55U);
  EXPECT_EQ(probe.number("mrc.spdcid"), 0x11U);
  EXPECT_EQ(probe.number("mrc.peth.tx_timestamp"), 0x4321U);
  EXPECT_EQ(probe.number("mrc.peth.ftype"), 1U);
  check_truncations(probe.bytes);

  const LiteralFrame request(frame(0xd8, 0, hex("0001 00 02 0000000f 00000000 4321 8001")));
  EXPECT_EQ(request.ids(HeaderId::bth), (Ids{HeaderId::bth, HeaderId::mrc_erth, HeaderId::icrc}));
  EXPECT_EQ(request.number("mrc.erth.op"), 1U);
  EXPECT_EQ(request.number("mrc.vendor"), 2U);
  EXPECT_EQ(request.number("mrc.erth.port_status_mask"), 15U);
  EXPECT_EQ(request.number("mrc.erth.tx_timestamp"), 0x4321U);
  EXPECT_EQ(request.number("mrc.erth.tsr"), 1U);
  check_truncations(request.bytes);

  const LiteralFrame response(frame(0xd9, 0, hex("0004") + filled(26, 0) + hex("4321") + filled(6, 0)));
  EXPECT_EQ(response.ids(HeaderId::bth), (Ids{HeaderId::bth, HeaderId::mrc_eeth, HeaderId::icrc}));
  EXPECT_EQ(response.number("mrc.eeth.op"), 1U);
  EXPECT_EQ(response.number("mrc.eeth.tx_timestamp"), 0x4321U);
  check_truncations(response.bytes);

  const LiteralFrame ack(frame(0xd1, 0, hex("1f000007")));
  EXPECT_EQ(ack.ids(HeaderId::bth), (Ids{HeaderId::bth, HeaderId::aeth, HeaderId::icrc}));
  EXPECT_EQ(ack.number("infiniband.aeth.msn"), 7U);
}

TEST(Mrc, fields_on_which_readers_disagree_say_so) {
  for (const Field& field : {MrcEeth::op, MrcNeth::cc_type, MrcSeth::ev})
    EXPECT_NE(std::string(field.label).find("disputed"), std::string::npos) << field.name;
}

TEST(Mrc, other_opcodes_of_the_service_are_counted_and_not_read) {
  const LiteralFrame f(frame(0xc0, 0, filled(32)));
  EXPECT_TRUE(f.d.has(Note::unknown_opcode));
  EXPECT_EQ(opcode_info(0xc0).service, Service::mrc);
  EXPECT_EQ(opcode_name(0xc0), "unknown 0xc0");
}

TEST(Mrc, bits_of_the_bth_have_their_meaning_in_mrc_only) {
  const LiteralFrame rc(ethernet(0x0800, ipv4(17, udp(4791, bth(0x04, filled(8))))));
  EXPECT_TRUE(rc.all("mrc.bth.rtx").empty());
}

TEST(Mrc, no_icrc_is_judged_in_srv6) {
  const Packet whole = frame(0xdc, 0, seth);
  const Packet inner(whole.begin() + 14, whole.end());
  for (const Packet& outer : {ethernet(0x86dd, ipv6(4, inner)), ethernet(0x0800, inner)}) {
    const LiteralFrame f(outer);
    ASSERT_TRUE(f.d.is_transport());
    const IcrcResult icrc = check_icrc(f.bytes, f.d);
    const bool in_srv6 = outer.size() > whole.size();
    EXPECT_EQ(icrc.status, in_srv6 ? CrcStatus::not_checkable : CrcStatus::mismatch);
    EXPECT_EQ(icrc.obstacle, in_srv6 ? CrcObstacle::cover_unknown : CrcObstacle::none);
  }
}

/// Whether it is taken for MRC on a port of its own.
bool is_taken(const Packet& bytes, std::uint16_t port, std::size_t wire = 0) {
  Options options;
  options.mrc_port = port;
  Dissection d;
  dissect({bytes.data(), bytes.size()}, static_cast<std::uint32_t>(wire == 0 ? bytes.size() : wire),
          link_ethernet, d, options);
  return d.is_transport();
}

TEST(Mrc, the_other_port_is_believed_only_if_all_else_fits) {
  const Packet good = frame(0xdc, 0, seth, 4971);
  EXPECT_TRUE(is_taken(good, Options{}.mrc_port));
  EXPECT_FALSE(is_taken(good, 0));
  EXPECT_FALSE(is_taken(good, 5000));
  EXPECT_TRUE(is_taken(frame(0xca, 0x10, meth + tseth + reth + filled(16), 5000), 5000));
  EXPECT_TRUE(is_taken(frame(0xd1, 0, hex("1f000007"), 4971), 4971));
  EXPECT_FALSE(is_taken(frame(0xdc, 0, seth + filled(4), 4971), 4971)) << "too long";
  EXPECT_FALSE(is_taken(frame(0xdc, 0x08, seth, 4971), 4971)) << "a reserved bit of the BTH";
  EXPECT_FALSE(is_taken(frame(0x04, 0, filled(32), 4971), 4971)) << "not of this service";
  EXPECT_FALSE(is_taken(frame(0xc0, 0, filled(32), 4971), 4971)) << "no opcode that is known";
  Packet typed = seth;
  typed[0] = 0x10;
  EXPECT_FALSE(is_taken(frame(0xdc, 0, typed, 4971), 4971)) << "another type of header";
  EXPECT_FALSE(is_taken(frame(0xca, 0x10, meth + tseth + hex("00000000"), 4971), 4971)) << "too short";
  for (std::size_t size = 0; size < good.size(); ++size) {
    const Packet cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    (void)is_taken(cut, 4971, good.size());
  }
}

}  // namespace
}  // namespace mrc_test
}  // namespace roce::dissect
