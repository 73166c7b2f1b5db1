// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/header_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace roce::analyze {
namespace {

HeaderWords<5> header(std::uint64_t n, std::uint32_t point = 0) {
  return {{0x0200, 0x0800, n << 32U, n, 7}, point};
}

TEST(HeaderCache, AreFoundByAllTheirWords) {
  HeaderCache images;
  EXPECT_EQ(images.find(header(1)).image, 0U);
  const std::uint32_t number = images.put(header(1), {42, 0xabc, 0x123456789abcdef0});
  EXPECT_NE(number, 0U);
  const HeaderCache::Found found = images.find(header(1));
  EXPECT_EQ(found.image, number);
  EXPECT_EQ(found.alike.place, 42U);
  EXPECT_EQ(found.alike.path, 0xabcU);
  EXPECT_EQ(found.alike.facts, 0x123456789abcdef0U);
  for (std::size_t i = 0; i < 5; ++i) {
    HeaderWords<5> other = header(1);
    other.words[i] ^= 1;
    EXPECT_EQ(images.find(other).image, 0U) << i;
  }
  EXPECT_EQ(images.find(header(1, 3)).image, 0U) << "seen at another place";
}

TEST(HeaderCache, OfAFlowAreReplacedUnderANewNumber) {
  HeaderCache images;
  const std::uint32_t first = images.put(header(1), {42, 0, 0});
  const std::uint32_t second = images.put(header(1), {42, 1, 0});
  EXPECT_NE(first, second);
  EXPECT_EQ(images.find(header(1)).image, second);
  EXPECT_EQ(images.find(header(1)).alike.path, 1U);
}

TEST(HeaderCache, ForgetOldOnesAndNeverGiveANumberTwice) {
  HeaderCache images;
  constexpr std::uint32_t flows = 50'000;
  std::set<std::uint32_t> numbers;
  for (std::uint32_t i = 0; i < flows; ++i) numbers.insert(images.put(header(i), {i, i, i}));
  EXPECT_EQ(numbers.size(), flows);
  std::uint32_t known = 0;
  for (std::uint32_t i = 0; i < flows; ++i) {
    const HeaderCache::Found found = images.find(header(i));
    if (found.image == 0) continue;
    ++known;
    EXPECT_EQ(found.alike.place, i);
  }
  EXPECT_GT(known, 4096U);
  EXPECT_NE(images.find(header(flows - 1)).image, 0U) << "the latest";
}

TEST(HeaderCache, OfAThousandFlowsAreAllKept) {
  HeaderCache images;
  std::mt19937_64 random(1);  // as far apart as queue pairs and ports of real hosts
  std::vector<HeaderWords<5>> headers(1024);
  for (HeaderWords<5>& words : headers) words = header(random());
  std::uint32_t place = 0;
  for (const HeaderWords<5>& words : headers) images.put(words, {place++, 0, 0});
  const auto known = std::count_if(headers.begin(), headers.end(), [&](const HeaderWords<5>& words) {
    return images.find(words).image != 0;
  });
  EXPECT_GE(known, 1020) << "one that is pushed out takes the long way";
}

}  // namespace
}  // namespace roce::analyze
