// SPDX-License-Identifier: Apache-2.0
#include "analyze/tracker/pairing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace roce::analyze {
namespace {

PacketRecord between(std::uint8_t from, std::uint8_t to, std::uint16_t port) {
  PacketRecord record;
  record.key.src.bytes[15] = from;
  record.key.dst.bytes[15] = to;
  record.udp_source = port;
  record.flags = PacketRecord::has_ports;
  return record;
}

std::vector<std::uint32_t> sorted(std::span<const std::uint32_t> places) {
  std::vector<std::uint32_t> all(places.begin(), places.end());
  std::sort(all.begin(), all.end());
  return all;
}

using Places = std::vector<std::uint32_t>;

TEST(UnpairedFlows, AreFoundByAddressesInEitherDirectionAndByPort) {
  UnpairedFlows flows;
  const PacketRecord there = between(1, 2, 50'000);
  const PacketRecord back = between(2, 1, 50'001);
  flows.add(7, there);
  flows.add(3, back);
  flows.add(5, there);
  EXPECT_EQ(sorted(flows.between(back)), (Places{3, 5, 7}));
  EXPECT_EQ(sorted(flows.on_port(there)), (Places{5, 7}));
  flows.remove(7, there);
  flows.remove(7, there);  // it is gone: nothing happens
  EXPECT_EQ(sorted(flows.between(there)), (Places{3, 5}));
  EXPECT_EQ(sorted(flows.on_port(there)), (Places{5}));
  flows.add(7, back);  // the place is used again
  EXPECT_EQ(sorted(flows.on_port(back)), (Places{3, 7}));
  flows.remove(3, back);
  flows.remove(5, there);
  flows.remove(7, back);
  EXPECT_TRUE(flows.between(there).empty());
}

/// One number at each end of many hosts gives one port, which may follow from them; many numbers on one port
/// do not. Of many flows some meet by chance.
TEST(UnpairedFlows, APortOfManyNumbersIsShared) {
  UnpairedFlows flows;
  PacketRecord record = between(1, 2, 50'000);
  for (std::uint32_t i = 0; i < 200; ++i) {
    record.key.dst_qp = 0x11 + i % 2;
    flows.note_port(record);
  }
  EXPECT_FALSE(flows.on_shared_port(record));
  for (std::uint32_t i = 0; i < 4; ++i) {
    record.key.dst_qp = 0x100 + i;
    flows.note_port(record);
  }
  EXPECT_FALSE(flows.on_shared_port(record));
  record.key.dst_qp = 0x200;
  flows.note_port(record);
  EXPECT_TRUE(flows.on_shared_port(record));
  EXPECT_FALSE(flows.on_shared_port(between(1, 2, 50'001)));
  for (std::uint32_t i = 0; i < 0x4000; ++i)
    flows.note_port(between(1, 2, static_cast<std::uint16_t>(0xc000 + i)));
  EXPECT_FALSE(flows.on_shared_port(record));
}

TEST(UnpairedFlows, LeaveAtACostThatDoesNotGrowWithTheirNumber) {
  constexpr std::uint32_t count = 100'000;
  UnpairedFlows flows;
  const PacketRecord all_alike = between(1, 2, 50'000);
  for (std::uint32_t place = 0; place < count; ++place) flows.add(place, all_alike);
  // In the order in which they came, as they are evicted; the last of a list takes the place of the first.
  for (std::uint32_t place = 0; place < count; ++place) flows.remove(place, all_alike);
  EXPECT_TRUE(flows.between(all_alike).empty());
  EXPECT_LE(flows.steps(), 2U * count);  // in two lists each
}

TEST(UnpairedFlows, CountThoseThatMayHaveAsked) {
  UnpairedFlows flows;
  const PacketRecord there = between(1, 2, 50'000);
  const PacketRecord back = between(2, 1, 50'001);
  EXPECT_EQ(flows.requesters_to(back), 0U);
  flows.add_requester(there);
  flows.add_requester(there);
  flows.add_requester(between(1, 3, 50'000));
  EXPECT_EQ(flows.requesters_to(back), 2U);
  EXPECT_EQ(flows.requesters_to(there), 0U);
  flows.remove_requester(there);
  EXPECT_EQ(flows.requesters_to(back), 1U);
  flows.remove_requester(there);
  flows.remove_requester(there);  // it is gone: nothing happens
  EXPECT_EQ(flows.requesters_to(back), 0U);
}

TEST(UnpairedFlows, KnowWhoseFavouriteAFlowIs) {
  constexpr std::uint32_t none = 0xffffffff;
  UnpairedFlows flows;
  flows.change_favourite(1, none, 7, none);
  flows.change_favourite(2, none, 7, none);
  flows.change_favourite(3, none, 8, none);
  EXPECT_EQ(sorted(flows.with_favourite(7)), (Places{1, 2}));
  flows.change_favourite(1, 7, 8, none);
  flows.change_favourite(2, 7, 7, none);
  EXPECT_EQ(sorted(flows.with_favourite(7)), (Places{2}));
  EXPECT_EQ(sorted(flows.with_favourite(8)), (Places{1, 3}));
  flows.change_favourite(2, 7, none, none);
  EXPECT_TRUE(flows.with_favourite(7).empty());
}

}  // namespace
}  // namespace roce::analyze
