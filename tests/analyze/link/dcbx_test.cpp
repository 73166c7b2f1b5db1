// SPDX-License-Identifier: Apache-2.0
// What LLDP frames announce, from frames written out as bytes after IEEE 802.1Q, Annex D, and DCBX 1.01.
#include "analyze/link/dcbx.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "analyze/pipeline/analysis.hpp"
#include "tests/analyze/link/link_frames.hpp"
#include "tests/analyze/pipeline/memory_source.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t base = 1'795'171'301'000'000'000;
constexpr std::int64_t second = 1'000'000'000;

DcbxTable table_of(const std::vector<std::vector<std::uint8_t>>& frames) {
  MemorySource source;
  for (std::size_t i = 0; i < frames.size(); ++i)
    source.add(frames[i], base + static_cast<std::int64_t>(i) * second);
  AnalysisOptions options;
  options.jobs = 1;
  return analyze(source, options)->dcbx;
}

const std::string cee =
    "fe3d 001b21 02"
    "020a 00 00 00000005 00000004"                       // control
    "0411 00 00 c0 00 01230000 0a5a000000000000 02"      // groups: enabled, willing
    "0606 00 00 80 00 08 02"                             // PFC: enabled, priority 3
    "0810 00 00 c0 00 8915 00 1b21 08 12b7 01 1b21 10";  // RoCE v1 on 3, UDP or TCP 4791 on 4

TEST(Dcbx, Ieee) {
  const DcbxTable table = table_of(
      {lldp(host_mac, ieee_ets(true, "00110022", "0a141e2800000000") + ieee_pfc(true, 0x08) +
                          ieee_application(3, 3, 4791) + ieee_application(3, 5, 26) + "0a05 6c65616631")});
  ASSERT_EQ(table.ports.size(), 1U);
  const DcbxPort& port = table.ports[0];
  EXPECT_EQ(port.mac, 0x020000000001U);
  EXPECT_EQ(port.chassis, "02:00:00:00:00:01");
  EXPECT_EQ(port.port, "eth0");
  EXPECT_EQ(port.system, "leaf1");
  EXPECT_EQ(port.ttl, 120U);
  ASSERT_TRUE(port.ieee.ets);
  EXPECT_TRUE(port.ieee.ets->willing);
  EXPECT_EQ(port.ieee.ets->class_of, (std::array<std::uint8_t, 8>{0, 0, 1, 1, 0, 0, 2, 2}));
  EXPECT_EQ(port.ieee.ets->bandwidth, (std::array<std::uint8_t, 8>{10, 20, 30, 40, 0, 0, 0, 0}));
  EXPECT_EQ(port.ieee.ets->selection[7], 2U);
  ASSERT_TRUE(port.ieee.pfc);
  EXPECT_TRUE(port.ieee.pfc->willing);
  EXPECT_EQ(port.ieee.pfc->max_classes, 8U);
  EXPECT_EQ(port.ieee.pfc->enabled, 0x08U);
  EXPECT_EQ(announced_roce_priorities(port.settings()), 0x08U);
  EXPECT_EQ(with_announced_dscps({}, port.settings()).by_dscp[26], 3U);
  EXPECT_FALSE(port.cee.any());
  EXPECT_FALSE(port.incomplete);
}

TEST(Dcbx, Cee) {
  const DcbxTable table = table_of({lldp(host_mac, cee)});
  ASSERT_EQ(table.ports.size(), 1U);
  const DcbxSettings& settings = table.ports[0].settings();
  ASSERT_TRUE(settings.ets);
  EXPECT_TRUE(settings.ets->willing);
  EXPECT_EQ(settings.ets->class_of[3], 3U);
  EXPECT_EQ(settings.ets->bandwidth[1], 90U);
  ASSERT_TRUE(settings.pfc);
  EXPECT_FALSE(settings.pfc->willing);
  EXPECT_TRUE(settings.pfc->in_use);
  EXPECT_EQ(settings.pfc->enabled, 0x08U);
  EXPECT_EQ(announced_roce_priorities(settings), 0x18U);
}

TEST(Dcbx, ChangesAreToldWithTheirPacket) {
  const DcbxTable table =
      table_of({lldp(host_mac, ieee_pfc(true, 0)), lldp(host_mac, ieee_pfc(true, 0)),
                lldp(host_mac, ieee_pfc(true, 0x08)), lldp(host_mac, ieee_pfc(false, 0x08))});
  ASSERT_EQ(table.ports.size(), 1U);
  const DcbxPort& port = table.ports[0];
  EXPECT_EQ(port.frames.count, 4U);
  EXPECT_EQ(port.changed, 2U);
  ASSERT_EQ(port.changes.size(), 2U);
  EXPECT_EQ(port.changes[0].packet, 3U);
  EXPECT_EQ(port.changes[0].what, "IEEE PFC: none willing -> 3 willing");
  EXPECT_EQ(port.changes[1].what, "IEEE PFC: 3 willing -> 3");
  EXPECT_EQ(port.last_change_packet, 4U);
}

TEST(Dcbx, WhatIsWithdrawnOrCutStaysKnown) {
  std::vector<std::uint8_t> cut = lldp(host_mac, ieee_pfc(true, 0x18));
  cut.resize(40);  // inside the PFC TLV
  const DcbxTable table = table_of({lldp(host_mac, ieee_pfc(true, 0x08)), cut, lldp(host_mac, "", 0)});
  ASSERT_EQ(table.ports.size(), 1U);
  EXPECT_EQ(table.ports[0].ieee.pfc->enabled, 0x08U);
  EXPECT_EQ(table.ports[0].changed, 0U);
  EXPECT_EQ(table.ports[0].ttl, 0U);
  EXPECT_EQ(table.ports[0].frames.count, 3U);
}

TEST(Dcbx, ChangesKeptAreBounded) {
  std::vector<std::vector<std::uint8_t>> frames;
  for (unsigned i = 0; i < 40; ++i) frames.push_back(lldp(host_mac, ieee_pfc(true, i % 2)));
  const DcbxTable table = table_of(frames);
  EXPECT_EQ(table.ports[0].changed, 39U);
  EXPECT_EQ(table.ports[0].changes.size(), DcbxPort::changes_kept);
}

TEST(Dcbx, PortsAreBounded) {
  std::vector<std::vector<std::uint8_t>> frames;
  for (unsigned i = 0; i < 1030; ++i) frames.push_back(lldp(hex_of(i + 1, 12), ""));
  const DcbxTable table = table_of(frames);
  EXPECT_EQ(table.ports.size(), 1024U);
  EXPECT_EQ(table.dropped_frames, 6U);
}

TEST(Dcbx, TheOnlyTwoPortsOfAPointAreTheEndsOfALink) {
  std::vector<std::vector<std::uint8_t>> frames{lldp(host_mac, ""), lldp(switch_mac, "")};
  ASSERT_EQ(links_of(table_of(frames)).size(), 1U);
  frames.push_back(lldp("0200000000aa", ""));
  EXPECT_TRUE(links_of(table_of(frames)).empty());
  EXPECT_TRUE(links_of(table_of({frames[0]})).empty());
}

/// IEEE 802.1Q, 38.4: the symmetric state machine.
TEST(Dcbx, WhoseFlowControlCounts) {
  const auto pfc = [](bool willing, std::uint8_t enabled) {
    DcbxPfc p;
    p.willing = willing;
    p.enabled = enabled;
    return p;
  };
  using enum DcbxWinner;
  EXPECT_EQ(pfc_winner(pfc(false, 8), 1, pfc(false, 8), 2), same);
  EXPECT_EQ(pfc_winner(pfc(false, 8), 1, pfc(false, 16), 2), neither);
  EXPECT_EQ(pfc_winner(pfc(true, 8), 1, pfc(false, 16), 2), b);
  EXPECT_EQ(pfc_winner(pfc(false, 8), 1, pfc(true, 16), 2), a);
  EXPECT_EQ(pfc_winner(pfc(true, 8), 1, pfc(true, 16), 2), a);  // the lower MAC address
  EXPECT_EQ(pfc_winner(pfc(true, 8), 3, pfc(true, 16), 2), b);
}

TEST(Dcbx, TextsOfPriorities) {
  EXPECT_EQ(priorities_text(0), "none");
  EXPECT_EQ(priorities_text(0x18), "3, 4");
}

}  // namespace
}  // namespace roce::analyze
