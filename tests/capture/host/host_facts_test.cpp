// SPDX-License-Identifier: Apache-2.0
// Recorded trees of real kinds of machines: whole, with each piece missing in turn, with each piece spoilt.
#include "capture/host/facts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "capture/host/read_host.hpp"
#include "tests/capture/host/host_fixture.hpp"

namespace roce::capture {
namespace {

using tests::TemporaryFolder;

std::uint64_t counter(const std::vector<HostCounter>& counters, std::string_view name) {
  const auto found = std::find_if(counters.begin(), counters.end(),
                                  [&](const HostCounter& each) { return each.name == name; });
  return found == counters.end() ? ~std::uint64_t{0} : found->value;
}
std::string setting(const std::vector<HostSetting>& settings, std::string_view name) {
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [&](const HostSetting& each) { return each.name == name; });
  return found == settings.end() ? "(none)" : found->value;
}

TEST(HostFacts, ConnectX) {
  const HostFacts host = tests::host_of("connectx", 7);
  EXPECT_EQ(host.host, "rail01");
  EXPECT_EQ(host.kernel, "Linux 5.14.0-427.13.1.el9_4.x86_64");
  EXPECT_EQ(host.time_ns, 7);
  EXPECT_TRUE(host.problems.empty()) << host.problems.front().path << ": " << host.problems.front().message;
  ASSERT_EQ(host.devices.size(), 2U);
  const RdmaDevice& device = host.devices[0];
  EXPECT_EQ(device.name, "mlx5_0");
  EXPECT_EQ(device.driver, "mlx5");
  EXPECT_EQ(device.node_type, "CA");
  EXPECT_EQ(device.firmware, "28.39.1002");
  EXPECT_EQ(device.board_id, "MT_0000000838");
  EXPECT_EQ(device.pci, "0000:17:00.0");
  EXPECT_EQ(device.uverbs, "uverbs0");
  ASSERT_EQ(device.ports.size(), 1U);
  const RdmaPort& port = device.ports[0];
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_EQ(port.phys_state, "LinkUp");
  EXPECT_EQ(port.rate_bps, 400'000'000'000U);
  EXPECT_EQ(port.netdev, "ens1f0np0");
  EXPECT_EQ(port.gid_rows, 16U);
  ASSERT_EQ(port.gids.size(), 8U);
  EXPECT_EQ(port.gids[3].index, 3U);
  EXPECT_EQ(port.gids[3].type, "RoCE v2");
  EXPECT_EQ(ipv4_of(port.gids[3].gid), (std::array<std::uint8_t, 4>{10, 1, 0, 11}));
  EXPECT_EQ(port.gids[5].netdev, "ens1f0np0.100");
  EXPECT_TRUE(is_link_local(port.gids[0].gid));
  EXPECT_EQ(ipv4_of(port.gids[7].gid), std::nullopt);
  EXPECT_EQ(port.default_roce_mode, "RoCE v2");
  EXPECT_EQ(port.default_roce_tos, 106U);
  EXPECT_EQ(port.traffic_class, 106U);
  EXPECT_EQ(counter(port.hw_counters, "np_cnp_sent"), 4410U);
  EXPECT_EQ(counter(port.counters, "port_xmit_packets"), 7'234'567U);
  EXPECT_EQ(setting(port.settings, "hw_counters.lifespan"), "10");  // no counter
  EXPECT_EQ(active_mtu(host, device, port), 4096U);
  EXPECT_EQ(host.devices[1].ports[0].state, "DOWN");
}

TEST(HostFacts, VlanAndVendorSettings) {
  const HostFacts host = tests::host_of("connectx", 7);
  const Netdev* vlan = host.netdev("ens1f0np0.100");
  ASSERT_NE(vlan, nullptr);
  ASSERT_TRUE(vlan->vlan);
  EXPECT_EQ(vlan->vlan->id, 100U);
  EXPECT_EQ(vlan->vlan->parent, "ens1f0np0");
  EXPECT_EQ(vlan->vlan->egress, (std::vector<PriorityPair>{{3, 3}, {4, 4}}));
  EXPECT_EQ(vlan->vlan->ingress, (std::vector<PriorityPair>{{3, 3}}));
  const Netdev* port = host.netdev("ens1f0np0");
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->driver, "mlx5_core");
  EXPECT_EQ(port->bus, "0000:17:00.0");
  EXPECT_EQ(port->mtu, 9000U);
  EXPECT_EQ(port->speed_bps, 400'000'000'000U);
  EXPECT_EQ(setting(port->settings, "ecn.roce_np.enable.3"), "1");
  EXPECT_EQ(setting(port->settings, "ecn.roce_np.cnp_dscp"), "48");
  EXPECT_EQ(host.netdev("ens1f1np1")->speed_bps, std::nullopt);  // -1
  EXPECT_FALSE(port->dcb.known);
  EXPECT_FALSE(port->dcb.reason.empty());
}

TEST(HostFacts, Lag) {
  const HostFacts host = tests::host_of("connectx_lag", 7);
  ASSERT_EQ(host.devices.size(), 1U);
  EXPECT_EQ(host.devices[0].name, "mlx5_bond_0");
  EXPECT_EQ(host.devices[0].ports[0].netdev, "bond0");
  const Netdev* bond = host.netdev("bond0");
  ASSERT_NE(bond, nullptr);
  ASSERT_TRUE(bond->bond);
  EXPECT_EQ(bond->bond->mode, "802.3ad");
  EXPECT_EQ(bond->bond->hash_policy, "layer3+4");
  EXPECT_EQ(bond->bond->slaves, (std::vector<std::string>{"ens2f0np0", "ens2f1np1"}));
  EXPECT_EQ(host.netdev("ens2f1np1")->master, "bond0");
  EXPECT_EQ(host.netdev("bonding_masters"), nullptr);  // a file among the interfaces
  EXPECT_EQ(active_mtu(host, host.devices[0], host.devices[0].ports[0]), 4096U);
}

TEST(HostFacts, Bnxt) {
  const HostFacts host = tests::host_of("bnxt_re", 7);
  ASSERT_EQ(host.devices.size(), 1U);
  EXPECT_EQ(host.devices[0].driver, "bnxt_re");
  EXPECT_EQ(host.devices[0].board_id, "");
  EXPECT_EQ(counter(host.devices[0].ports[0].hw_counters, "seq_err_naks_rcvd"), 5U);
  EXPECT_EQ(active_mtu(host, host.devices[0], host.devices[0].ports[0]), 1024U);
}

TEST(HostFacts, SoftRoce) {
  const HostFacts host = tests::host_of("rxe", 7);
  ASSERT_EQ(host.devices.size(), 1U);
  const RdmaDevice& device = host.devices[0];
  EXPECT_EQ(device.driver, "rxe");
  EXPECT_EQ(device.parent, "eth0");
  EXPECT_EQ(device.pci, "");
  EXPECT_EQ(device.ports[0].netdev, "eth0");
  EXPECT_EQ(device.ports[0].rate_bps, 2'500'000'000U);
  EXPECT_EQ(device.ports[0].gids.size(), 3U);
  EXPECT_EQ(active_mtu(host, device, device.ports[0]), 4096U);
}

TEST(HostFacts, IbMtus) {
  struct Row {
    unsigned interface, ib, rxe;
  };
  // By iboe_get_mtu() (96 bytes of headers) and rxe's eth_mtu_int_to_enum() (80).
  for (const Row& row :
       {Row{9000, 4096, 4096}, Row{4192, 4096, 4096}, Row{4191, 2048, 4096}, Row{4176, 2048, 4096},
        Row{4175, 2048, 2048}, Row{1500, 1024, 1024}, Row{576, 256, 256}, Row{352, 256, 256},
        Row{351, 0, 256}, Row{335, 0, 0}, Row{0, 0, 0}, Row{95, 0, 0}}) {
    EXPECT_EQ(largest_ib_mtu(row.interface), row.ib) << row.interface;
    EXPECT_EQ(largest_rxe_mtu(row.interface), row.rxe) << row.interface;
  }
  EXPECT_EQ(interface_mtu_for(4096), 4192U);
}

/// Every file of every tree removed in turn, and every folder with a port or device in it: what is left is
/// read.
TEST(HostFacts, EveryPieceMayBeMissing) {
  for (const std::string& name : tests::tree_names()) {
    const TemporaryFolder folder;
    tests::expand_tree(name, folder.path());
    HostOptions options;
    options.root = folder.path().string();
    const HostFacts whole = read_host(options);
    for (const tests::TreeEntry& entry : tests::read_tree(name)) {
      ASSERT_TRUE(std::filesystem::remove(folder.path() / entry.path)) << entry.path;
      const HostFacts host = read_host(options);
      EXPECT_EQ(host.devices.size(), whole.devices.size()) << entry.path;
      EXPECT_GE(host.netdevs.size() + 1, whole.netdevs.size()) << entry.path;
      if (entry.path.ends_with("/state") || entry.path.ends_with("/node_type") ||
          entry.path.ends_with("/operstate")) {
        EXPECT_TRUE(std::any_of(host.problems.begin(), host.problems.end(), [&](const HostProblem& problem) {
          return problem.path == entry.path;
        })) << entry.path;
      }
      tests::write_entry(folder.path(), entry);
    }
    EXPECT_EQ(read_host(options), whole);
  }
}

/// Every file spoilt in turn.
TEST(HostFacts, EveryPieceMayBeSpoilt) {
  const std::vector<std::string> values{"",
                                        "-1",
                                        "99999999999999999999999999",
                                        std::string("\0\xff\x80", 3),
                                        std::string(70'000, 'A'),
                                        "%s%n\x1b[2J",
                                        "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffg",
                                        "Device: \nINGRESS priority mappings: 9:9 a:b :\n VID: 5000"};
  for (const std::string& name : tests::tree_names()) {
    const TemporaryFolder folder;
    tests::expand_tree(name, folder.path());
    HostOptions options;
    options.root = folder.path().string();
    std::size_t turn = 0;
    for (const tests::TreeEntry& entry : tests::read_tree(name)) {
      std::filesystem::remove(folder.path() / entry.path);
      // Files by turns: all values for every file would take long and teach no more.
      const std::string& value = values[turn++ % values.size()];
      std::ofstream(folder.path() / entry.path, std::ios::binary) << value;
      const HostFacts host = read_host(options);
      EXPECT_LE(host.devices.size(), 2U) << entry.path;
      std::filesystem::remove(folder.path() / entry.path);
      tests::write_entry(folder.path(), entry);
    }
  }
}

/// Folders in place of files and loops in place of folders.
TEST(HostFacts, TreesThatLoop) {
  const TemporaryFolder folder;
  tests::expand_tree("rxe", folder.path());
  const auto device = folder.path() / "sys/class/infiniband/rxe0";
  std::filesystem::remove_all(device / "ports/1/gids");
  std::filesystem::create_directory_symlink(".", device / "ports/1/gids");
  std::filesystem::create_directory_symlink("../..", device / "ports/2");
  std::filesystem::create_directory_symlink("ports", device / "ports/99999999999");
  std::filesystem::create_directory(folder.path() / "sys/class/infiniband/with space");
  std::filesystem::create_directory_symlink("rxe0", folder.path() / "sys/class/infiniband/loop");
  HostOptions options;
  options.root = folder.path().string();
  const HostFacts host = read_host(options);
  EXPECT_EQ(host.devices.size(), 2U);
  EXPECT_FALSE(host.problems.empty());
}

TEST(HostFacts, AnEmptyTree) {
  const TemporaryFolder folder;
  HostOptions options;
  options.root = folder.path().string();
  const HostFacts host = read_host(options);
  EXPECT_TRUE(host.devices.empty());
  EXPECT_TRUE(host.netdevs.empty());
  EXPECT_EQ(host.problems.size(), 1U);  // sys/class/net is everywhere
}

}  // namespace
}  // namespace roce::capture
