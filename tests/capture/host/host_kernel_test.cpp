// SPDX-License-Identifier: Apache-2.0
// Netlink and ethtool: recorded answers, answers cut anywhere, and the running kernel itself.
#include "capture/host/kernel.hpp"

#include <gtest/gtest.h>
#include <linux/dcbnl.h>
#include <linux/ethtool.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <numeric>

#include "capture/host/read_host.hpp"
#include "capture/host/readers.hpp"
#include "tests/capture/host/host_fixture.hpp"

namespace roce::capture {
namespace {

using Buffer = std::vector<std::byte>;

template <class Pod>
Buffer bytes_of(const Pod& pod) {
  Buffer out(sizeof pod);
  std::memcpy(out.data(), &pod, sizeof pod);
  return out;
}
Buffer text(const std::string& value) {
  Buffer out(value.size() + 1);
  std::memcpy(out.data(), value.c_str(), out.size());
  return out;
}
Buffer operator+(Buffer a, const Buffer& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}
Buffer padded(Buffer bytes) {
  bytes.resize((bytes.size() + 3) & ~std::size_t{3});
  return bytes;
}
Buffer attribute(std::uint16_t type, const Buffer& payload) {
  nlattr head{};
  head.nla_type = type;
  head.nla_len = static_cast<std::uint16_t>(sizeof head + payload.size());
  return padded(bytes_of(head) + payload);
}
Buffer message(std::uint16_t type, const Buffer& payload) {
  nlmsghdr head{};
  head.nlmsg_type = type;
  head.nlmsg_len = static_cast<std::uint32_t>(sizeof head + payload.size());
  return padded(bytes_of(head) + payload);
}

/// A recorded kernel.
class StandIn final : public KernelQueries {
 public:
  Expected<Buffer> netlink(int family, std::span<const std::byte> request) override {
    EXPECT_EQ(family, NETLINK_ROUTE);
    nlmsghdr head{};
    EXPECT_GE(request.size(), sizeof head);
    std::memcpy(&head, request.data(), sizeof head);
    EXPECT_EQ(head.nlmsg_len, request.size());
    if (const auto found = answers.find(head.nlmsg_type); found != answers.end()) return found->second;
    return tl::unexpected(
        Error{ErrorKind::unsupported, "netlink", std::nullopt, "Operation not supported", EOPNOTSUPP});
  }
  int ethtool(const std::string& interface, std::span<std::byte> data) override {
    if (interface != "eth0") return EOPNOTSUPP;
    std::uint32_t command = 0;
    std::memcpy(&command, data.data(), sizeof command);
    const auto put = [&](std::size_t offset, const void* from, std::size_t size) {
      ASSERT_LE(offset + size, data.size());
      std::memcpy(data.data() + offset, from, size);
    };
    if (command == ETHTOOL_GDRVINFO) {
      ethtool_drvinfo told{};
      std::strcpy(told.driver, "mlx5_core");
      std::strcpy(told.fw_version, "28.39.1002 (MT_0000000838)");
      std::memset(told.version, 'v', sizeof told.version);  // without an end
      put(0, &told, sizeof told);
      return 0;
    }
    if (command == ETHTOOL_GSSET_INFO) {
      ethtool_sset_info told{};
      std::memcpy(&told, data.data(), sizeof told);
      const bool flags = told.sset_mask == std::uint64_t{1} << ETH_SS_PRIV_FLAGS;
      const auto count = static_cast<std::uint32_t>(flags ? flag_names.size() : claimed_statistics);
      put(sizeof told, &count, sizeof count);
      return 0;
    }
    if (command == ETHTOOL_GSTRINGS) {
      ethtool_gstrings told{};
      std::memcpy(&told, data.data(), sizeof told);
      const auto& names = told.string_set == ETH_SS_PRIV_FLAGS ? flag_names : statistic_names;
      told.len = std::min<std::uint32_t>(told.len, static_cast<std::uint32_t>(names.size()));
      put(0, &told, sizeof told);
      for (std::size_t i = 0; i < told.len; ++i)
        put(sizeof told + i * ETH_GSTRING_LEN, names[i].c_str(), names[i].size() + 1);
      return 0;
    }
    if (command == ETHTOOL_GPFLAGS) {
      const ethtool_value told{command, 2};
      put(0, &told, sizeof told);
      return 0;
    }
    if (command == ETHTOOL_GSTATS) {
      for (std::uint64_t i = 0; i < statistic_names.size(); ++i) {
        const std::uint64_t value = 100 + i;
        put(sizeof(ethtool_stats) + i * sizeof value, &value, sizeof value);
      }
      return 0;
    }
    return EOPNOTSUPP;
  }

  std::map<std::uint16_t, Buffer> answers;
  std::vector<std::string> flag_names{"rx_cqe_moder", "sniffer"};
  std::vector<std::string> statistic_names{"rx_prio3_pause",          "rx0_packets",      "[1]: rx_bytes",
                                           "tx_prio3_pause_duration", "rx_queue_0_drops", "rx_discards_phy"};
  std::size_t claimed_statistics = statistic_names.size();
};

Buffer dcb_answer() {
  ieee_pfc pfc{};
  pfc.pfc_cap = 8;
  pfc.pfc_en = 1U << 3U;
  pfc.delay = 7;
  pfc.requests[3] = 12;
  pfc.indications[3] = 34;
  ieee_ets ets{};
  ets.willing = 1;
  ets.ets_cap = 8;
  for (std::uint8_t i = 0; i < 8; ++i) ets.prio_tc[i] = i;
  ets.tc_tx_bw[3] = 50;
  ets.tc_tsa[3] = IEEE_8021QAZ_TSA_ETS;
  dcbnl_buffer buffer{};
  buffer.prio2buffer[3] = 1;
  buffer.buffer_size[1] = 262'016;
  buffer.total_size = 524'032;
  const dcb_app dscp{5, 3, 26}, type{1, 5, 0x8915};
  const Buffer apps =
      attribute(DCB_ATTR_IEEE_APP, bytes_of(dscp)) + attribute(DCB_ATTR_IEEE_APP, bytes_of(type));
  constexpr std::uint16_t nested = 0x8000, trust_table = 11;
  const Buffer ieee =
      attribute(DCB_ATTR_IEEE_ETS, bytes_of(ets)) + attribute(DCB_ATTR_IEEE_PFC, bytes_of(pfc)) +
      attribute(DCB_ATTR_DCB_BUFFER, bytes_of(buffer)) + attribute(DCB_ATTR_IEEE_APP_TABLE | nested, apps) +
      attribute(trust_table | nested,
                attribute(1, Buffer{std::byte{5}}) + attribute(1, Buffer{std::byte{1}})) +
      attribute(DCB_ATTR_IEEE_PEER_PFC, bytes_of(pfc));
  return message(RTM_GETDCB, bytes_of(dcbmsg{AF_UNSPEC, DCB_CMD_IEEE_GET, 0}) +
                                 attribute(DCB_ATTR_IFNAME, text("eth0")) +
                                 attribute(DCB_ATTR_IEEE | nested, ieee) +
                                 attribute(DCB_ATTR_DCBX, Buffer{std::byte{0x0a}}));
}

Buffer link(int index, const std::string& name, const Buffer& more) {
  ifinfomsg head{};
  head.ifi_index = index;
  return message(RTM_NEWLINK, bytes_of(head) + attribute(IFLA_IFNAME, text(name)) +
                                  attribute(IFLA_MTU, bytes_of(std::uint32_t{9000})) +
                                  attribute(IFLA_OPERSTATE, Buffer{std::byte{6}}) + more);
}
Buffer links_answer() {
  const ifla_vlan_qos_mapping mapping{3, 5};
  const Buffer vlan = attribute(IFLA_VLAN_ID, bytes_of(std::uint16_t{100})) +
                      attribute(IFLA_VLAN_EGRESS_QOS, attribute(IFLA_VLAN_QOS_MAPPING, bytes_of(mapping)));
  const Buffer bond = attribute(IFLA_BOND_MODE, Buffer{std::byte{4}}) +
                      attribute(IFLA_BOND_XMIT_HASH_POLICY, Buffer{std::byte{1}});
  return link(2, "eth0", attribute(IFLA_MASTER, bytes_of(std::uint32_t{3}))) +
         link(3, "bond0",
              attribute(IFLA_LINKINFO,
                        attribute(IFLA_INFO_KIND, text("bond")) + attribute(IFLA_INFO_DATA, bond))) +
         link(4, "bond0.100",
              attribute(IFLA_LINK, bytes_of(std::uint32_t{3})) +
                  attribute(IFLA_LINKINFO,
                            attribute(IFLA_INFO_KIND, text("vlan")) + attribute(IFLA_INFO_DATA, vlan)));
}
Buffer addresses_answer() {
  ifaddrmsg head{};
  head.ifa_family = AF_INET;
  head.ifa_prefixlen = 24;
  head.ifa_index = 4;
  return message(RTM_NEWADDR, bytes_of(head) + attribute(IFA_LOCAL, Buffer{std::byte{10}, std::byte{0},
                                                                           std::byte{0}, std::byte{7}}));
}

TEST(HostKernel, Dcb) {
  StandIn kernel;
  kernel.answers[RTM_GETDCB] = dcb_answer();
  HostTree tree("/");
  const DcbFacts dcb = read_dcb(kernel, tree, "eth0");
  ASSERT_TRUE(dcb.known);
  ASSERT_TRUE(dcb.pfc);
  EXPECT_EQ(dcb.pfc->enabled, 1U << 3U);
  EXPECT_EQ(dcb.pfc->requests[3], 12U);
  EXPECT_EQ(dcb.pfc->indications[3], 34U);
  ASSERT_TRUE(dcb.ets);
  EXPECT_TRUE(dcb.ets->willing);
  EXPECT_EQ(dcb.ets->tc_bandwidth[3], 50U);
  EXPECT_EQ(dcb.ets->priority_tc[7], 7U);
  EXPECT_EQ(dcb.apps, (std::vector<DcbApp>{{5, 26, 3}, {1, 0x8915, 5}}));
  EXPECT_EQ(dcb.trust, (std::vector<unsigned>{5, 1}));
  ASSERT_TRUE(dcb.buffer);
  EXPECT_EQ(dcb.buffer->bytes[1], 262'016U);
  EXPECT_EQ(dcb.dcbx, 0x0a);
  EXPECT_TRUE(dcb.peer_pfc);
  EXPECT_FALSE(dcb.peer_ets);
}

TEST(HostKernel, DriversWithoutDcbAreNoProblem) {
  StandIn kernel;
  HostTree tree("/");
  const DcbFacts dcb = read_dcb(kernel, tree, "eth0");
  EXPECT_FALSE(dcb.known);
  EXPECT_EQ(dcb.reason, "its driver has no DCB");
  EXPECT_TRUE(tree.problems().empty());
}

TEST(HostKernel, LinksAndAddresses) {
  StandIn kernel;
  kernel.answers[RTM_GETLINK] = links_answer();
  kernel.answers[RTM_GETADDR] = addresses_answer();
  HostTree tree("/");
  std::vector<Netdev> netdevs(1);
  netdevs[0].name = "eth0";
  netdevs[0].mtu = 1500;  // what sysfs said stays
  add_links(kernel, tree, netdevs);
  ASSERT_EQ(netdevs.size(), 3U);
  EXPECT_EQ(netdevs[0].mtu, 1500U);
  EXPECT_EQ(netdevs[0].oper_state, "up");
  EXPECT_EQ(netdevs[0].master, "bond0");
  ASSERT_TRUE(netdevs[1].bond);
  EXPECT_EQ(netdevs[1].bond->mode, "802.3ad");
  EXPECT_EQ(netdevs[1].bond->hash_policy, "layer3+4");
  EXPECT_EQ(netdevs[1].bond->slaves, (std::vector<std::string>{"eth0"}));
  ASSERT_TRUE(netdevs[2].vlan);
  EXPECT_EQ(netdevs[2].vlan->id, 100U);
  EXPECT_EQ(netdevs[2].vlan->parent, "bond0");
  EXPECT_EQ(netdevs[2].vlan->egress, (std::vector<PriorityPair>{{3, 5}}));
  EXPECT_EQ(netdevs[2].addresses, (std::vector<InterfaceAddress>{{"10.0.0.7", 24}}));
}

TEST(HostKernel, Ethtool) {
  StandIn kernel;
  HostTree tree("/");
  Netdev netdev;
  netdev.name = "eth0";
  add_ethtool(kernel, tree, netdev);
  EXPECT_EQ(netdev.driver, "mlx5_core");
  EXPECT_EQ(netdev.firmware, "28.39.1002 (MT_0000000838)");
  EXPECT_EQ(netdev.driver_version, std::string(32, 'v'));
  EXPECT_EQ(netdev.private_flags, (std::vector<HostSetting>{{"rx_cqe_moder", "off"}, {"sniffer", "on"}}));
  // Not those of single queues.
  EXPECT_EQ(netdev.ethtool,
            (std::vector<HostCounter>{
                {"rx_prio3_pause", 100}, {"tx_prio3_pause_duration", 103}, {"rx_discards_phy", 105}}));
  EXPECT_TRUE(tree.problems().empty());
}

TEST(HostKernel, StatisticsThatLie) {
  for (const std::size_t claimed : {std::size_t{7}, std::size_t{60'000}, std::size_t{0xffffffff}}) {
    StandIn kernel;
    kernel.claimed_statistics = claimed;
    HostTree tree("/");
    Netdev netdev;
    netdev.name = "eth0";
    add_ethtool(kernel, tree, netdev);
    EXPECT_TRUE(netdev.ethtool.empty()) << claimed;
    EXPECT_EQ(tree.problems().size(), 1U) << claimed;
  }
}

/// Cut anywhere, and with every byte overwritten: no reading beyond, no end without one.
TEST(HostKernel, AnswersMayBeCutAndSpoilt) {
  const std::map<std::uint16_t, Buffer> whole{
      {RTM_GETDCB, dcb_answer()}, {RTM_GETLINK, links_answer()}, {RTM_GETADDR, addresses_answer()}};
  const auto read = [&](const std::map<std::uint16_t, Buffer>& answers) {
    StandIn kernel;
    kernel.answers = answers;
    HostTree tree("/");
    std::vector<Netdev> netdevs;
    add_links(kernel, tree, netdevs);
    (void)read_dcb(kernel, tree, "eth0");
    EXPECT_LE(netdevs.size(), 3U);
  };
  for (const auto& [type, answer] : whole) {
    for (std::size_t i = 0; i <= answer.size(); ++i) {
      auto cut = whole;
      // In a buffer of its own, so that sanitizers see a step beyond it.
      cut[type] = Buffer(answer.begin(), answer.begin() + static_cast<std::ptrdiff_t>(i));
      read(cut);
    }
    for (std::size_t i = 0; i < answer.size(); ++i) {
      for (const unsigned value : {0U, 1U, 0xffU, 0x7fU}) {
        auto spoilt = whole;
        spoilt[type][i] = static_cast<std::byte>(value);
        read(spoilt);
      }
    }
  }
}

/// The kernel that runs, against iproute2.
TEST(HostKernel, TheRunningKernelSaysWhatIpSays) {
  std::FILE* ip = ::popen("ip -o link show 2>/dev/null", "r");
  ASSERT_NE(ip, nullptr);
  std::map<std::string, unsigned> mtus;
  char line[4096];
  while (std::fgets(line, sizeof line, ip) != nullptr) {
    char name[64] = "";
    unsigned mtu = 0;
    const char* at = std::strstr(line, " mtu ");
    if (at != nullptr && std::sscanf(line, "%*u: %63[^:@]", name) == 1 &&
        std::sscanf(at, " mtu %u", &mtu) == 1)
      mtus[name] = mtu;
  }
  if (::pclose(ip) != 0 || mtus.empty()) GTEST_SKIP() << "no ip (iproute2) here, or no interfaces";
  const auto kernel = running_kernel();
  HostTree tree("/");
  std::vector<Netdev> netdevs;
  add_links(*kernel, tree, netdevs);
  EXPECT_TRUE(tree.problems().empty());
  std::map<std::string, unsigned> told;
  for (const Netdev& netdev : netdevs) told[netdev.name] = netdev.mtu.value_or(0);
  EXPECT_EQ(told, mtus);
}

TEST(HostKernel, TheLoopbackHasNoDcb) {
  const auto kernel = running_kernel();
  HostTree tree("/");
  const DcbFacts dcb = read_dcb(*kernel, tree, "lo");
  EXPECT_FALSE(dcb.known);
  EXPECT_FALSE(dcb.reason.empty());
  EXPECT_FALSE(read_dcb(*kernel, tree, "none_such_if").known);
  Buffer no_data(4);
  EXPECT_EQ(kernel->ethtool("a_name_that_is_too_long_for_an_interface", no_data), ENODEV);
}

}  // namespace
}  // namespace roce::capture
