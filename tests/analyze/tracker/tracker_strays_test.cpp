// SPDX-License-Identifier: Apache-2.0
// PSNs far from the others: a number used again, or a stray.
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_strays_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::uint16_t useless_port = 4791;

TEST(TrackerStrays, AJumpOfPsnsIsANewConnection) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  wire.talk(a, b, 5'000'000, 10);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 2U);
  EXPECT_EQ(wire.connection(0).packets[0], 10U);
  EXPECT_EQ(wire.connection(1).packets[0], 10U);
  EXPECT_EQ(wire.connection(1).requester[0].first_psn, 5'000'000U);
  EXPECT_EQ(wire.flow(a, b).sequence().gaps, 0U);
  wire.expect_all_counted();
}

TEST(TrackerStrays, AStrayPsnIsNone) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  wire.request(a, b, 5'000'000);
  wire.talk(a, b, 110, 10);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(wire.connection().requester[0].next_psn, 120U);
  EXPECT_EQ(wire.flow(a, b).packets, 21U);
  EXPECT_EQ(wire.flow(a, b).sequence().gaps, 0U);
  wire.expect_all_counted();
}

TEST(TrackerStrays, AStrayAtTheEndIsCounted) {
  Wire wire;
  wire.talk(a, b, 100, 10);
  wire.request(a, b, 5'000'000);
  wire.finish();
  wire.expect_all_counted();
}

TEST(TrackerStrays, StraysOfBothSidesAreCounted) {
  Wire wire;
  for (std::uint32_t i = 0; i < 5; ++i) {
    wire.talk(a, b, 100 + i, 1);
    wire.talk(b, a, 700 + i, 1);
  }
  wire.request(a, b, 5'000'000);
  wire.request(b, a, 9'000'000);
  wire.talk(a, b, 105, 3);
  wire.talk(b, a, 705, 3);
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), 1U);
  wire.expect_all_counted();
}

TEST(TrackerStrays, AJumpAmongPacketsThatWaitLosesNone) {
  Wire wire;
  for (std::uint32_t i = 0; i < 20; ++i) wire.request(a, b, i);
  for (std::uint32_t i = 0; i < 20; ++i) wire.request(a, b, 5'000'000 + i);
  for (std::uint32_t i = 0; i < 20; ++i) wire.request(a, b, 11'000'000 + i);
  wire.finish();
  EXPECT_EQ(wire.result.connections.size(), 3U);
  for (const Connection& c : wire.result.connections) EXPECT_EQ(c.packets[0], 20U);
  wire.expect_all_counted();
}

TEST(TrackerStrays, AStrayThatWaitsWhenTwoBecomeOneIsCounted) {
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t i = 0; i < 600; ++i) wire.request(a, b, i);
  for (std::uint32_t i = 0; i < 600; ++i) wire.request(b, a, 70'000 + i);
  wire.request(b, a, 9'000'000);
  for (std::uint32_t i = 600; i < 640; ++i) wire.talk(a, b, i, 1);
  wire.finish();
  wire.expect_all_counted();
}

}  // namespace
}  // namespace tracker_strays_test
}  // namespace roce::analyze
