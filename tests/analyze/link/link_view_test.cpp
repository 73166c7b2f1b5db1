// SPDX-License-Identifier: Apache-2.0
#include "analyze/link/link_view.hpp"

#include <gtest/gtest.h>

#include "analyze/link/priority_map.hpp"
#include "tests/analyze/link/link_capture.hpp"

namespace roce::analyze {
namespace {

/// Both ways, which must agree where the fast one has a say.
std::optional<LinkView> view_of(const std::vector<std::uint8_t>& bytes, bool fast_knows) {
  capture::Frame frame;
  frame.data = bytes.data();
  frame.captured = frame.wire = static_cast<std::uint32_t>(bytes.size());
  frame.link_type = dissect::link_ethernet;
  dissect::Dissection d;
  dissect::dissect({bytes.data(), bytes.size()}, frame.wire, frame.link_type, d);
  const auto fast = link_view_fast(frame);
  const auto slow = link_view(bytes.data(), d);
  EXPECT_EQ(fast.has_value(), fast_knows);
  if (fast && slow) {
    EXPECT_EQ(fast->dst, slow->dst);
    EXPECT_EQ(fast->src, slow->src);
    EXPECT_EQ(fast->pcp, slow->pcp);
    EXPECT_EQ(fast->dscp, slow->dscp);
  }
  return slow;
}

/// Behind Ethernet, IPv4, GRE with a sequence number and an ERSPAN II header: a mirror's copy.
std::vector<std::uint8_t> mirrored(const std::vector<std::uint8_t>& inner) {
  std::vector<std::uint8_t> bytes = bytes_of(
      "0200000000cc 0200000000dd 0800"
      "4500 0000 0000 4000 40 2f 0000 0a000001 0a000002"
      "1000 88be 00000001"
      "1005 0001 00000002");
  const std::size_t length = 20 + 8 + 8 + inner.size();
  bytes[16] = static_cast<std::uint8_t>(length >> 8U);
  bytes[17] = static_cast<std::uint8_t>(length);
  bytes.insert(bytes.end(), inner.begin(), inner.end());
  return bytes;
}

TEST(LinkViews, PlainAndTagged) {
  const auto plain = view_of(plain_roce(host_mac, switch_mac, 26U << 2U | 2U), true);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->dst, 0x020000000001U);
  EXPECT_EQ(plain->src, 0x0200000000f1U);
  EXPECT_EQ(plain->pcp, std::nullopt);
  EXPECT_EQ(plain->dscp, 26);
  const auto tagged = view_of(tagged_roce(host_mac, switch_mac, 5, 8), true);
  ASSERT_TRUE(tagged);
  EXPECT_EQ(tagged->pcp, 5);
  EXPECT_EQ(tagged->dscp, 2);
}

TEST(LinkViews, TheOutermostTagCounts) {
  std::vector<std::uint8_t> bytes = tagged_roce(host_mac, switch_mac, 5);
  const std::vector<std::uint8_t> service = bytes_of("88a8 4064");  // priority 2
  bytes.insert(bytes.begin() + 12, service.begin(), service.end());
  EXPECT_EQ(view_of(bytes, true)->pcp, 2);
}

TEST(LinkViews, NoSwitchLooksIntoAGrh) {
  const auto view = view_of(bytes_of(host_mac + switch_mac + "8915" + "6f f00000 0014 1b 40" +
                                     std::string(64, '0') + "04 00 ffff 00 000015 00 000001" + "00000000"),
                            true);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->dscp, 0);
}

TEST(LinkViews, BehindAMirrorsOwnHeaders) {
  const auto view = view_of(mirrored(tagged_roce(host_mac, switch_mac, 3)), false);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->dst, 0x020000000001U);
  EXPECT_EQ(view->pcp, 3);
}

TEST(LinkViews, APauseThatAMirrorCopied) {
  Link link;
  link.at(0, mirrored(pfc(host_mac, {{3, 65535}})));
  link.at(50 * us, mirrored(tagged_roce(host_mac, switch_mac, 3)));
  link.at(60 * us, tagged_roce("0200000000cc", "0200000000dd", 3));  // the mirror's own way
  const Snapshot& s = link.look();
  ASSERT_EQ(s.pauses.ports.size(), 1U);
  EXPECT_EQ(s.pauses.ports[0].mac, 0x020000000001U);
  EXPECT_EQ(s.pauses.ports[0].lanes[3]->overrun.count, 1U);
  for (const Sightings& fault : s.pauses.ports[0].faults) EXPECT_EQ(fault.count, 0U);
}

TEST(LinkViews, ShortFramesAreNotReadBeyondTheirEnd) {
  const std::vector<std::uint8_t> whole = tagged_roce(host_mac, switch_mac, 3);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    std::vector<std::uint8_t> bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    bytes.shrink_to_fit();
    (void)view_of(bytes, size >= 14 + 8 + 20);
  }
}

TEST(PriorityMaps, WhoseWordCounts) {
  PriorityMap map;
  EXPECT_EQ(map.priority_of(26, std::nullopt), 3);
  EXPECT_EQ(map.priority_of(63, std::nullopt), 7);
  EXPECT_EQ(map.priority_of(26, 5), 5);
  map.trust = PriorityMap::Trust::dscp;
  EXPECT_EQ(map.priority_of(26, 5), 3);
  map.trust = PriorityMap::Trust::tag;
  map.untagged = 2;
  EXPECT_EQ(map.priority_of(26, 5), 5);
  EXPECT_EQ(map.priority_of(26, std::nullopt), 2);
}

}  // namespace
}  // namespace roce::analyze
