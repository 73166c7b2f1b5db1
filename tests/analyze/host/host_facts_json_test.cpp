// SPDX-License-Identifier: Apache-2.0
#include "analyze/host/facts_json.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "capture/host/read_host.hpp"
#include "tests/capture/host/host_fixture.hpp"

namespace roce::analyze {
namespace {

using namespace capture;

constexpr std::int64_t recorded_ns = 1'795'172'933'123'456'789;

/// With everything that only netlink and ethtool tell.
HostFacts full() {
  HostFacts host = tests::host_of("connectx", recorded_ns);
  Netdev& netdev = host.netdevs[1];
  netdev.dcb.known = true;
  DcbPfc pfc;
  pfc.enabled = 0x88;
  pfc.requests[3] = ~std::uint64_t{0};
  netdev.dcb.pfc = pfc;
  netdev.dcb.peer_pfc = DcbPfc{};
  netdev.dcb.ets = DcbEts{};
  netdev.dcb.ets->tc_algorithm[7] = 255;
  netdev.dcb.buffer = DcbBuffer{};
  netdev.dcb.apps = {{5, 26, 3}};
  netdev.dcb.trust = {5, 1};
  netdev.dcb.dcbx = 10;
  netdev.private_flags = {{"sniffer", "on"}};
  netdev.addresses = {{"10.1.0.11", 24}};
  netdev.ethtool = {{"rx_prio3_pause", 17}};
  host.problems = {{"sys/x", "is no \"text\"\n"}};
  host.problems_dropped = 3;
  return host;
}

/// Objects have their keys in an order of their own when they come back.
HostFacts sorted(HostFacts host) {
  const auto by_name = [](const HostCounter& a, const HostCounter& b) { return a.name < b.name; };
  for (RdmaDevice& device : host.devices) {
    for (RdmaPort& port : device.ports) {
      std::sort(port.counters.begin(), port.counters.end(), by_name);
      std::sort(port.hw_counters.begin(), port.hw_counters.end(), by_name);
    }
  }
  for (Netdev& netdev : host.netdevs) {
    std::sort(netdev.counters.begin(), netdev.counters.end(), by_name);
    std::sort(netdev.ethtool.begin(), netdev.ethtool.end(), by_name);
  }
  return host;
}

TEST(HostFactsJson, ThereAndBack) {
  const HostFacts whole = full();
  for (const bool pretty : {false, true}) {
    const auto back = parse_host_facts(host_facts_json(whole, pretty), "f");
    ASSERT_TRUE(back) << back.error().describe();
    EXPECT_TRUE(sorted(*back) == sorted(whole));
  }
  for (const std::string& name : tests::tree_names()) {
    const HostFacts host = tests::host_of(name, recorded_ns);
    const auto back = parse_host_facts(host_facts_json(host, false), "f");
    ASSERT_TRUE(back) << back.error().describe();
    EXPECT_TRUE(sorted(*back) == sorted(host)) << name;
  }
}

TEST(HostFactsJson, DerivedKeys) {
  const auto json = nlohmann::json::parse(host_facts_json(tests::host_of("bnxt_re", recorded_ns), false));
  EXPECT_EQ(json["schema"], "roceanalyze-host/1");
  const auto& port = json["devices"][0]["ports"][0];
  EXPECT_EQ(port["active_mtu"], 1024);
  EXPECT_EQ(port["netdev_mtu"], 1500);
  EXPECT_EQ(port["gids"][3]["ipv4"], "192.168.50.12");
  EXPECT_EQ(port["capture"]["device"], "bnxt_re0:1");
  EXPECT_EQ(json["netdevs"][0]["largest_ib_mtu"], 1024);
}

std::string error_of(const std::string& text) {
  const auto facts = parse_host_facts(text, "f.json");
  return facts ? "none" : facts.error().describe();
}

TEST(HostFactsJson, WrongFilesAreRefusedWithThePlace) {
  EXPECT_EQ(error_of("hello"), "f.json: is not JSON: make a snapshot with roceanalyze host --snapshot FILE");
  EXPECT_EQ(error_of("[1]"), "f.json: an object was expected");
  EXPECT_NE(error_of("{}").find("not a snapshot of a host"), std::string::npos);
  EXPECT_NE(error_of(R"({"schema":"roceanalyze/1"})").find("roceanalyze/1"), std::string::npos);
  const std::string head = R"({"schema":"roceanalyze-host/1",)";
  EXPECT_EQ(error_of(head + R"("devices":[{"ports":[{"number":"1"}]}]})"),
            "f.json: devices[0].ports[0].number: a whole number in range was expected");
  EXPECT_EQ(error_of(head + R"("netdevs":[{"mtu":-1}]})"),
            "f.json: netdevs[0].mtu: a whole number in range was expected");
  EXPECT_EQ(error_of(head + R"("netdevs":[{"mtu":4294967296}]})"),
            "f.json: netdevs[0].mtu: a whole number in range was expected");
  EXPECT_EQ(error_of(head + R"("netdevs":[{"ethtool":{"a":1.5}}]})"),
            "f.json: netdevs[0].ethtool.a: a whole number in range was expected");
  EXPECT_EQ(error_of(head + R"("devices":[{"ports":[{"gids":[{"gid":"x"}]}]}]})"),
            "f.json: devices[0].ports[0].gids[0].gid: a GID was expected");
  EXPECT_EQ(error_of(head + R"("netdevs":[{"dcb":{"ets":{"tc_algorithm":[0,0,0,0,0,0,0,0,0]}}}]})"),
            "f.json: netdevs[0].dcb.ets.tc_algorithm[8]: more than 8 numbers");
  EXPECT_EQ(error_of(head + R"("unknown":[],"time":null,"devices":[]})"), "none");
  const std::string deep = "nest deeper than 64: not a snapshot of a host";
  EXPECT_EQ(error_of(std::string(100'000, '[')), "f.json: line 1, column 65: arrays and objects " + deep);
  std::string objects = R"({"\u00e4\\\"[[": "ä[[{", "x":)";
  for (int i = 0; i < 50'000; ++i) objects += "\n {\"x\":";
  EXPECT_EQ(error_of(objects), "f.json: line 65, column 2: arrays and objects " + deep);
  EXPECT_EQ(error_of(head + R"("unknown":)" + std::string(63, '[') + std::string(63, ']') + "}"), "none");
  EXPECT_EQ(
      error_of(head + R"("unknown":[)" + std::string(63, '[') + std::string(63, ']') + "]}").substr(0, 35),
      "f.json: line 1, column 105: arrays ");
}

TEST(HostFactsJson, CutAnywhereItIsRefused) {
  const std::string whole = host_facts_json(tests::host_of("rxe", recorded_ns), false);
  for (std::size_t i = 0; i + 2 < whole.size(); i += 7)
    EXPECT_FALSE(parse_host_facts(whole.substr(0, i), "f")) << i;
}

TEST(HostFactsJson, FilesThatCannotBeRead) {
  const tests::TemporaryFolder folder;
  EXPECT_EQ(load_host_facts((folder.path() / "none").string()).error().kind, ErrorKind::not_found);
  EXPECT_EQ(load_host_facts(folder.path().string()).error().kind, ErrorKind::not_readable);
}

}  // namespace
}  // namespace roce::analyze
