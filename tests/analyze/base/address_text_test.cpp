// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/address_text.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <array>
#include <random>

namespace roce::analyze {
namespace {

// The C library is the second opinion; Wireshark prints as it does.
TEST(AddressText, ipv6_agrees_with_the_c_library) {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::array<std::uint8_t, 16> bytes{};
    const auto mask = static_cast<unsigned>(random());
    for (std::size_t b = 0; b < bytes.size(); ++b) {
      if ((mask >> b & 1U) != 0) bytes[b] = static_cast<std::uint8_t>(random() >> (random() % 8));
    }
    if ((mask >> 20U & 3U) == 0) {
      bytes.fill(0);
      for (std::size_t b = 10 + (mask & 1U) * 2; b < 16; ++b)
        bytes[b] = (mask & 2U) != 0 && b < 12 ? 0xff : static_cast<std::uint8_t>(random());
    }
    std::array<char, INET6_ADDRSTRLEN> expected{};
    ASSERT_NE(inet_ntop(AF_INET6, bytes.data(), expected.data(), expected.size()), nullptr);
    std::string out;
    append_ipv6(out, bytes.data());
    EXPECT_EQ(out, expected.data());
  }
}

TEST(AddressText, the_others) {
  const std::array<std::uint8_t, 8> bytes{0x52, 0x54, 0x00, 0xff, 0xfe, 0x00, 0x0a, 0x01};
  std::string out;
  append_mac(out, bytes.data());
  out += ' ';
  append_eui64(out, bytes.data());
  out += ' ';
  append_ipv4(out, bytes.data());
  EXPECT_EQ(out, "52:54:00:ff:fe:00 52:54:00:ff:fe:00:0a:01 82.84.0.255");
  out.clear();
  append_address(out, dissect::IpAddress::v4(bytes.data()));
  EXPECT_EQ(out, "82.84.0.255");
}

}  // namespace
}  // namespace roce::analyze
