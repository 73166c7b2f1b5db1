// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "analyze/transport/psn_space.hpp"

namespace roce::analyze {
namespace {

TEST(StreamFacts, CountsKeepTheirRelationsHoweverMuchIsCounted) {
  constexpr std::uint32_t full = StreamFacts::full;
  PacketRecord record;
  record.more = PacketRecord::has_ip_id;
  StreamFacts facts;
  facts.known = true;
  facts.single = facts.id_forward = full - 2;
  facts.doubled = facts.single / 4;
  facts.id_other = 1;
  for (int i = 0; i < 8; ++i) {
    ++record.ip_id;
    facts.learn(record);
  }
  EXPECT_LT(facts.single, full);
  EXPECT_GT(facts.single, full / 4);
  EXPECT_NEAR(static_cast<double>(facts.doubled) / facts.single, 0.25, 0.001);
  EXPECT_GT(facts.id_other, 0U);  // what happened at all has happened
  EXPECT_TRUE(facts.ids_rise(record));
  facts.doubled = full - 1;
  facts.count_doubled();
  EXPECT_EQ(facts.doubled, full / 2);
}

}  // namespace
}  // namespace roce::analyze
