// SPDX-License-Identifier: Apache-2.0
// Which flows sent a PSN lately: what an answer among thousands of flows is held against.
#include "analyze/tracker/recent_requests.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace roce::analyze {
namespace recent_requests_test {
namespace {

constexpr std::uint64_t there = 0x1234, back = 0x4321;
using Places = std::vector<std::uint32_t>;

Places found(const RecentRequests& recent, std::uint64_t way, std::uint32_t psn, std::size_t most = 1000) {
  Places places;
  recent.newest_first(way, psn, most, [&](const RecentRequests::Sent& sent) {
    places.push_back(sent.place);
    return true;
  });
  return places;
}

TEST(RecentRequests, AreFoundByWayAndPsnTheNewestFirst) {
  RecentRequests recent;
  EXPECT_TRUE(found(recent, there, 5).empty());
  for (std::uint32_t place = 0; place < 1000; ++place) {
    recent.add(there, place % 10, {place, 0, place});
    recent.add(back, place % 10, {place, 0, 5000 + place});
  }
  const Places places = found(recent, there, 7);
  ASSERT_EQ(places.size(), 100U);
  EXPECT_EQ(places.front(), 997U);
  EXPECT_EQ(places.back(), 7U);
  EXPECT_EQ(found(recent, back, 0).front(), 5990U);
  EXPECT_TRUE(found(recent, there, 11).empty());
  EXPECT_LE(found(recent, there, 7, 3).size(), 3U);
}

TEST(RecentRequests, AVisitorThatHasEnoughIsShownNoMore) {
  RecentRequests recent;
  for (std::uint32_t place = 0; place < 10; ++place) recent.add(there, 3, {place, 0, place});
  std::size_t shown = 0;
  recent.newest_first(there, 3, 1000, [&](const RecentRequests::Sent&) { return ++shown < 4; });
  EXPECT_EQ(shown, 4U);
}

TEST(RecentRequests, TheOldestAreForgotten) {
  RecentRequests recent;
  recent.add(there, 1, {1, 0, 1});
  for (std::uint32_t i = 0; i < RecentRequests::at_most; ++i) recent.add(there, 2, {i, 0, i});
  EXPECT_TRUE(found(recent, there, 1).empty());
  recent.add(there, 1, {9, 0, 9});
  EXPECT_EQ(found(recent, there, 1), (Places{9}));
  EXPECT_LT(found(recent, there, 2, SIZE_MAX).size(), RecentRequests::at_most);
}

}  // namespace
}  // namespace recent_requests_test
}  // namespace roce::analyze
