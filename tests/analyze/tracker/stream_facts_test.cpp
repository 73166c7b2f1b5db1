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

/// Half of all IDs at random lie ahead: a few in a row are no counter, and the next one behind is not late.
TEST(StreamFacts, IdsAtRandomDoNotRise) {
  PacketRecord record;
  record.more = PacketRecord::has_ip_id;
  StreamFacts facts;
  for (const int id : {0x1000, 0x3000, 0x7ff0, 0x9000, 0xd123}) {
    record.ip_id = static_cast<std::uint16_t>(id);
    facts.learn(record);
  }
  record.ip_id = 0x8765;
  EXPECT_FALSE(facts.ids_rise(record));
  EXPECT_FALSE(facts.is_behind(record));
  EXPECT_TRUE(facts.ids_tell(record));
}

}  // namespace
}  // namespace roce::analyze
