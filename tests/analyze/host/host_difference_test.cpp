// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/difference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "capture/host/read_host.hpp"
#include "tests/capture/host/host_fixture.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

void set(std::vector<HostCounter>& counters, std::string_view name, std::uint64_t value) {
  for (HostCounter& counter : counters)
    if (counter.name == name) counter.value = value;
}

const HostFinding* find(const std::vector<HostFinding>& findings, std::string_view id) {
  const auto found =
      std::find_if(findings.begin(), findings.end(), [&](const HostFinding& each) { return each.id == id; });
  return found == findings.end() ? nullptr : &*found;
}

TEST(HostDifference, OfTheSameIsNothing) {
  const HostFacts host = tests::host_of("connectx");
  const HostDifference d = difference(host, host);
  EXPECT_TRUE(d.counters.empty());
  EXPECT_TRUE(d.settings.empty());
  EXPECT_EQ(d.counters_alone, 0U);
  EXPECT_GT(d.counters_compared, 150U);
  EXPECT_TRUE(difference_findings(host, host, d).empty());
}

TEST(HostDifference, MovedCountersFaultsFirst) {
  const HostFacts before = tests::host_of("connectx");
  HostFacts after = before;
  after.time_ns = before.time_ns + 1;
  RdmaPort& port = after.devices[0].ports[0];
  set(port.hw_counters, "np_cnp_sent", 4420);
  set(port.hw_counters, "out_of_sequence", 345);
  set(port.counters, "port_xmit_packets", 7'300'000);
  port.hw_counters.push_back({"new_one", 5});
  const HostDifference d = difference(before, after);
  ASSERT_EQ(d.counters.size(), 3U);
  EXPECT_EQ(d.counters[0].name, "out_of_sequence");
  EXPECT_EQ(d.counters[0].place, "mlx5_0:1");
  EXPECT_EQ(d.counters[0].moved(), 5U);
  EXPECT_EQ(d.counters[1].name, "np_cnp_sent");
  EXPECT_EQ(d.counters[2].moved(), 65'433U);
  EXPECT_EQ(d.counters_alone, 1U);
  const auto findings = difference_findings(before, after, d);
  const HostFinding* fault = find(findings, "host_faults_counted");
  ASSERT_NE(fault, nullptr);
  EXPECT_EQ(fault->severity, Severity::warning);
  EXPECT_NE(fault->explanation.find("out_of_sequence +5"), std::string::npos);
  EXPECT_EQ(fault->evidence.front(), "hw_counters out_of_sequence 340 > 345");
}

TEST(HostDifference, CountersThatFell) {
  const HostFacts before = tests::host_of("bnxt_re");
  HostFacts after = before;
  set(after.devices[0].ports[0].hw_counters, "rx_pkts", 12);
  set(after.devices[0].ports[0].hw_counters, "active_qps", 1);  // a gauge may fall
  const HostDifference d = difference(before, after);
  ASSERT_EQ(d.counters.size(), 2U);
  EXPECT_TRUE(d.counters[0].backwards);
  EXPECT_EQ(d.counters[0].moved(), 12U);
  EXPECT_FALSE(d.counters[1].backwards);
  const auto findings = difference_findings(before, after, d);
  ASSERT_NE(find(findings, "host_counters_reset"), nullptr);
  EXPECT_EQ(find(findings, "host_counters_reset")->evidence.size(), 1U);
}

TEST(HostDifference, Settings) {
  const HostFacts before = tests::host_of("connectx");
  HostFacts after = before;
  after.devices[0].ports[0].traffic_class = 0;
  after.netdevs[1].mtu = 1500;
  after.netdevs[3].vlan->egress.clear();
  after.devices[0].ports[0].gids.pop_back();
  const HostDifference d = difference(before, after);
  const auto change = [&](std::string_view name) {
    for (const SettingChange& each : d.settings)
      if (each.name == name) return each.place + ": " + each.before + " > " + each.after;
    return std::string("none");
  };
  EXPECT_EQ(d.settings.size(), 4U);
  EXPECT_EQ(change("traffic_class"), "mlx5_0:1: 106 > 0");
  EXPECT_EQ(change("mtu"), "ens1f0np0: 9000 > 1500");
  EXPECT_EQ(change("vlan.egress"), "ens1f0np0.100: 3:3 4:4 > ");
  EXPECT_EQ(change("gid.7"), "mlx5_0:1: fd00:1::11 RoCE v2 ens1f0np0 > ");
  EXPECT_NE(find(difference_findings(before, after, d), "host_settings_changed"), nullptr);
}

TEST(HostDifference, OtherHostsAndTimes) {
  const HostFacts before = tests::host_of("connectx");
  HostFacts after = tests::host_of("rxe");
  after.time_ns = before.time_ns - 5;
  const auto findings = difference_findings(before, after, difference(before, after));
  EXPECT_NE(find(findings, "host_other_host"), nullptr);
  EXPECT_NE(find(findings, "host_time_backwards"), nullptr);
  after.host.clear();
  const auto nameless = difference_findings(before, after, difference(before, after));
  ASSERT_NE(find(nameless, "host_other_host"), nullptr);
  EXPECT_EQ(find(nameless, "host_other_host")->explanation,
            "The earlier snapshot is of rail01, the other one has no host name.");
}

/// Every counter of the recorded machines is known, but for those that say nothing.
TEST(CounterMeaning, RecordedCountersAreKnown) {
  std::set<std::string> unknown;
  for (const std::string& name : tests::tree_names()) {
    const HostFacts host = tests::host_of(name);
    for (const RdmaDevice& device : host.devices) {
      for (const RdmaPort& port : device.ports) {
        for (const HostCounter& counter : port.counters)
          if (meaning_of(CounterSource::port, device.driver, counter.name) == nullptr)
            unknown.insert(counter.name);
        for (const HostCounter& counter : port.hw_counters)
          if (meaning_of(CounterSource::hardware, device.driver, counter.name) == nullptr)
            unknown.insert(counter.name);
      }
    }
  }
  for (const std::string& name : unknown) EXPECT_EQ(name.rfind("res_", 0), 0U) << name << " has no row";
}

TEST(CounterMeaning, Priorities) {
  const CounterMeaning* row = meaning_of(CounterSource::ethtool, "mlx5_core", "rx_prio3_pause");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->name, "rx_prio#_pause");
  EXPECT_EQ(priority_of(*row, "rx_prio3_pause"), 3U);
  EXPECT_EQ(meaning_of(CounterSource::ethtool, "mlx5_core", "rx_prioX_pause"), nullptr);
  EXPECT_EQ(meaning_of(CounterSource::ethtool, "bnxt_en", "rx_prio3_pause"), nullptr);
  // One name, two drivers.
  EXPECT_EQ(meaning_of(CounterSource::hardware, "rxe", "duplicate_request")->driver, "rxe");
  EXPECT_EQ(meaning_of(CounterSource::hardware, "mlx5", "duplicate_request")->driver, "mlx5");
}

/// No row hides behind another one, and none is without words.
TEST(CounterMeaning, RowsAreReachedAndWhole) {
  for (const auto& rows : {counters_of_rdma(), counters_of_netdevs()}) {
    for (const CounterMeaning& row : rows) {
      std::string name(row.name);
      std::replace(name.begin(), name.end(), '#', '5');
      EXPECT_EQ(meaning_of(row.source, row.driver, name), &row) << row.name;
      EXPECT_FALSE(row.unit.empty()) << row.name;
      EXPECT_FALSE(row.meaning.empty() || row.meaning.ends_with(".")) << row.name;
    }
  }
}

}  // namespace
}  // namespace roce::analyze
