// SPDX-License-Identifier: Apache-2.0
#include "findings_support.hpp"

namespace roce::analyze {
namespace {

/// A switch that dropped three packets of a RoCE flow at port 12, of which `missed` were missed.
SnapshotMaker dropped(std::uint64_t missed, std::uint32_t reason = 259) {
  SnapshotMaker made;
  Exports& e = made.snapshot.exports;
  e.datagrams = 3;
  e.agents.push_back({host(7)});
  for (std::uint32_t i = 0; i < 3; ++i) {
    ExportDrop& drop = e.drops.emplace_back();
    drop.output = 12;
    drop.reason = {DropReason::List::sflow, reason};
    drop.packet = 40 + i;
    drop.time_ns = i * test_second;
    drop.roce = true;
    drop.key.src = host(1);
    drop.key.dst = host(2);
    drop.psn = 100 + i;
    if (i < missed) drop.loss_shown_by = 60 + i;
  }
  return made;
}

TEST(SwitchDropsFinding, TriggerMissed) {
  SnapshotMaker made = dropped(2);
  made.snapshot.totals.roce_packets = 1000;
  const auto found = made.run("switch_drops");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::error);
  EXPECT_EQ(found[0].count, 3U);
  EXPECT_EQ(found[0].subject, "10.0.0.7 port 12");
  EXPECT_EQ(found[0].packets, (std::vector<std::uint64_t>{40, 41, 42}));
  EXPECT_NE(found[0].explanation.find("no buffer (tail drop)"), std::string::npos) << found[0].explanation;
  EXPECT_NE(found[0].explanation.find("2 of them explain losses"), std::string::npos) << found[0].explanation;
  EXPECT_NE(found[0].advice.find("-Y 'sflow_245.agent == 10.0.0.7 && sflow.discarded_sample.reason == 259'"),
            std::string::npos)
      << found[0].advice;
}

TEST(SwitchDropsFinding, TriggerThatNobodyMissed) {
  SnapshotMaker made = dropped(0, 262);
  made.snapshot.totals.roce_packets = 1000;
  const auto found = made.run("switch_drops");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_NE(found[0].explanation.find("shows no loss of these packets"), std::string::npos);
  EXPECT_NE(found[0].advice.find("MTU"), std::string::npos);
}

TEST(SwitchDropsFinding, NearMissDelivered) {
  SnapshotMaker made = dropped(0);
  made.snapshot.totals.roce_packets = 1000;
  Flow& flow = made.snapshot.flows.emplace_back();
  flow.key = made.snapshot.exports.drops[0].key;
  flow.service = dissect::Service::rc;
  flow.any_time = true;
  flow.last_time_ns = 2 * test_second;
  const auto found = made.run("switch_drops");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_NE(
      found[0].explanation.find("The capture has the traffic of these packets, and no loss of them: they "
                                "were delivered"),
      std::string::npos)
      << found[0].explanation;
}

TEST(SwitchDropsFinding, OfMrcTooButOfNoConnection) {
  SnapshotMaker made = dropped(2);
  made.snapshot.totals.roce_packets = 1000;
  for (ExportDrop& drop : made.snapshot.exports.drops) drop.connection = LostTransmission::no_connection;
  const auto found = made.run("switch_drops");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].connections.empty());
}

TEST(SwitchDropsFinding, NearMissOtherTraffic) {
  SnapshotMaker made = dropped(0);
  for (ExportDrop& drop : made.snapshot.exports.drops) drop.roce = false;
  EXPECT_TRUE(made.run("switch_drops").empty());
}

}  // namespace
}  // namespace roce::analyze
