// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/time_order.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace roce::analyze {
namespace {

/// Pushes packets with ascending frame numbers and notes the order in which they come out.
struct Order {
  void push(std::uint32_t interface, std::int64_t time_ns) {
    PacketRecord record;
    record.point = interface;
    record.time_ns = time_ns;
    order.push(record, ++pushed);
    drain(false);
  }
  void drain(bool all) {
    TimeOrder::Waiting next;
    while (order.pop(next, all)) numbers.push_back(next.number);
  }
  TimeOrder order;
  std::uint64_t pushed = 0;
  std::vector<std::uint64_t> numbers;
};

using Numbers = std::vector<std::uint64_t>;

TEST(TimeOrder, NothingWaitsOnOneInterface) {
  Order o;
  for (int i = 0; i < 5; ++i) {
    o.push(0, 100 + i);
    EXPECT_EQ(o.numbers.size(), o.pushed);
  }
}

TEST(TimeOrder, InterfacesAreMergedByTime) {
  Order o;
  o.push(0, 10);
  o.push(1, 5);
  o.numbers.clear();  // before it, nobody knew of the other one
  o.push(0, 30);
  o.push(0, 40);
  EXPECT_TRUE(o.numbers.empty());  // earlier ones of the other interface may come
  o.push(1, 35);
  EXPECT_EQ(o.numbers, (Numbers{3, 5}));
  o.push(1, 50);
  EXPECT_EQ(o.numbers, (Numbers{3, 5, 4}));
  o.drain(true);
  EXPECT_EQ(o.numbers, (Numbers{3, 5, 4, 6}));
}

TEST(TimeOrder, EqualTimesGoByFrameNumber) {
  Order o;
  o.push(0, 1);
  o.push(1, 1);
  o.push(1, 7);
  o.push(1, 7);
  o.push(0, 7);
  o.drain(true);
  EXPECT_EQ(o.numbers, (Numbers{1, 2, 3, 4, 5}));
}

TEST(TimeOrder, ASilentInterfaceIsNotWaitedForForEver) {
  Order o;
  o.push(1, 1);
  for (int i = 0; i < 5000; ++i) o.push(0, 10 + i);
  EXPECT_GT(o.numbers.size(), 900U);
  o.drain(true);
  ASSERT_EQ(o.numbers.size(), o.pushed);
  for (std::size_t i = 0; i < o.numbers.size(); ++i) EXPECT_EQ(o.numbers[i], i + 1);
}

TEST(TimeOrder, WithoutATimeItStaysBehindItsNeighbour) {
  Order o;
  o.push(0, 10);
  o.push(0, capture::no_time);
  o.push(0, 11);
  o.drain(true);
  EXPECT_EQ(o.numbers, (Numbers{1, 2, 3}));
}

TEST(TimeOrder, NoMoreWaitThanTheLimit) {
  // An interface whose clock is behind holds all others back, within the bound.
  Order o;
  o.push(1, -1'000'000'000);
  for (std::size_t i = 0; i < 3 * TimeOrder::limit; ++i) {
    o.push(0, static_cast<std::int64_t>(i));
    if (i % 1000 == 0) o.push(1, -999'999'000 + static_cast<std::int64_t>(i));
    EXPECT_LE(o.pushed - o.numbers.size(), TimeOrder::limit);
  }
  o.drain(true);
  EXPECT_EQ(o.numbers.size(), o.pushed);
}

TEST(TimeOrder, AClockThatRunsBackwardsLosesNothing) {
  Order o;
  for (int i = 0; i < 1000; ++i) o.push(static_cast<std::uint32_t>(i) % 3, 1000 - i);
  o.drain(true);
  EXPECT_EQ(o.numbers.size(), 1000U);
}

TEST(TimeOrder, ManyInterfacesShareTheirPlaces) {
  Order o;
  for (std::uint32_t i = 0; i < 3000; ++i) o.push(i * 2'654'435'761U, i);
  o.drain(true);
  EXPECT_EQ(o.numbers.size(), 3000U);
}

}  // namespace
}  // namespace roce::analyze
