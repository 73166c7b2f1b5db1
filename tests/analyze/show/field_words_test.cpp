// SPDX-License-Identifier: Apache-2.0
#include "analyze/show/field_words.hpp"

#include <gtest/gtest.h>

#include "dissect/headers/infiniband.hpp"
#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {
namespace {

std::string gid(std::string_view hex) {
  const std::vector<std::uint8_t> bytes = bytes_of(hex);
  std::string out;
  append_field_meaning(out, dissect::Grh::sgid, 0, bytes);
  return out;
}

TEST(FieldWords, GidsSayWhatTheyEncode) {
  EXPECT_EQ(gid("00000000000000000000ffff0a4d0001"), " [RoCE GID of 10.77.0.1]");
  EXPECT_EQ(gid("fe80000000000000 505400fffe000a01"), " [link-local, made from 52:54:00:00:0a:01]");
  // RoCE v1's older form: the VLAN id, here 100, in place of ff:fe.
  EXPECT_EQ(gid("fe80000000000000 5054000064000a01"),
            " [link-local, made from 52:54:00:00:0a:01 in VLAN 100]");
  EXPECT_EQ(gid("20010db8000000000000000000000001"), "");
  EXPECT_EQ(gid(""), "");
}

TEST(FieldWords, OtherFieldsSayNothing) {
  std::string out;
  append_field_meaning(out, dissect::Bth::psn, 5, {});
  EXPECT_EQ(out, "");
}

}  // namespace
}  // namespace roce::analyze
