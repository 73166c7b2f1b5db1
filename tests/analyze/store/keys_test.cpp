// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/keys.hpp"

#include <gtest/gtest.h>

#include <string>

namespace roce::analyze {
namespace {

// By `openssl mac -macopt hexkey:00...00 -macopt size:8 SIPHASH`, whose bytes are those of a number from its
// lowest on.
TEST(Keys, sip_hash_is_that_of_others) {
  EXPECT_EQ(sip_hash(""), 0x1e924b9d737700d7U);
  EXPECT_EQ(sip_hash("|10.77.1.6|10.77.3.4"), 0xe224ab6cbd7d5473U);
  EXPECT_EQ(sip_hash("|10.77.0.1|10.77.0.2|71"), 0x47cec465be5f4337U);
  EXPECT_EQ(sip_hash("12345678"), 0x5de7ecc4ba81e998U);
}

TEST(Keys, lack_the_sign) {
  for (int i = 0; i < 100; ++i) EXPECT_EQ(store_key(std::to_string(i)) >> 63U, 0U);
}

TEST(Keys, both_ends_have_one) {
  EXPECT_EQ(hash_of_pair("", "10.0.0.1", "10.0.0.2"), hash_of_pair("", "10.0.0.2", "10.0.0.1"));
  EXPECT_EQ(hash_of_pair("", "10.0.0.1", "10.0.0.2"), store_key("|10.0.0.1|10.0.0.2"));
  EXPECT_NE(hash_of_pair("", "10.0.0.1", "10.0.0.2"), hash_of_pair("east", "10.0.0.1", "10.0.0.2"));
  EXPECT_EQ(hash_of_flow("", "10.0.0.1", "10.0.0.2", 71), store_key("|10.0.0.1|10.0.0.2|71"));
  EXPECT_NE(hash_of_flow("", "10.0.0.1", "10.0.0.2", 71), hash_of_flow("", "10.0.0.2", "10.0.0.1", 71));
  EXPECT_EQ(hash_of_connection("", "10.0.0.1", 5, "10.0.0.2", 6),
            hash_of_connection("", "10.0.0.2", 6, "10.0.0.1", 5));
  EXPECT_NE(hash_of_connection("", "10.0.0.1", 5, "10.0.0.2", 6),
            hash_of_connection("", "10.0.0.1", 6, "10.0.0.2", 5));
  // Within one host the queue pairs are sorted.
  EXPECT_EQ(hash_of_connection("", "10.0.0.1", 5, "10.0.0.1", 6),
            hash_of_connection("", "10.0.0.1", 6, "10.0.0.1", 5));
}

}  // namespace
}  // namespace roce::analyze
