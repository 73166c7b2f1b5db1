// SPDX-License-Identifier: Apache-2.0
// Connections whose answers come after thousands of requests: they are paired late, and then explained as if
// they had been paired before.
#include <algorithm>
#include <vector>

#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_long_way_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};
constexpr std::uint16_t useless_port = 4791;
constexpr std::uint32_t first = 500'000;

std::size_t told_of_the_nak(Wire& wire, const std::vector<std::uint32_t>& frames) {
  return static_cast<std::size_t>(std::count_if(
      frames.begin(), frames.end(), [&](auto frame) { return wire.verdict(frame).cause == Cause::nak; }));
}

TEST(TrackerLongWay, AnswersToRequestsOfLongAgoPair) {
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t i = 0; i < 3000; ++i) wire.request(a, b, first + i);
  for (std::uint32_t i = 1; i <= 8; ++i) wire.answer(b, a, first + 40 * i);
  wire.answer(b, a, first + 400, nak_sequence);
  const auto begins = wire.request(a, b, first + 400);
  const auto next = wire.request(a, b, first + 401);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_TRUE(wire.connection().paired());
  EXPECT_EQ(wire.verdict(begins).cause, Cause::nak);
  EXPECT_EQ(wire.verdict(next).cause, Cause::nak);
}

/// The second answer shows whose they are, and the first was the NAK that the step back answers.
TEST(TrackerLongWay, AStepBackIsToldOnceTheAnswersHaveAnOwner) {
  Wire wire;
  wire.port = useless_port;
  for (std::uint32_t i = 0; i < 600; ++i) wire.request(a, b, first + i);
  wire.answer(b, a, first + 100, nak_sequence);
  std::vector<std::uint32_t> repeats;
  for (std::uint32_t i = 100; i < 600; ++i) repeats.push_back(wire.request(a, b, first + i));
  for (std::uint32_t i = 110; i < 600; i += 10) wire.answer(b, a, first + i);
  wire.finish();
  ASSERT_EQ(wire.result.connections.size(), 1U);
  EXPECT_EQ(told_of_the_nak(wire, repeats), repeats.size());
}

/// Of a pass that goes on behind the end of an episode only the last transmissions are remembered.
TEST(TrackerLongWay, APassGoesOnWhereItsFirstTransmissionsAreForgotten) {
  Wire wire;
  wire.talk(a, b, first - 20, 20);
  for (std::uint32_t i = 0; i < 4000; ++i) wire.request(a, b, first + i);
  wire.answer(b, a, first, nak_sequence);
  std::vector<std::uint32_t> repeats;
  for (std::uint32_t i = 0; i < 4000; ++i) repeats.push_back(wire.request(a, b, first + i));
  wire.answer(b, a, first + 3999);
  wire.finish();
  EXPECT_EQ(told_of_the_nak(wire, repeats), repeats.size());
}

}  // namespace
}  // namespace tracker_long_way_test
}  // namespace roce::analyze
