// SPDX-License-Identifier: Apache-2.0
// What a capture of a network interface says: names, places in filters, facts, switches. Captures themselves
// are tested in tests/live.
#include <gtest/gtest.h>
#include <linux/ethtool.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "capture/core/rights.hpp"
#include "capture/host/readers.hpp"
#include "capture/network/filter_error_place.hpp"
#include "capture/network/interface_facts.hpp"
#include "capture/network/pcap_device.hpp"

namespace roce::capture::test {
namespace {

TEST(FilterPlace, IsTheFirstWordThatCannotGoOn) {
  // As if only these beginnings made sense.
  const auto goes_on = [](std::string_view beginning) {
    for (const std::string_view good : {"udp", "udp and", "udp and (", "udp and ((", "udp and ((port"}) {
      if (beginning == good) return true;
    }
    return false;
  };
  const auto place = [&](std::string_view filter) {
    const FilterPlace found = find_filter_error(filter, goes_on);
    return std::pair(found.begin, found.size);
  };
  using Pair = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(place("udp prot 4791"), Pair(4, 4));
  EXPECT_EQ(place("udp and ((port"), Pair(14, 0)) << "more is missing";
  EXPECT_EQ(place("udp and ((port)"), Pair(14, 1));
  EXPECT_EQ(place("udp  and"), Pair(5, 3)) << "a sentence with two spaces is another one";
  EXPECT_EQ(place("fe80::1 or"), Pair(0, 7)) << "an address is a word";
  EXPECT_EQ(place(""), Pair(0, 0));
  EXPECT_EQ(place("   "), Pair(3, 0));
}

TEST(FilterPlace, IsMarkedBelowTheFilter) {
  EXPECT_EQ(mark_filter("udp prot 4791", {4, 4}), "  udp prot 4791\n      ^^^^");
  EXPECT_EQ(mark_filter("udp port", {8, 0}), "  udp port\n          ^");
  EXPECT_EQ(mark_filter("a\tb\x1b\xff", {2, 1}), "  a?b??\n    ^");
}

TEST(LinkTypes, AreThoseOfFiles) {
  // tcpdump.org/linktypes.html against the numbers that libpcap has on Linux.
  for (const auto& [dlt, link_type] :
       {std::pair(1, 1), {12, 101}, {11, 100}, {113, 113}, {276, 276}, {247, 247}, {16, 103}}) {
    EXPECT_EQ(link_type_of(dlt), link_type);
  }
}

class Tree {
 public:
  Tree() {
    char name[] = "/tmp/roce-tree-XXXXXX";
    root_ = mkdtemp(name);
  }
  ~Tree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  void file(const std::string& path, std::string_view text) const {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }
  [[nodiscard]] const std::string& root() const { return root_; }

 private:
  std::string root_;
};

TEST(InterfaceFacts, AreWhatTheSystemTells) {
  const Tree tree;
  tree.file("/sys/class/net/eth1/speed", "200000\n");
  tree.file("/sys/class/net/eth1/ifalias", "to leaf 3, port 17\n");
  tree.file("/sys/class/net/eth1/address", "b8:59:9f:00:00:01\n");
  tree.file("/sys/class/net/eth1/device/vendor", "0x15b3\n");
  std::filesystem::create_symlink("../../../bus/pci/drivers/mlx5_core",
                                  tree.root() + "/sys/class/net/eth1/device/driver");
  const InterfaceInfo info = interface_facts("eth1", tree.root());
  EXPECT_EQ(info.name, "eth1");
  EXPECT_EQ(info.speed_bps, 200'000'000'000U);
  EXPECT_EQ(info.description, "to leaf 3, port 17");
  EXPECT_EQ(info.hardware, "mlx5_core");
  EXPECT_EQ(info.operating_system.rfind("Linux ", 0), 0U);
  EXPECT_EQ(ethernet_address("eth1", tree.root()), "b8:59:9f:00:00:01");
}

TEST(InterfaceFacts, WhatIsMissingOrNonsenseStaysUnknown) {
  const Tree tree;
  for (const std::string_view speed : {"-1\n", "4294967295\n", "", "fast", "99999999999999999999999"}) {
    tree.file("/sys/class/net/eth1/speed", speed);
    EXPECT_EQ(interface_facts("eth1", tree.root()).speed_bps, 0U) << speed;
  }
  tree.file("/sys/class/net/eth1/ifalias", std::string(100'000, 'x'));
  EXPECT_LE(interface_facts("eth1", tree.root()).description.size(), 256U);
  tree.file("/sys/class/speed", "1000");
  for (const char* name : {"", ".", "..", "../net/eth1", "eth2"}) {
    EXPECT_EQ(interface_facts(name, tree.root()).speed_bps, 0U);
    EXPECT_EQ(ethernet_address(name, tree.root()), "");
  }
}

/// A driver with flags, as the kernel answers for it.
struct Driver final : KernelQueries {
  explicit Driver(std::vector<std::string> flags = {}, std::uint32_t on = 0, std::uint32_t says = 0,
                  std::uint32_t failing = 0)
      : names(std::move(flags)), values(on), claimed(says), fails(failing) {}

  std::vector<std::string> names;
  std::uint32_t values = 0;
  std::uint32_t claimed = 0;  ///< flags that it says it has; 0: as many as there are
  std::uint32_t fails = 0;    ///< this command

  Expected<std::vector<std::byte>> netlink(int /*family*/, std::span<const std::byte> /*request*/) override {
    ADD_FAILURE() << "netlink was asked";
    return std::vector<std::byte>();
  }
  int ethtool(const std::string& interface, std::span<std::byte> data) override {
    EXPECT_EQ(interface, "eth1");
    std::byte* const memory = data.data();
    std::uint32_t command = 0;
    std::memcpy(&command, memory, sizeof command);
    if (command == fails) return EOPNOTSUPP;
    if (command == ETHTOOL_GSSET_INFO) {
      ethtool_sset_info head{};
      std::memcpy(&head, memory, sizeof head);
      EXPECT_EQ(head.sset_mask, 1U << ETH_SS_PRIV_FLAGS);
      const auto count = claimed != 0 ? claimed : static_cast<std::uint32_t>(names.size());
      if (count == 0) head.sset_mask = 0;
      std::memcpy(memory, &head, sizeof head);
      std::memcpy(memory + sizeof head, &count, sizeof count);
    } else if (command == ETHTOOL_GSTRINGS) {
      ethtool_gstrings head{};
      std::memcpy(&head, memory, sizeof head);
      EXPECT_EQ(head.string_set, static_cast<std::uint32_t>(ETH_SS_PRIV_FLAGS));
      head.len = static_cast<std::uint32_t>(names.size());
      std::memcpy(memory, &head, sizeof head);
      for (std::size_t i = 0; i < names.size(); ++i)
        put_name(data.subspan(sizeof head + i * ETH_GSTRING_LEN), names[i]);
    } else if (command == ETHTOOL_GPFLAGS) {
      ethtool_value head{};
      std::memcpy(&head, memory, sizeof head);
      head.data = values;
      std::memcpy(memory, &head, sizeof head);
    } else {
      ADD_FAILURE() << "command " << command;
    }
    return 0;
  }

 private:
  static void put_name(std::span<std::byte> to, const std::string& name) {
    ASSERT_GE(to.size(), std::size_t{ETH_GSTRING_LEN}) << "the kernel would write behind its room";
    std::memset(to.data(), 0, ETH_GSTRING_LEN);
    std::memcpy(to.data(), name.data(), std::min<std::size_t>(name.size(), ETH_GSTRING_LEN));
  }
};

/// As the driver tells of its switch.
std::optional<bool> flag_of(Driver driver) {
  return sniffer_switch(read_private_flags(driver, "eth1"));
}

TEST(PrivateFlags, AreReadByName) {
  const std::string whole(ETH_GSTRING_LEN, 'f');  // no end in its field
  Driver driver({"rx_cqe_moder", "tx_cqe_moder", whole, "dropless_rq"}, 0b0101);
  const std::vector<HostSetting> expected{
      {"rx_cqe_moder", "on"}, {"tx_cqe_moder", "off"}, {whole, "on"}, {"dropless_rq", "off"}};
  EXPECT_EQ(read_private_flags(driver, "eth1"), expected);
  EXPECT_EQ(sniffer_switch(expected), std::nullopt);
  EXPECT_EQ(flag_of(Driver({"rx_cqe_moder", "sniffer"}, 0b10)), true);
  EXPECT_EQ(flag_of(Driver({"rx_cqe_moder", "sniffer"}, 0b01)), false);
  EXPECT_EQ(flag_of(Driver({"sniff"}, 1)), std::nullopt);
}

TEST(PrivateFlags, DriversThatTellNothingOrTooMuch) {
  for (const int command : {ETHTOOL_GSSET_INFO, ETHTOOL_GSTRINGS, ETHTOOL_GPFLAGS})
    EXPECT_EQ(flag_of(Driver({"sniffer"}, 1, 0, static_cast<std::uint32_t>(command))), std::nullopt);
  EXPECT_EQ(flag_of(Driver()), std::nullopt);
  EXPECT_EQ(flag_of(Driver({"sniffer"}, 1, 4'000'000'000, 0)), std::nullopt);
  // More names than it had said before: the kernel writes all of them.
  std::vector<std::string> many(100, "flag");
  many[1] = "sniffer";
  EXPECT_EQ(flag_of(Driver(many, 2, 3, 0)), true);
  EXPECT_EQ(flag_of(Driver({"a", "sniffer"}, 2, 30, 0)), true);
}

TEST(PrivateFlags, InterfacesThatHaveNone) {
  const std::unique_ptr<KernelQueries> kernel = running_kernel();
  for (const std::string& interface :
       {std::string("lo"), std::string("no-such-interface"), std::string(10'000, 'x')})
    EXPECT_TRUE(read_private_flags(*kernel, interface).empty()) << interface.substr(0, 20);
}

TEST(PrivateFlags, AreExplainedWithTheirCommand) {
  EXPECT_NE(explain_sniffer_switch("eth1", true).find("sudo ethtool --set-priv-flags eth1 sniffer off"),
            std::string::npos);
  EXPECT_NE(explain_sniffer_switch("eth1", false).find("sudo ethtool --set-priv-flags eth1 sniffer on"),
            std::string::npos);
}

TEST(Rights, AreNamedWithACommand) {
  EXPECT_EQ(how_to_allow().find("run it with sudo, or grant the capabilities permanently: sudo setcap "), 0U);
  // As the system itself tells.
  std::ifstream status("/proc/self/status");
  std::uint64_t effective = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("CapEff:", 0) == 0) effective = std::stoull(line.substr(7), nullptr, 16);
  }
  EXPECT_EQ(has_right(Right::net_raw), (effective >> 13U & 1U) != 0);
  EXPECT_EQ(has_right(Right::net_admin), (effective >> 12U & 1U) != 0);
}

TEST(NetworkDevices, AreListedWithLoopback) {
  const auto devices = list_network_devices();
  ASSERT_TRUE(devices.has_value());
  const auto lo = std::find_if(devices->begin(), devices->end(),
                               [](const NetworkDevice& device) { return device.name == "lo"; });
  if (lo == devices->end()) GTEST_SKIP() << "a machine without loopback";
  EXPECT_TRUE(lo->loopback);
  EXPECT_EQ(lo->sniffer_switch, std::nullopt);
}

}  // namespace
}  // namespace roce::capture::test
