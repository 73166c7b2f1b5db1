// SPDX-License-Identifier: Apache-2.0
// The rule on PFC watchdogs, with captures of a link written out as bytes.
#include "tests/analyze/link/link_packets.hpp"

namespace roce::analyze {
namespace {

/// XOFF of 65535 quanta from `from` to `end`, often enough to be one pause at 100 Gb/s.
void hold_off(Link& link, std::int64_t from, std::int64_t end) {
  for (std::int64_t t = from; t < end; t += 300 * us) link.at(t, pfc(host_mac, {{3, 65535}}));
  link.at(end, pfc(host_mac, {{3, 0}}));
}

Link watched(std::uint64_t speed_bps = 100 * gigabit) {
  Link link(speed_bps);
  link.options_.pfc_watchdog = {200 * ms, 400 * ms};
  return link;
}

TEST(PfcWatchdogFinding, TriggerWhereTrafficFlowedOn) {
  Link link = watched();
  for (std::int64_t t = 0; t < 250 * ms; t += 300 * us) {
    link.at(t, pfc(host_mac, {{3, 65535}}));
    if (t >= 210 * ms && t < 213 * ms) link.at(t + us, data_on(3));
  }
  link.at(250 * ms, pfc(host_mac, {{3, 0}})).at(1000 * ms, data_on(3));
  const auto found = link.run("pfc_watchdog");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].packets, std::vector<std::uint64_t>{1});
  EXPECT_TRUE(says(found[0], "should have fired once on priority 3: at +0.200000 s")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "should have been held for 450 ms.")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "Traffic flowed on: 10 packets of RoCE were sent to")) << found[0].explanation;
}

TEST(PfcWatchdogFinding, TriggerWhereItDidNotFire) {
  Link link = watched();
  hold_off(link, 0, 250 * ms);
  link.at(251 * ms, data_on(3)).at(252 * ms, data_on(4)).at(1000 * ms, data_on(3));
  const auto found = link.run("pfc_watchdog");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "but 1 packet of RoCE on this priority within the restoration time"))
      << found[0].explanation;
}

TEST(PfcWatchdogFinding, TriggerWhereNothingCameUntilRestoration) {
  Link link = watched();
  hold_off(link, 0, 250 * ms);
  link.at(700 * ms, data_on(3));
  const auto found = link.run("pfc_watchdog");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "the watchdog fired and drops, or nothing waited")) << found[0].explanation;
}

TEST(PfcWatchdogFinding, TriggerWithoutASpeed) {
  Link link = watched(0);
  for (std::int64_t t = 0; t < 210 * ms; t += 40 * us) link.at(t, pfc(host_mac, {{3, 65535}}));
  link.at(211 * ms, data_on(3));
  const auto found = link.run("pfc_watchdog");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "The link speed is not known")) << found[0].explanation;
}

TEST(PfcWatchdogFinding, NearMiss) {
  Link gap = watched();  // never long enough without interruption
  hold_off(gap, 0, 190 * ms);
  hold_off(gap, 191 * ms, 380 * ms);
  gap.at(1000 * ms, data_on(3));
  EXPECT_TRUE(gap.run("pfc_watchdog").empty());
  Link untold;  // nobody told its times
  hold_off(untold, 0, 250 * ms);
  untold.at(1000 * ms, data_on(3));
  EXPECT_TRUE(untold.run("pfc_watchdog").empty());
  Link global = watched();  // PAUSE is not looked after
  for (std::int64_t t = 0; t < 250 * ms; t += 300 * us) global.at(t, global_pause(host_mac, 65535));
  EXPECT_TRUE(global.run("pfc_watchdog").empty());
}

}  // namespace
}  // namespace roce::analyze
