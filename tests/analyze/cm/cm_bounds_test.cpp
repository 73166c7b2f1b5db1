// SPDX-License-Identifier: Apache-2.0
// However many exchanges there are, and whatever they say.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <random>

#include "analyze/cm/cm_tracker.hpp"
#include "tests/analyze/cm/cm_messages.hpp"

namespace roce::analyze {
namespace cm_bounds_test {
namespace {

using State = CmExchange::State;

TEST(CmTracker, ForgetsTheOldestAtItsLimit) {
  CmWire wire(100);
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    Req r;
    r.id = i;
    r.qpn = 0x1000 + i;
    wire.from_client(req(r));
    const CmExchange* made = wire.from_server(rep({i + 0x10000, i}, 0x2000 + i));
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(wire.tracker.index_of(*made), i - 1);
  }
  EXPECT_EQ(wire.tracker.forgotten(), 900U);
  EXPECT_EQ(wire.tracker.exchange_of(ip(client_address), 0x1000 + 900), nullptr);
  const CmExchange* oldest = wire.tracker.exchange_of(ip(client_address), 0x1000 + 901);
  ASSERT_NE(oldest, nullptr);
  EXPECT_EQ(wire.tracker.place_of(wire.tracker.index_of(*oldest)), 0U);
  EXPECT_EQ(wire.tracker.place_of(999), 99U);
  EXPECT_FALSE(wire.tracker.place_of(899));
  EXPECT_FALSE(wire.tracker.place_of(1000));
  wire.from_server(drep({0x10001, 1}));  // of one that is forgotten
  const auto x = wire.tracker.take_exchanges();
  ASSERT_EQ(x.size(), 100U);
  EXPECT_EQ(x.front().client_comm_id, 901U);
  EXPECT_EQ(x.back().client_comm_id, 1000U);
  EXPECT_EQ(wire.tracker.exchange_of(ip(client_address), 0x1000 + 901), nullptr);
}

// Whatever the messages say, what an exchange left in the tracker goes with it.
TEST(CmTracker, AnyMessagesStayBounded) {
  std::mt19937 random(1);
  const std::array<support::Ipv4Address, 3> hosts{client_address, server_address, {10, 0, 0, 3}};
  CmWire wire(64);
  std::size_t before = 0;
  for (int i = 0; i < 40'000; ++i) {
    if (i == 5'000)
      before = mallinfo2().uordblks;  // with sanitizers always 0: they look for leaks themselves
    const auto id = [&] { return static_cast<std::uint32_t>(random() % 200); };
    const auto attribute = static_cast<std::uint16_t>(0x10 + random() % 9);
    CmMad mad(attribute, random() % 4);
    mad.put(0, 4, id()).put(4, 4, id());
    // Each kind has its queue pair at another place; elsewhere the number means nothing much.
    mad.put(attribute == 0x10 ? 32 : attribute == 0x13 ? 12 : 8, 3, id());
    wire.send(mad, hosts[random() % 3], hosts[random() % 3]);
  }
  EXPECT_LT(mallinfo2().uordblks, before + 64 * 1024);
  EXPECT_GT(wire.tracker.forgotten(), 1000U);
  EXPECT_EQ(wire.tracker.take_exchanges().size(), 64U);
}

TEST(CmTracker, ALimitOfOneWorks) {
  CmWire wire(0);  // taken for 1
  for (std::uint32_t i = 1; i <= 20; ++i) {
    Req r;
    r.id = i;
    wire.from_client(req(r));
    EXPECT_NE(wire.from_server(rep({i, i})), nullptr);
    wire.from_client(dreq({i, i}));
    EXPECT_EQ(wire.tracker.exchange_of(ip(server_address), 0x200)->state, State::disconnected);
  }
  EXPECT_EQ(wire.tracker.forgotten(), 19U);
}

}  // namespace
}  // namespace cm_bounds_test
}  // namespace roce::analyze
