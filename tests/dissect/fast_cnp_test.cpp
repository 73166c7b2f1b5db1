// SPDX-License-Identifier: Apache-2.0
#include "dissect/fast_cnp.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "dissect/dissect.hpp"
#include "dissect/icrc.hpp"
#include "tests/dissect/frames.hpp"

namespace roce::dissect {
namespace fast_cnp_test {
namespace {

using namespace test;

std::optional<std::uint32_t> named_by(const Packet& frame) {
  Dissection d;
  dissect(frame, static_cast<std::uint32_t>(frame.size()), link_ethernet, d);
  return fast_cnp_address(frame, d);
}

// Options begin behind Ethernet, IPv6 and the two bytes before them.
constexpr std::uint32_t options = 14 + 40 + 2;

TEST(FastCnp, NamesTheReceiver) {
  EXPECT_EQ(named_by(fast_cnp("1e10 fd770000000000000000000000000002 0102 0000")), options + 2);
  EXPECT_EQ(named_by(fast_cnp("00 00 1e12 fd770000000000000000000000000002 abcd")), options + 2 + 2);
  // Behind an option of something else.
  EXPECT_EQ(named_by(fast_cnp("1f02 0000 1e10 fd770000000000000000000000000002")), options + 4 + 2);
}

TEST(FastCnp, IsNoneWithoutAnAddress) {
  EXPECT_FALSE(named_by(fast_cnp("1e04 00000000")));
  EXPECT_FALSE(named_by(fast_cnp("0110 fd770000000000000000000000000002 0102 0000")));  // padding
  EXPECT_FALSE(named_by(fast_cnp("1e10 ff020000000000000000000000000002 0102 0000")));
  EXPECT_FALSE(named_by(fast_cnp("1e15 fd770000000000000000000000000002 0102 0000")));  // a lie
  EXPECT_FALSE(named_by(ethernet(0x86dd, ipv6(17, udp(4791, bth(0x81, filled(16, 0)))))));
  Packet other = fast_cnp("1e10 fd770000000000000000000000000002 0102 0000");
  other[options + 22 + 8] = 0x0a;  // no CNP
  EXPECT_FALSE(named_by(other));
}

/// A receiver's own CNP may carry trace data of IOAM (RFC 9486), or say where it is at home (RFC 6275).
TEST(FastCnp, IsNoneWithAnOptionOfSomethingElse) {
  for (const char* type : {"11", "31", "12", "32", "c9"}) {
    EXPECT_FALSE(
        named_by(fast_cnp((type + std::string("10 fd770000000000000000000000000002 0102 0000")).c_str())))
        << type;
  }
  // Behind it there may be one.
  EXPECT_EQ(named_by(fast_cnp("1102 0000 1e10 fd770000000000000000000000000002")), options + 4 + 2);
}

/// Whether the option is part of what it covers is not public.
TEST(FastCnp, HasNoIcrcToCheck) {
  const Packet frame = fast_cnp("1e10 fd770000000000000000000000000002 0102 0000");
  Dissection d;
  dissect(frame, static_cast<std::uint32_t>(frame.size()), link_ethernet, d);
  const IcrcResult result = check_icrc(frame, d);
  EXPECT_EQ(result.status, CrcStatus::not_checkable);
  EXPECT_EQ(result.obstacle, CrcObstacle::cover_unknown);
}

}  // namespace
}  // namespace fast_cnp_test
}  // namespace roce::dissect
