// SPDX-License-Identifier: Apache-2.0
// What each UDP source port carried, lost, was marked and waited between the points.
#include <gtest/gtest.h>

#include <numeric>

#include "tests/analyze/compare/compare_support.hpp"

namespace roce::analyze {
namespace {

const ComparePath* path_of(const CompareResult& result, unsigned direction, std::uint16_t port) {
  for (const ComparePath& path : result.paths) {
    if (path.direction == direction && path.port == port) return &path;
  }
  return nullptr;
}

/// A packet of a port, sent again where it was lost.
void send_from(TwoPoints& points, std::uint16_t port, std::uint32_t psn, std::int64_t at_ns,
               const TwoPoints::Way& way) {
  support::RoceFrame frame = points.frame(0, psn);
  frame.udp_source = port;
  points.send(0, frame, at_ns, way);
}

TEST(ComparePaths, TellPortsApart) {
  TwoPoints points;
  const auto mark = [](support::RoceFrame& frame) {
    auto& network = std::get<support::Ipv4>(frame.network);
    network.tos = static_cast<std::uint8_t>(network.tos | 3U);
  };
  for (std::uint32_t psn = 0; psn < 100; ++psn) {
    const std::int64_t at = std::int64_t{psn} * 100'000;
    const auto port = static_cast<std::uint16_t>(50'000 + psn % 2);
    TwoPoints::Way way;
    if (port == 50'001) way.delay_ns = 30'000;
    if (psn % 10 == 1) way.in_second = false;
    if (psn % 10 == 2) way.change = mark;
    send_from(points, port, psn, at, way);
    // By the same port: the port is its path's.
    if (psn % 10 == 1) send_from(points, port, psn, at + 40'000, TwoPoints::Way{.delay_ns = 30'000});
    points.send(1, psn, at + 80'000);
  }
  const CompareResult r = points.result();
  ASSERT_EQ(r.paths.size(), 3U);
  EXPECT_EQ(r.paths_omitted, 0U);
  EXPECT_EQ(r.paths.front().port, 50'001) << "the one that lost most comes first";
  const ComparePath* even = path_of(r, 0, 50'000);
  const ComparePath* odd = path_of(r, 0, 50'001);
  const ComparePath* back = path_of(r, 1, 50'000);
  ASSERT_TRUE(even != nullptr && odd != nullptr && back != nullptr);
  EXPECT_EQ(even->packets, 50U);
  EXPECT_EQ(even->lost, 0U);
  EXPECT_EQ(even->ce_added, 10U);
  EXPECT_EQ(odd->packets, 60U);
  EXPECT_EQ(odd->lost, 10U);
  EXPECT_EQ(odd->ce_added, 0U);
  EXPECT_EQ(back->packets, 100U);
  EXPECT_EQ(back->lost, 0U);
  // The offset of the clocks is the middle of the fastest of both ways.
  ASSERT_TRUE(even->delay && odd->delay && back->delay);
  EXPECT_EQ(odd->delay->p50 - even->delay->p50, 20'000);
  EXPECT_EQ(even->delay->p50, r.directions[0].delay->min);
  EXPECT_EQ(back->delay->p50, r.directions[1].delay->p50);
  EXPECT_EQ(even->delay->count, 50U);
  EXPECT_EQ(odd->delay->count, 50U);
}

TEST(ComparePaths, WhatWasNotCapturedIsNotLost) {
  TwoPoints points;
  TwoPoints::Way unseen;
  unseen.in_second = false;
  points.talk(50);
  points.send(0, 50, 5'000'000, unseen);  // acknowledged, and never sent again: it arrived
  points.send(1, 50, 5'050'000);
  points.talk(50, 6'000'000, 51);
  const CompareResult r = points.result();
  const ComparePath* path = path_of(r, 0, 50'000);
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(r.directions[0].lost.count, 0U);
  EXPECT_EQ(path->lost, 0U);
  EXPECT_EQ(path->packets, 100U);
}

TEST(ComparePaths, AreBounded) {
  TwoPoints points;
  constexpr std::uint32_t ports = 5'000;
  for (std::uint32_t psn = 0; psn < ports; ++psn)
    send_from(points, static_cast<std::uint16_t>(10'000 + psn), psn, std::int64_t{psn} * 10'000, {});
  points.send(1, ports - 1, std::int64_t{ports} * 10'000);
  const CompareResult r = points.result();
  EXPECT_EQ(r.paths.size(), 4096U);
  const std::uint64_t listed =
      std::accumulate(r.paths.begin(), r.paths.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const ComparePath& path) { return sum + path.packets; });
  EXPECT_EQ(listed + r.paths_omitted, std::uint64_t{ports} + 1);
}

}  // namespace
}  // namespace roce::analyze
