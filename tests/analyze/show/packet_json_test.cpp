// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/packet_json.hpp"

#include <gtest/gtest.h>

#include <string>

#include "analyze/base/value_format.hpp"
#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {
namespace {

std::string json_of(PacketJson& json, const PacketView& view) {
  std::string out;
  json.append(out, view);
  return out;
}

TEST(PacketJson, fields_asked_for_keep_their_order_and_repeat_as_arrays) {
  LiteralPacket packet(ipv4_acknowledge);
  PacketJson json({*find_field("infiniband.bth.psn"), *find_field("ip.addr"), *find_field("infiniband.bth.a"),
                   *find_field("infiniband.reth.va"), *find_field("frame.time_relative"), *find_field("ip"),
                   *find_field("infiniband.aeth"), *find_field("infiniband.bth.psn")});
  const std::string expected =
      "{\"infiniband.bth.psn\":5009560,\"ip.addr\":[\"10.77.0.2\",\"10.77.0.1\"],\"infiniband.bth.a\":false,"
      "\"frame.time_relative\":0.978750372,\"ip\":true,\"infiniband.aeth\":\"1f000001\"}\n";
  EXPECT_EQ(json_of(json, packet.view()), expected);
  EXPECT_EQ(json_of(json, packet.view()), expected);  // the object is used again
}

TEST(PacketJson, everything_begins_with_the_frame_and_has_no_key_twice) {
  LiteralPacket packet(ipv4_acknowledge);
  packet.check_icrc();
  PacketJson json;
  const std::string out = json_of(json, packet.view());
  EXPECT_TRUE(out.starts_with("{\"frame.number\":7,")) << out;
  EXPECT_NE(out.find(",\"infiniband.bth.opcode\":17,"), std::string::npos);
  EXPECT_NE(out.find(",\"roce.icrc.status\":\"match\""), std::string::npos);
  EXPECT_EQ(out.find("\"ip.addr\""), std::string::npos);
  for (std::size_t at = 0; (at = out.find('"', at)) != std::string::npos; ++at) {
    const std::size_t end = out.find('"', at + 1);
    ASSERT_NE(end, std::string::npos);
    const std::string key = out.substr(at, end - at + 1) + ":";
    if (out[end + 1] == ':') {
      EXPECT_EQ(out.find(key), out.rfind(key)) << key;
    }
    at = end;
  }
}

TEST(PacketJson, the_bytes_of_the_frame_only_on_request) {
  LiteralPacket packet(ipv4_acknowledge);
  PacketJson plain, whole(true);
  EXPECT_EQ(json_of(plain, packet.view()).find("\"frame\":"), std::string::npos);
  EXPECT_NE(json_of(whole, packet.view()).find(",\"frame\":\""), std::string::npos);
}

TEST(PacketJson, text_from_the_wire_is_always_valid) {
  std::string out;
  append_json_escaped(out, std::string_view("a\"\\\n\x01\x7f\xff \xc3\xa4 \xed\xa0\x80\0z", 16));
  EXPECT_EQ(out, "a\\\"\\\\\\n\\u0001\\u007f\\ufffd \xc3\xa4 \\ufffd\\ufffd\\ufffd\\u0000z");
  out.clear();
  append_printable(out, std::string_view("tab\there \x1b[31m\xff\xc3\xa4\\", 18));
  EXPECT_EQ(out, "tab\\there \\x1b[31m\\xff\xc3\xa4\\\\");
}

TEST(PacketJson, characters_that_turn_or_break_lines_are_escaped) {
  // CSI of C1, right-to-left override and isolate, Arabic letter mark, line separator; the euro sign is none.
  const std::string_view text = "\xc2\x9b\xe2\x80\xae\xe2\x81\xa6\xd8\x9c\xe2\x80\xa8\xe2\x82\xac";
  std::string out;
  append_json_escaped(out, text);
  EXPECT_EQ(out, "\\u009b\\u202e\\u2066\\u061c\\u2028\xe2\x82\xac");
  out.clear();
  append_printable(out, text);
  EXPECT_EQ(out, "\\xc2\\x9b\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xd8\\x9c\\xe2\\x80\\xa8\xe2\x82\xac");
}

TEST(ValueFormat, seconds_and_numbers) {
  const auto seconds = [](std::int64_t ns, unsigned decimals) {
    std::string out;
    append_seconds(out, ns, decimals);
    return out;
  };
  EXPECT_EQ(seconds(1'234'567'891, 9), "1.234567891");
  EXPECT_EQ(seconds(1'999'999'999, 6), "1.999999");
  EXPECT_EQ(seconds(5, 0), "0");
  EXPECT_EQ(seconds(-1'500'000'000, 3), "-1.500");
  EXPECT_EQ(seconds(INT64_MIN, 9), "-9223372036.854775808");
  std::string out;
  append_hex_number(out, 0x1234, 2);
  append_hex_number(out, 0, 6);
  append_hex_number(out, ~std::uint64_t{0}, 99);
  EXPECT_EQ(out, "0x12340x0000000xffffffffffffffff");
}

}  // namespace
}  // namespace roce::analyze
