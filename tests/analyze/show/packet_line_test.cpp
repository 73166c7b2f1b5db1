// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/packet_line.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <string>

#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {
namespace {

std::string line_of(LiteralPacket& packet, TimeFormat format = TimeFormat::relative) {
  PacketLine line(format);
  std::string out;
  line.append(out, packet.view());
  return out;
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// RC RDMA WRITE Only with Immediate in VLAN 100 (PCP 3), TOS 0x6b, FECN, to QP 0x12, 5 bytes and 3 of pad.
constexpr std::string_view write_with_immediate =
    "525400000b01 525400000a01 8100 6064 0800"
    "456b 0048 0001 4000 40 11 0000 0a4d0001 0a4d0002"
    "c001 12b7 0034 0000"
    "0b 30 ffff 80 000012 80 000001"
    "00007fda3b743000 00009b7e 00000005 cafe0002"
    "1122334455000000 deadbeef";

constexpr std::string_view congestion_notification =
    "525400000b01 525400000a01 0800"
    "4500 003c 0001 4000 40 11 0000 0a4d0001 0a4d0002"
    "0000 12b7 0028 0000"
    "81 00 ffff 40 000022 00 000000"
    "00000000000000000000000000000000 12345678";

TEST(PacketLine, an_acknowledge_says_who_what_and_which) {
  LiteralPacket packet(ipv4_acknowledge);
  EXPECT_EQ(
      line_of(packet),
      "    7 0.978750372 10.77.0.2 \xe2\x86\x92 10.77.0.1  RC Acknowledge       QP 0x000015  PSN  5009560"
      "  ACK  MSN 1  DSCP AF31  ECT(1)");
}

TEST(PacketLine, a_write_tells_address_key_length_immediate_and_marks) {
  LiteralPacket packet(write_with_immediate);
  const std::string line = line_of(packet);
  EXPECT_TRUE(contains(line,
                       "RC RDMA WRITE Only with Immediate QP 0x000012  PSN        1"
                       "  VA 0x00007fda3b743000  rkey 0x00009b7e  DMA 5  imm 0xcafe0002  5 B"
                       "  AckReq  FECN  VLAN 100 PCP 3  DSCP AF31"))
      << line;
}

TEST(PacketLine, syndromes_are_words) {
  std::string hex(ipv4_acknowledge);
  hex.replace(hex.find("1f 000001"), 9, "2c 000001");
  LiteralPacket rnr(hex);
  EXPECT_TRUE(contains(line_of(rnr), "  RNR NAK 0.64 ms  MSN 1")) << line_of(rnr);
  hex.replace(hex.find("2c 000001"), 9, "60 000001");
  LiteralPacket nak(hex);
  EXPECT_TRUE(contains(line_of(nak), "  NAK PSN sequence error  MSN 1"));
  hex.replace(hex.find("60 000001"), 9, "05 000001");
  LiteralPacket credits(hex);
  EXPECT_TRUE(contains(line_of(credits), "  ACK  MSN 1  credits 6"));
}

TEST(PacketLine, a_cnp_is_called_so) {
  LiteralPacket packet(congestion_notification);
  const std::string line = line_of(packet);
  EXPECT_TRUE(contains(line, "CNP                  QP 0x000022  PSN        0")) << line;
  EXPECT_FALSE(contains(line, "BECN"));  // every one of them has it
}

TEST(PacketLine, a_wrong_icrc_is_told_and_a_right_one_is_not) {
  LiteralPacket good(ipv4_acknowledge);
  good.check_icrc();
  ASSERT_EQ(good.view().icrc->status, dissect::CrcStatus::match);
  EXPECT_FALSE(contains(line_of(good), "ICRC"));
  std::string hex(ipv4_acknowledge);
  hex.replace(hex.find("55c9f820"), 8, "55c9f821");
  LiteralPacket bad(hex);
  bad.check_icrc();
  EXPECT_TRUE(contains(line_of(bad), "  [ICRC mismatch: 0x55c9f821, computed 0x55c9f820]"));
}

TEST(PacketLine, cut_packets_say_where) {
  LiteralPacket packet(ipv4_acknowledge, 56);
  EXPECT_TRUE(contains(line_of(packet), "QP 0x000015"));
  EXPECT_TRUE(contains(line_of(packet), "[cut by the capture in ACK Extended Transport Header]"))
      << line_of(packet);
  LiteralPacket shorter(ipv4_acknowledge, 40);
  EXPECT_TRUE(contains(line_of(shorter), "[cut by the capture in User Datagram Protocol]"))
      << line_of(shorter);
  for (std::size_t length = 0; length <= 62; ++length) {
    LiteralPacket any(ipv4_acknowledge, length);
    EXPECT_FALSE(line_of(any).empty());
  }
}

TEST(PacketLine, other_protocols_get_one_short_line) {
  LiteralPacket tcp(
      "525400000b01 525400000a01 0800 4500 0034 cd78 4000 40 06 58af 0a4d0001 0a4d0002"
      "98e4 4853 65d4f326 038d720c 8011 01ea 68cc 0000 0101080a5dc8576d29b368b4");
  EXPECT_TRUE(contains(line_of(tcp), "TCP 39140 \xe2\x86\x92 18515  66 B")) << line_of(tcp);
  LiteralPacket arp(
      "ffffffffffff 525400000a01 0806 0001080006040001 525400000a01 0a4d0001 000000000000 0a4d0002");
  EXPECT_TRUE(contains(line_of(arp), "52:54:00:00:0a:01 \xe2\x86\x92 ff:ff:ff:ff:ff:ff  ARP  42 B"))
      << line_of(arp);
  LiteralPacket other("ffffffffffff 525400000a01 88b5 00");
  EXPECT_TRUE(contains(line_of(other), "ethertype 0x88b5")) << line_of(other);
}

TEST(PacketLine, pauses_name_priorities_and_times) {
  LiteralPacket pfc("0180c2000001 525400000a01 8808 0101 0018 0000 0000 0000 ffff 0000 0000 0000 0000");
  EXPECT_TRUE(contains(line_of(pfc), "PFC priority 3: 65535, 4: XON")) << line_of(pfc);
  LiteralPacket pause("0180c2000001 525400000a01 8808 0001 0000");
  EXPECT_TRUE(contains(line_of(pause), "PAUSE 0 quanta (XON)")) << line_of(pause);
}

TEST(PacketLine, columns_stay_under_each_other) {
  LiteralPacket packet(ipv4_acknowledge), wide(write_with_immediate);
  PacketLine line;
  std::string first, second, third;
  line.append(first, packet.view());
  line.append(second, wide.view());
  line.append(third, packet.view());
  EXPECT_LT(first.find("QP 0x"), second.find("QP 0x"));
  EXPECT_EQ(second.find("QP 0x"), third.find("QP 0x"));
}

TEST(PacketLine, times_as_tshark_names_them) {
  LiteralPacket packet(ipv4_acknowledge);
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::epoch), " 1795171301.978750372 "));
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::delta), " 0.000000372 "));
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::utc), " 10:41:41.978750372 "));
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::utc_date), " 2026-11-20 10:41:41.978750372 "));
  setenv("TZ", "XYZ-2:30", 1);  // two and a half hours east
  tzset();
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::absolute_date), " 2026-11-20 13:11:41.978750372 "));
  unsetenv("TZ");
  tzset();
  packet.frame().time_ns = -1;
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::utc_date), " 1969-12-31 23:59:59.999999999 "));
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::epoch), " -0.000000001 "));
  packet.frame().time_ns = 951'782'400'000'000'000;
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::utc_date), " 2000-02-29 00:00:00.000000000 "));
  packet.frame().time_ns = INT64_MAX;
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::utc_date), " 2262-04-11 23:47:16.854775807 "));
  packet.frame().time_ns = INT64_MIN + 1;
  EXPECT_TRUE(contains(line_of(packet, TimeFormat::utc_date), " 1677-09-21 00:12:43.145224193 "));
  packet.frame().time_ns = INT64_MIN;
  packet.view().first_time_ns = INT64_MAX;
  EXPECT_FALSE(line_of(packet).empty());
  EXPECT_EQ(time_format_of("ud"), TimeFormat::utc_date);
  EXPECT_EQ(time_format_of("x"), std::nullopt);
}

}  // namespace
}  // namespace roce::analyze
