// SPDX-License-Identifier: Apache-2.0
#include "capture/core/edit_distance.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace roce::capture::test {
namespace {

TEST(EditDistance, CountsChanges) {
  EXPECT_EQ(edit_distance("", ""), 0U);
  EXPECT_EQ(edit_distance("", "abc"), 3U);
  EXPECT_EQ(edit_distance("abc", ""), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("eht0", "eth0"), 1U);  // neighbours swapped
  EXPECT_EQ(edit_distance("ca", "abc"), 3U);     // optimal string alignment: what was swapped stays
}

TEST(NearestWord, IsTheOneThatWasMeant) {
  const std::vector<std::string_view> names{"lo", "eth0", "enp65s0f0np0", "enp65s0f1np1", "any"};
  EXPECT_EQ(nearest_word("eht0", names), "eth0");
  EXPECT_EQ(nearest_word("ETH0", names), "eth0");
  EXPECT_EQ(nearest_word("enp65s0f0", names), "enp65s0f0np0");
  EXPECT_EQ(nearest_word("an", names), "any");
  EXPECT_EQ(nearest_word("mlx5_0", names), "");
  EXPECT_EQ(nearest_word("", names), "");
  EXPECT_EQ(nearest_word(std::string(10'000, 'e'), names), "");
  EXPECT_EQ(nearest_word("eth0", {}), "");
}

}  // namespace
}  // namespace roce::capture::test
