// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/packet_tree.hpp"

#include <gtest/gtest.h>

#include <string>

#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {
namespace {

std::string tree_of(const PacketView& view) {
  std::string out;
  append_tree(out, view);
  return out;
}

TEST(PacketTree, reads_as_an_engineer_expects) {
  LiteralPacket packet(ipv4_acknowledge);
  packet.check_icrc();
  EXPECT_EQ(tree_of(packet.view()),
            "Frame 7: 62 bytes on wire, 62 bytes captured\n"
            "    Arrival Time: 2026-11-20 10:41:41.978750372 UTC\n"
            "    Epoch Time: 1795171301.978750372 seconds\n"
            "    Time since previous frame: 0.000000372 seconds\n"
            "    Time since first frame: 0.978750372 seconds\n"
            "    Protocols in frame: eth:ethertype:ip:udp:infiniband\n"
            "Ethernet II, Src: 52:54:00:00:0b:01, Dst: 52:54:00:00:0a:01\n"
            "    Destination: 52:54:00:00:0a:01\n"
            "    Source: 52:54:00:00:0b:01\n"
            "    Type: IPv4 (0x0800)\n"
            "Internet Protocol Version 4, Src: 10.77.0.2, Dst: 10.77.0.1\n"
            "    0100 .... = Version: 4\n"
            "    .... 0101 = Header Length: 20\n"
            "    Differentiated Services Field: 0x69\n"
            "    0110 10.. = DSCP: AF31 (26)\n"
            "    .... ..01 = ECN: ECT(1) (1)\n"
            "    Total Length: 48\n"
            "    Identification: 0xa539\n"
            "    010. .... = Flags: 0x02\n"
            "    .1.. .... = Don't Fragment: True\n"
            "    ..0. .... = More Fragments: False\n"
            "    ...0 0000 0000 0000 = Fragment Offset: 0\n"
            "    Time to Live: 64\n"
            "    Protocol: UDP (17)\n"
            "    Header Checksum: 0x807e\n"
            "    Source Address: 10.77.0.2\n"
            "    Destination Address: 10.77.0.1\n"
            "User Datagram Protocol, Src Port: 49593, Dst Port: 4791\n"
            "    Source Port: 49593\n"
            "    Destination Port: 4791\n"
            "    Length: 28\n"
            "    Checksum: 0x0000\n"
            "Base Transport Header\n"
            "    Opcode: RC Acknowledge (17)\n"
            "    0... .... = Solicited Event: False\n"
            "    .0.. .... = MigReq: False\n"
            "    ..00 .... = Pad Count: 0\n"
            "    .... 0000 = Header Version: 0\n"
            "    Partition Key: 65535 [0xffff, default partition, full member]\n"
            "    0... .... = FECN: False\n"
            "    .0.. .... = BECN: False\n"
            "    ..00 0000 = Reserved (6 bits): 0\n"
            "    Destination Queue Pair: 0x000015\n"
            "    0... .... = Acknowledge Request: False\n"
            "    .000 0000 = Reserved (7 bits): 0\n"
            "    Packet Sequence Number: 5009560\n"
            "ACK Extended Transport Header\n"
            "    Syndrome: 31 [ACK]\n"
            "    0... .... = Reserved: 0\n"
            "    .00. .... = Kind: ACK (0)\n"
            "    ...1 1111 = Credit code: 31 [credits are not used]\n"
            "    Message Sequence Number: 1\n"
            "Invariant CRC: 0x55c9f820 [match]\n");
}

TEST(PacketTree, lines_know_their_bytes) {
  LiteralPacket packet(ipv4_acknowledge);
  bool psn = false;
  for (const TreeLine& line : packet_tree(packet.view())) {
    EXPECT_LE(std::size_t{line.offset} + line.length, packet.view().bytes().size()) << line.text;
    if (line.field != "infiniband.bth.psn") continue;
    psn = true;
    EXPECT_EQ(line.offset, 51U);
    EXPECT_EQ(line.length, 3U);
  }
  EXPECT_TRUE(psn);
}

TEST(PacketTree, says_why_it_ends_and_what_the_icrc_lacks) {
  LiteralPacket packet(ipv4_acknowledge, 56);
  packet.check_icrc();
  const std::string tree = tree_of(packet.view());
  EXPECT_NE(tree.find("[cut by the capture in ACK Extended Transport Header]\n"), std::string::npos) << tree;
  EXPECT_NE(tree.find("[ICRC not checkable: truncated packet]\n"), std::string::npos) << tree;
}

TEST(PacketTree, every_cut_gives_a_tree_inside_the_bytes) {
  for (std::size_t length = 0; length <= 62; ++length) {
    LiteralPacket packet(ipv4_acknowledge, length);
    packet.check_icrc();
    for (const TreeLine& line : packet_tree(packet.view()))
      EXPECT_LE(std::size_t{line.offset} + line.length, length) << line.text;
  }
}

TEST(PacketTree, a_gid_tells_its_address) {
  // RoCE v1: GRH with an IPv4-mapped and a link-local GID made from 52:54:00:00:0a:01.
  LiteralPacket packet(
      "525400000b01 525400000a01 8915"
      "60000000 0014 1b 40 00000000000000000000ffff0a4d0001 fe80000000000000505400fffe000a01"
      "11 00 ffff 00 000015 00 4c7098 1f 000001 00000000");
  const std::string tree = tree_of(packet.view());
  EXPECT_NE(tree.find("Source GID: ::ffff:10.77.0.1 [RoCE GID of 10.77.0.1]\n"), std::string::npos) << tree;
  EXPECT_NE(tree.find("[link-local, made from 52:54:00:00:0a:01]\n"), std::string::npos) << tree;
}

// `tshark -x` prints these lines for these bytes.
TEST(PacketTree, hex_dump_is_that_of_tshark) {
  std::string out;
  const auto bytes = bytes_of("525400000a01525400000b0108004500 00302041");
  append_hex_dump(out, {bytes.data(), bytes.size()});
  EXPECT_EQ(out,
            "0000  52 54 00 00 0a 01 52 54 00 00 0b 01 08 00 45 00   RT....RT......E.\n"
            "0010  00 30 20 41                                       .0 A\n");
  out.clear();
  append_hex_dump(out, {});
  EXPECT_EQ(out, "");
}

// As Wireshark shows them, and whatever they hold is one line each.
TEST(PacketTree, begins_with_comments) {
  LiteralPacket packet(ipv4_acknowledge);
  const std::string_view comments[] = {"why so late?", "two\nlines, \x1b[31mred"};
  packet.view().comments = comments;
  const std::string tree = tree_of(packet.view());
  EXPECT_EQ(tree.substr(0, tree.find("Frame 7")),
            "Packet comments\n    why so late?\n    two\\nlines, \\x1b[31mred\n");
  EXPECT_EQ(packet_tree(packet.view())[1].field, "frame.comment");
}

}  // namespace
}  // namespace roce::analyze
