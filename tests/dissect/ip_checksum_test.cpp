// SPDX-License-Identifier: Apache-2.0
#include "dissect/ip_checksum.hpp"

#include "literal_frame.hpp"

namespace roce::dissect {
namespace {

// A well-known example.
constexpr std::string_view plain = "4500003c1c4640004006b1e6ac100a63ac100a0c";

TEST(IpChecksum, RightAndWrong) {
  auto header = hex(plain);
  EXPECT_TRUE(ipv4_checksum_right(header));
  for (std::size_t i = 1; i < header.size(); ++i) {  // the first byte says how long it is
    header[i] ^= 0x20;
    EXPECT_FALSE(ipv4_checksum_right(header)) << "byte " << i;
    header[i] ^= 0x20;
  }
}

TEST(IpChecksum, OptionsCount) {
  auto header = hex("4600003c1c4640004006b0e6ac100a63ac100a0c00000000");
  EXPECT_TRUE(ipv4_checksum_right(header));
  header.at(23) = 1;
  EXPECT_FALSE(ipv4_checksum_right(header));
}

TEST(IpChecksum, WhatIsNotThereIsNotWrong) {
  const auto header = hex(plain);
  EXPECT_TRUE(ipv4_checksum_right(Bytes{header}.first(12)));
  EXPECT_TRUE(ipv4_checksum_right({}));
}

}  // namespace
}  // namespace roce::dissect
