// SPDX-License-Identifier: Apache-2.0
#include "dissect/types.hpp"

#include <gtest/gtest.h>

namespace roce::dissect {
namespace {

TEST(Psn, wraps_at_24_bits) {
  EXPECT_EQ(Psn(0x1234567).value(), 0x234567U);
  EXPECT_EQ((Psn(0xffffff) + 1).value(), 0U);
  EXPECT_EQ((Psn(5) + 0xfffffe).value(), 3U);
  EXPECT_EQ(Psn(0x1000000), Psn(0));
}

TEST(Psn, distance_is_circular) {
  EXPECT_EQ(Psn(5).distance_from(Psn(3)), 2);
  EXPECT_EQ(Psn(3).distance_from(Psn(5)), -2);
  EXPECT_EQ(Psn(0).distance_from(Psn(0xffffff)), 1);
  EXPECT_EQ(Psn(0xffffff).distance_from(Psn(0)), -1);
  EXPECT_EQ(Psn(0x7fffff).distance_from(Psn(0)), 0x7fffff);
  EXPECT_EQ(Psn(0x800000).distance_from(Psn(0)), -0x800000);
  EXPECT_EQ(Psn(0x123456).distance_from(Psn(0x123456)), 0);
}

TEST(IpAddress, keeps_both_families) {
  const std::uint8_t four[] = {10, 77, 0, 1};
  const IpAddress v4 = IpAddress::v4(four);
  EXPECT_TRUE(v4.is_v4_mapped());
  EXPECT_EQ(v4.bytes[12], 10);
  EXPECT_EQ(v4.bytes[15], 1);
  const std::uint8_t sixteen[16] = {0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 77, 0, 1};
  EXPECT_FALSE(IpAddress::v6(sixteen).is_v4_mapped());
  EXPECT_NE(IpAddress::v6(sixteen), v4);
}

TEST(Strong, does_not_mix) {
  static_assert(!std::is_convertible_v<Qpn, std::uint32_t>);
  static_assert(!std::is_same_v<Qpn, PKey>);
  EXPECT_LT(Qpn(1), Qpn(2));
}

}  // namespace
}  // namespace roce::dissect
