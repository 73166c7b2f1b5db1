// SPDX-License-Identifier: Apache-2.0
// Check values are of real frames, of the specification's example, or of zlib's crc32 (Python)
// over bytes masked by hand.
#include "dissect/icrc.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

#include "dissect/crc32.hpp"
#include "dissect/dissect.hpp"
#include "tests/dissect/frames.hpp"

namespace roce::dissect {
namespace {

using Offsets = std::initializer_list<std::size_t>;
using test::hex;
using test::Packet;

struct Checked {
  Dissection d;
  IcrcResult icrc;
};

Checked checked(const Packet& frame, std::uint16_t link_type = link_ethernet, std::size_t wire = 0) {
  Checked out;
  const Bytes bytes{frame.data(), frame.size()};
  dissect(bytes, static_cast<std::uint32_t>(wire == 0 ? frame.size() : wire), link_type, out.d);
  out.icrc = check_icrc(bytes, out.d);
  return out;
}

CrcStatus status(const Packet& frame, std::uint16_t link_type = link_ethernet) {
  return checked(frame, link_type).icrc.status;
}

/// The verdict after setting one byte to another value.
CrcStatus with_byte_changed(Packet frame, std::size_t offset, std::uint16_t link_type = link_ethernet) {
  frame.at(offset) ^= 0x5a;
  return status(frame, link_type);
}

// Linux Soft-RoCE: acknowledgements over IPv4 and IPv6.
const Packet real_v4 =
    hex("525400000a01 525400000b01 0800 45000030387b40004011eda5 0a4d0002 0a4d0001 cfe012b7001c0000"
        "1100ffff0000008f00df0480 1f000001 c75867f4");
const Packet real_v6 =
    hex("525400000a01 525400000b01 86dd 60000000001c1140 fd770000000000000000000000000002"
        "fd770000000000000000000000000001 f8e912b7001c0000 1100ffff0000003a00703509 1f000001 ac06d74d");
// zlib: traffic class 0xab, flow label 0x12345, hop limit 0x3f; and IPv4 with 8 bytes of options.
const Packet computed_v1 =
    hex("525400000b01 525400000a01 8915 6ab1234500181b3f fe800000000000000000000000000001"
        "fe800000000000000000000000000002 0440ffff0000002280000007 0001020304050607 013ce0ab");
const Packet computed_options =
    hex("525400000b01 525400000a01 0800 476a003c123440003f11beef 0a4d0001 0a4d0002 9404000001010100"
        "c0de12b700205555 0440ffff0000002280000007 0001020304050607 2fbb8050");
// The same packet in InfiniBand: ones stand for its LRH, too (IBTA 7.8.1), so the ICRC is that of
// computed_v1.
const Packet computed_native_grh =
    hex("3053000300120004 6ab1234500181b3f fe800000000000000000000000000001 fe800000000000000000000000000002"
        "0440ffff0000002280000007 0001020304050607 013ce0ab");
// The specification's own sample packet (IBTA 7.8.3): RDMA WRITE Only, 14 bytes and two of pad.
const Packet specification_sample =
    hex("7012375c000e17d2 0a2024870087b1b3000dec2a 01710a1c015d400238f27a050000000e"
        "bb884d85fd5cfba4728bc0690ed40000 9625b75a");

TEST(Icrc, matches_real_and_published_frames) {
  EXPECT_EQ(status(real_v4), CrcStatus::match);
  EXPECT_EQ(status(real_v6), CrcStatus::match);
  EXPECT_EQ(status(computed_v1), CrcStatus::match);
  EXPECT_EQ(status(computed_options), CrcStatus::match);
  EXPECT_EQ(status(computed_native_grh, link_infiniband), CrcStatus::match);
  EXPECT_EQ(status(specification_sample, link_infiniband), CrcStatus::match);
}

TEST(Icrc, shows_the_value_as_it_stands_in_the_frame) {
  const IcrcResult result = checked(real_v4).icrc;
  EXPECT_EQ(result.found, 0xc75867f4U);
  EXPECT_EQ(result.computed, 0xc75867f4U);
  EXPECT_FALSE(result.soft_roce_flush);
  Packet wrong = real_v4;
  wrong.back() ^= 1;
  const IcrcResult other = checked(wrong).icrc;
  EXPECT_EQ(other.status, CrcStatus::mismatch);
  EXPECT_EQ(other.found, 0xc75867f5U);
  EXPECT_EQ(other.computed, 0xc75867f4U);
}

TEST(Icrc, variant_fields_of_ipv4_do_not_count_all_others_do) {
  for (const std::size_t ignored : Offsets{15, 22, 24, 25, 40, 41, 46})
    EXPECT_EQ(with_byte_changed(real_v4, ignored), CrcStatus::match) << ignored;
  // Identification, flags, addresses, source port, opcode-independent parts of the BTH, AETH, ICRC.
  for (const std::size_t covered : Offsets{18, 19, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 43, 44, 45,
                                           47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61})
    EXPECT_EQ(with_byte_changed(real_v4, covered), CrcStatus::mismatch) << covered;
  // The Ethernet header is no part of it.
  EXPECT_EQ(with_byte_changed(real_v4, 0), CrcStatus::match);
}

TEST(Icrc, variant_fields_of_ipv6) {
  Packet frame = real_v6;
  frame[14] = 0x6b;  // traffic class and flow label
  frame[15] = 0xa1;
  frame[16] = 0x23;
  frame[17] = 0x45;
  frame[21] = 1;     // hop limit
  frame[60] = 0x12;  // UDP checksum
  frame[61] = 0x34;
  frame[66] = 0xc0;  // FECN, BECN
  EXPECT_EQ(status(frame), CrcStatus::match);
  EXPECT_EQ(with_byte_changed(real_v6, 30), CrcStatus::mismatch);
  EXPECT_EQ(with_byte_changed(real_v6, 54), CrcStatus::mismatch);
}

TEST(Icrc, variant_fields_of_v1_and_native) {
  Packet frame = computed_v1;
  frame[14] = 0x60;
  frame[15] = frame[16] = frame[17] = 0;
  frame[21] = 0xff;
  frame[58] = 0x40;
  EXPECT_EQ(status(frame), CrcStatus::match);
  EXPECT_EQ(with_byte_changed(computed_v1, 25), CrcStatus::mismatch);  // SGID

  Packet native = specification_sample;
  native[0] = 0x00;  // VL; the low bits are the version, which counts
  EXPECT_EQ(status(native, link_infiniband), CrcStatus::match);
  native[0] = 0x01;
  EXPECT_EQ(status(native, link_infiniband), CrcStatus::mismatch);
  EXPECT_EQ(with_byte_changed(specification_sample, 3, link_infiniband), CrcStatus::mismatch);  // DLID

  // A router replaces the LRH of a packet with a GRH: VL, SL, DLID and SLID.
  Packet routed = computed_native_grh;
  routed[0] = 0x00;
  routed[1] = 0x13;
  routed[3] = 0x04;
  routed[7] = 0x05;
  EXPECT_EQ(status(routed, link_infiniband), CrcStatus::match);
  EXPECT_EQ(with_byte_changed(computed_native_grh, 16, link_infiniband), CrcStatus::mismatch);  // SGID
}

TEST(Icrc, trailer_and_padding_do_not_matter) {
  EXPECT_EQ(status(test::operator+(real_v4, hex("11223344"))), CrcStatus::match);
  EXPECT_EQ(status(test::operator+(computed_v1, test::filled(12, 0))), CrcStatus::match);
}

TEST(Icrc, is_found_in_tunnels) {
  const Packet vxlan = test::operator+(hex("0800000000002a00"), real_v4);
  EXPECT_EQ(status(test::ethernet(0x0800, test::ipv4(17, test::udp(4789, vxlan)))), CrcStatus::match);
}

// Linux 6.12's FLUSH, whose ICRC goes over BTH, FETH and RETH twice.
const Packet flush =
    hex("525400000b01 525400000a01 0800 45000040faf2400040112b1e 0a4d0001 0a4d0002 cfe012b7002c0000"
        "1c00ffff0000008f80df0481 00000001 00007fda3b743000 00009b7e 000007d0 d1340bf9");

TEST(Icrc, soft_roce_flush_is_a_match_with_a_mark) {
  const IcrcResult result = checked(flush).icrc;
  EXPECT_EQ(result.status, CrcStatus::match);
  EXPECT_TRUE(result.soft_roce_flush);
  EXPECT_NE(result.found, result.computed);
  // Covered in either way.
  for (const std::size_t covered : Offsets{33, 47, 50, 53, 54, 60, 69, 70, 73})
    EXPECT_EQ(with_byte_changed(flush, covered), CrcStatus::mismatch) << covered;
  // The standard's own value is as good, and no exception.
  Packet standard = flush;
  for (std::size_t i = 0; i < 4; ++i)
    standard[74 + i] = static_cast<std::uint8_t>(result.computed >> (24 - 8 * i));
  EXPECT_EQ(checked(standard).icrc.status, CrcStatus::match);
  EXPECT_FALSE(checked(standard).icrc.soft_roce_flush);
}

TEST(Icrc, soft_roce_exception_is_for_flush_only) {
  Packet frame = flush;
  frame[42] = 0x0c;  // READ request
  EXPECT_EQ(status(frame), CrcStatus::mismatch);
}

TEST(Icrc, what_is_missing_cannot_be_checked) {
  for (std::size_t size = 0; size < real_v4.size(); ++size) {
    const Packet cut(real_v4.begin(), real_v4.begin() + static_cast<std::ptrdiff_t>(size));
    const IcrcResult result = checked(cut, link_ethernet, real_v4.size()).icrc;
    EXPECT_EQ(result.status, CrcStatus::not_checkable) << size;
    EXPECT_EQ(result.obstacle, size < 54 ? CrcObstacle::no_transport : CrcObstacle::cut) << size;
  }
  // Cut on its way: the frame was that short on the wire, the IP header says otherwise.
  const Packet cut(real_v4.begin(), real_v4.end() - 2);
  EXPECT_EQ(checked(cut).icrc.obstacle, CrcObstacle::cut);
  const Packet fragment = test::ethernet(
      0x0800, test::ipv4(17, test::udp(4791, test::bth(0x04, test::filled(8))), {.fragment = 0x2000}));
  EXPECT_EQ(checked(fragment).icrc.obstacle, CrcObstacle::fragment);
  EXPECT_EQ(checked(test::ethernet(0x0806, test::filled(28))).icrc.obstacle, CrcObstacle::no_transport);
}

TEST(Icrc, long_headers_are_checked_or_given_up_but_not_overrun) {
  for (std::size_t units = 1; units <= 256; ++units) {
    const Packet frame = test::ethernet(
        0x86dd, test::ipv6(60, test::ipv6_extension(17, units, test::roce_v2(0x04, test::filled(8)))));
    const IcrcResult result = checked(frame).icrc;
    EXPECT_NE(result.status, CrcStatus::match);
    const bool given_up = result.status == CrcStatus::not_checkable;
    EXPECT_EQ(result.obstacle, given_up ? CrcObstacle::no_length : CrcObstacle::none);
  }
}

TEST(Crc32, check_value_and_resumption) {
  const Packet digits = hex("313233343536373839");
  EXPECT_EQ(crc32(0, digits.data(), 9), 0xcbf43926U);
  EXPECT_EQ(crc32(crc32(0, digits.data(), 4), digits.data() + 4, 5), 0xcbf43926U);
}

VcrcResult vcrc(const Packet& frame, std::uint16_t link_type = link_infiniband) {
  Dissection d;
  dissect({frame.data(), frame.size()}, static_cast<std::uint32_t>(frame.size()), link_type, d);
  return check_vcrc({frame.data(), frame.size()}, d);
}

// CRC-16 0x100B over the specification's sample, bits as on the wire, by a second implementation.
TEST(Vcrc, covers_the_whole_packet) {
  const Packet frame = test::operator+(specification_sample, hex("45fa"));
  EXPECT_EQ(vcrc(frame).status, CrcStatus::match);
  EXPECT_EQ(vcrc(frame).found, 0x45fa);
  for (std::size_t i = 0; i < frame.size(); ++i) {
    if (i == 4 || i == 5) continue;  // the length
    Packet changed = frame;
    changed[i] ^= 0x10;
    EXPECT_NE(vcrc(changed).status, CrcStatus::match) << i;
  }
  EXPECT_EQ(vcrc(specification_sample).status, CrcStatus::not_checkable);
  EXPECT_EQ(vcrc(real_v4, link_ethernet).status, CrcStatus::not_checkable);
}

TEST(Icrc, names) {
  EXPECT_EQ(crc_status_name(CrcStatus::match), "match");
  EXPECT_EQ(crc_status_name(CrcStatus::mismatch), "mismatch");
  EXPECT_EQ(crc_status_name(CrcStatus::not_checkable), "not_checkable");
}

}  // namespace
}  // namespace roce::dissect
