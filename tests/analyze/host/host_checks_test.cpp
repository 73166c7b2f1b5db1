// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/host_checks.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "analyze/host/capturable.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "capture/host/read_host.hpp"
#include "tests/capture/host/host_fixture.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

std::vector<std::string> ids(const std::vector<HostFinding>& findings) {
  std::vector<std::string> all;
  for (const HostFinding& finding : findings) {
    all.emplace_back(finding.id);
    EXPECT_FALSE(finding.explanation.empty() || finding.advice.empty() || finding.evidence.empty())
        << finding.id;
  }
  return all;
}
using Ids = std::vector<std::string>;

TEST(HostChecks, RecordedMachines) {
  EXPECT_EQ(ids(check_host(tests::host_of("connectx"))), Ids{"host_port_down"});
  EXPECT_EQ(ids(check_host(tests::host_of("connectx_lag"))), Ids{});
  EXPECT_EQ(ids(check_host(tests::host_of("bnxt_re"))), Ids{"host_mtu_small"});
  EXPECT_EQ(ids(check_host(tests::host_of("rxe"))), Ids{});
}

TEST(HostChecks, EachFinding) {
  HostFacts host = tests::host_of("bnxt_re");
  RdmaPort& port = host.devices[0].ports[0];
  host.netdevs[0].mtu = 300;
  EXPECT_EQ(check_host(host).front().severity, Severity::error);  // nothing fits
  host.netdevs[0].mtu = 4192;
  EXPECT_EQ(ids(check_host(host)), Ids{});
  port.default_roce_mode = "IB/RoCE v1";
  EXPECT_EQ(ids(check_host(host)), Ids{"host_default_roce_v1"});
  port.default_roce_mode.clear();
  for (GidEntry& gid : port.gids) gid.type = "IB/RoCE v1";
  EXPECT_EQ(ids(check_host(host)), Ids{"host_no_roce_v2"});
  port.gids.resize(2);
  EXPECT_EQ(ids(check_host(host)), Ids{"host_no_address"});
  port.gids.clear();
  EXPECT_EQ(ids(check_host(host)), Ids{"host_no_address"});

  HostFacts lag = tests::host_of("connectx_lag");
  lag.netdevs[2].mtu = 1500;
  EXPECT_EQ(ids(check_host(lag)), Ids{"host_mtu_stack"});
}

TEST(HostChecks, StacksThatStandOnThemselves) {
  HostFacts host;
  host.netdevs.resize(2);
  host.netdevs[0].name = "a";
  host.netdevs[0].vlan = VlanFacts{1, "b", {}, {}};
  host.netdevs[1].name = "b";
  host.netdevs[1].bond = BondFacts{"", "", "", {"a", "b", "none"}};
  EXPECT_TRUE(lowest_of(host, "a").empty());
  EXPECT_TRUE(lowest_of(host, "none").empty());
  const HostFacts lag = tests::host_of("connectx_lag");
  EXPECT_EQ(lowest_of(lag, "bond0").size(), 2U);
}

TEST(HostCapturable, ByDriver) {
  HostFacts host = tests::host_of("connectx");
  RdmaDevice& device = host.devices[0];
  RdmaPort& port = device.ports[0];
  const auto what = [&] { return capturable_port(host, device, port); };
  EXPECT_TRUE(what().possible);
  EXPECT_EQ(what().device, "mlx5_0:1");
  EXPECT_NE(what().how.find("/dev/infiniband/uverbs0"), std::string::npos);
  host.netdevs[1].private_flags = {{"sniffer", "on"}};
  EXPECT_EQ(sniffer_switch(host.netdevs[1].private_flags), true);
  EXPECT_NE(what().how.find("ethtool --set-priv-flags ens1f0np0 sniffer off"), std::string::npos);
  device.uverbs.clear();
  EXPECT_FALSE(what().possible);
  EXPECT_NE(what().how.find("modprobe ib_uverbs"), std::string::npos);
  device.driver = "irdma";
  EXPECT_FALSE(what().possible);
  EXPECT_NE(what().how.find("mirror the port"), std::string::npos);
  device.driver = "rxe";
  EXPECT_EQ(what().device, "ens1f0np0");
  port.netdev.clear();
  EXPECT_FALSE(what().possible);
}

/// A host that does what the profile "nvidia" asks: PFC and DSCP 26 on priority 3.
HostFacts tuned(const PolicyModel& policy) {
  HostFacts host = tests::host_of("connectx");
  host.devices.pop_back();
  DcbFacts& dcb = host.netdevs[1].dcb;
  dcb.known = true;
  dcb.pfc = DcbPfc{};
  for (unsigned i = 0; i < 8; ++i)
    if (policy.lossless && policy.lossless->contains(i))
      dcb.pfc->enabled = static_cast<std::uint8_t>(dcb.pfc->enabled | 1U << i);
  for (unsigned dscp = 0; dscp < 64; ++dscp)
    dcb.apps.push_back({dcb_selector_dscp, dscp, priority_of_dscp(policy, static_cast<std::uint8_t>(dscp))});
  return host;
}

TEST(HostPolicy, TunedAndOtherwise) {
  const auto loaded = load_policy("nvidia");
  ASSERT_TRUE(loaded);
  const PolicyModel& policy = (*loaded)->model();
  ASSERT_EQ(policy.trust, Trust::dscp);
  ASSERT_TRUE(policy.lossless && policy.lossless->contains(3));
  HostFacts host = tuned(policy);
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{});

  host.netdevs[1].dcb.pfc->enabled = 0;
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{"host_pfc_missing"});
  host.netdevs[1].dcb.pfc->enabled = 0xff;
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{"host_pfc_more"});
  host = tuned(policy);
  host.netdevs[1].dcb.apps.push_back({dcb_selector_dscp, 26, 7});
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{"host_dscp_priority"});
  host = tuned(policy);
  host.netdevs[1].dcb.apps.clear();
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{"host_trust"});
  host = tuned(policy);
  host.netdevs[1].dcb.trust = {1, 5};
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{"host_trust"});
  host = tuned(policy);
  host.devices[0].ports[0].default_roce_tos = 0;
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{"host_tos"});
  host.devices[0].ports[0].default_roce_tos.reset();
  host.devices[0].ports[0].traffic_class.reset();
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{"host_tos_not_set"});
  host = tuned(policy);
  host.netdevs[1].dcb = DcbFacts{};
  EXPECT_EQ(ids(check_host_policy(host, policy)), Ids{"host_dcb_unknown"});
}

}  // namespace
}  // namespace roce::analyze
