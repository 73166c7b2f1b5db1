// SPDX-License-Identifier: Apache-2.0
// Pauses and DCBX in the report, as text and as JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "analyze/report/json/json_report.hpp"
#include "cli/report/report.hpp"
#include "tests/analyze/link/link_capture.hpp"

namespace roce::cli {
namespace {

using nlohmann::json;
using namespace roce::analyze;

json json_of(const Snapshot& snapshot) {
  std::string text;
  report_json(snapshot, false, {text});
  return json::parse(text);
}

/// A link of 1 ms: 200 µs paused, one refresh, an XON too many, and two packets that came meanwhile.
void pause(Link& link) {
  link.at(0, pfc(host_mac, {{3, 65535}})).at(100 * us, pfc(host_mac, {{3, 65535}}));
  link.at(150 * us, tagged_roce(host_mac, switch_mac, 3)).at(160 * us, plain_roce(host_mac, switch_mac, 104));
  link.at(200 * us, pfc(host_mac, {{3, 0}})).at(300 * us, pfc(host_mac, {{3, 0}}));
  link.at(1000 * us, tagged_roce(host_mac, switch_mac, 3));
}

TEST(ReportLinks, PausesAsJson) {
  Link link;
  pause(link);
  link.source_.interfaces_[0].name = "tap0";
  const json congestion = json_of(link.look())["congestion"];
  ASSERT_EQ(congestion["pause"].size(), 1U);
  const json& row = congestion["pause"][0];
  const json want = {{"port", "02:00:00:00:00:01"},
                     {"kind", "pfc"},
                     {"priority", 3},
                     {"point", 0},
                     {"interface", "tap0"},
                     {"link_speed_bps", 100'000'000'000},
                     {"xoff", 2},
                     {"xon", 2},
                     {"pauses", 1},
                     {"refreshed", 1},
                     {"expired", 0},
                     {"needless_xon", 1},
                     {"paused_at_end", false},
                     {"paused_ns", 200'000},
                     {"longest_ns", 200'000},
                     {"duty", 0.2},
                     {"paused_quanta", 39'063},  // 39062.5
                     {"paused_at_least_ns", 200'000},
                     {"longest_packet", 1},
                     {"storms", 0},
                     {"traffic_while_paused", {{"packets", 2}, {"bytes", 128}}},
                     {"watchdog", nullptr},
                     {"first_time", Link::base},
                     {"last_time", Link::base + 300 * us},
                     {"packets", {1, 2}}};
  EXPECT_EQ(row, want);
  ASSERT_EQ(congestion["pause_ports"].size(), 1U);
  EXPECT_EQ(congestion["pause_ports"][0]["frames"], 4);
  EXPECT_EQ(congestion["pause_ports"][0]["faults"]["reserved_bits"], 0);
  EXPECT_TRUE(congestion["pause_mutual"].empty());
  EXPECT_EQ(congestion["pause_storm_ns"], 200'000'000);
  EXPECT_EQ(congestion["pfc_watchdog"], nullptr);
}

TEST(ReportLinks, WatchdogAsJson) {
  Link link;
  link.options_.pfc_watchdog = {150 * us, 400 * us};
  link.at(0, pfc(host_mac, {{3, 65535}})).at(200 * us, pfc(host_mac, {{3, 0}}));
  link.at(ms, tagged_roce(host_mac, switch_mac, 3));
  const json congestion = json_of(link.look())["congestion"];
  EXPECT_EQ(congestion["pfc_watchdog"], (json{{"detection_ns", 150'000}, {"restoration_ns", 400'000}}));
  const json want{{"fires", 1},
                  {"restored", 1},
                  {"held_ns", 450'000},
                  {"held_at_end", false},
                  {"flowed_packets", 0},
                  {"resumed_packets", 0},
                  {"first_time", Link::base + 150 * us},
                  {"last_time", Link::base + 150 * us},
                  {"packets", {1}}};
  EXPECT_EQ(congestion["pause"][0]["watchdog"], want);
}

TEST(ReportLinks, KeysAreThereWithoutPauses) {
  Link link;
  link.at(0, tagged_roce(host_mac, switch_mac, 3));
  const json report = json_of(link.look());
  for (const char* key : {"pause", "pause_ports", "pause_mutual"})
    EXPECT_EQ(report["congestion"][key], json::array()) << key;
  EXPECT_EQ(report["dcbx"], (json{{"ports", json::array()}, {"links", json::array()}}));
}

TEST(ReportLinks, PausesAsText) {
  Link link;
  pause(link);
  const std::string text = report_text(link.look(), {200, false, 20});
  EXPECT_NE(text.find("Pause       4 PAUSE and PFC frames of 1 port\n"), std::string::npos) << text;
  EXPECT_NE(
      text.find("02:00:00:00:00:01, priority 3: 2 XOFF (1 while paused), 2 XON; paused 200 µs (20.0 %), "
                "longest 200 µs; 2 packets sent to it while paused\n"),
      std::string::npos)
      << text;
  EXPECT_EQ(text.find("--link-speed"), std::string::npos);
  Link unknown(0);
  pause(unknown);
  const std::string other = report_text(unknown.look(), {200, false, 20});
  EXPECT_NE(other.find("priority 3: 2 XOFF, 2 XON; paused at most 131070 quanta\n"), std::string::npos)
      << other;
  EXPECT_NE(other.find("set it with --link-speed"), std::string::npos) << other;
}

TEST(ReportLinks, Dcbx) {
  Link link;
  link.at(0, lldp(host_mac, ieee_pfc(true, 0x18) + "0a05 6c65616631"));
  link.at(ms, lldp(switch_mac, ieee_pfc(false, 0x08) + ieee_application(3, 3, 4791)));
  link.at(2 * ms, lldp(host_mac, ieee_pfc(true, 0x08) + "0a05 6c65616631"));
  const json dcbx = json_of(link.look())["dcbx"];
  ASSERT_EQ(dcbx["ports"].size(), 2U);
  const json& host = dcbx["ports"][0];
  EXPECT_EQ(host["system"], "leaf1");
  EXPECT_EQ(host["port"], "eth0");
  EXPECT_EQ(host["frames"], 2);
  EXPECT_EQ(
      host["ieee"]["pfc"],
      (json{{"willing", true}, {"mbc", false}, {"in_use", true}, {"max_classes", 8}, {"enabled", {3}}}));
  EXPECT_TRUE(host["ieee"]["ets"].is_null());
  EXPECT_TRUE(host["cee"].is_null());
  EXPECT_EQ(host["changes"], (json{{{"packet", 3},
                                    {"time", Link::base + 2 * ms},
                                    {"what", "IEEE PFC: 3, 4 willing -> 3 willing"}}}));
  EXPECT_EQ(dcbx["ports"][1]["ieee"]["applications"],
            (json{{{"selector", "udp"}, {"protocol", 4791}, {"roce", true}, {"priorities", {3}}}}));
  EXPECT_EQ(dcbx["links"], (json{{{"a", 0}, {"b", 1}, {"pfc_winner", "same"}}}));
  const std::string text = report_text(link.look(), {200, false, 20});
  EXPECT_NE(text.find("DCBX        2 of 2 ports that send LLDP\n"), std::string::npos) << text;
  EXPECT_NE(text.find("leaf1 eth0 (IEEE): PFC on 3, willing; changed 1 time\n"), std::string::npos) << text;
  EXPECT_NE(text.find("02:00:00:00:00:f1 eth0 (IEEE): PFC on 3; RoCE on 3\n"), std::string::npos) << text;
}

TEST(ReportLinks, EachVersionOfRoceHasItsOwnAnnouncement) {
  Link link;
  link.at(0, lldp(switch_mac, ieee_application(4, 1, 0x8915) + ieee_application(3, 3, 4791)));
  const std::string text = report_text(link.look(), {200, false, 20});
  EXPECT_NE(text.find("no PFC; RoCE on 3; RoCE v1 on 4\n"), std::string::npos) << text;
}

TEST(LinkTables, Pauses) {
  Link link;
  pause(link);
  link.at(1100 * us, global_pause(switch_mac, 10));
  const Snapshot& s = link.look();
  const std::string csv = pauses_csv(s, {});
  const std::string head = csv.substr(0, csv.find("\r\n"));
  EXPECT_EQ(
      head,
      "port,kind,priority,point,interface,link_speed,xoff,xon,pauses,refreshed,expired,needless_xon,paused_"
      "ns,"
      "duty,longest_ns,longest_packet,paused_quanta,paused_at_end,storms,traffic_while_paused,first_packet");
  EXPECT_NE(csv.find("\r\n02:00:00:00:00:01,pfc,3,0,,100000000000,2,2,1,1,0,1,200000,"), std::string::npos)
      << csv;
  EXPECT_NE(csv.find(",200000,1,39063,false,0,2,1\r\n"), std::string::npos) << csv;
  EXPECT_NE(csv.find("\r\n02:00:00:00:00:f1,pause,,0,,"), std::string::npos) << csv;
  Listing listing;
  listing.sort = "xoff";
  listing.reverse = true;
  listing.top = 1;
  std::string text;
  pauses_json(s, listing, false, {text});
  const json object = json::parse(text);
  ASSERT_EQ(object["pause"].size(), 1U);
  EXPECT_EQ(object["pause"][0]["kind"], "pause");
  EXPECT_EQ(object["pause_ports"].size(), 2U);
  const std::string table = pauses_text(s, {}, 200);
  EXPECT_NE(table.find("02:00:00:00:00:01  pfc"), std::string::npos) << table;
  Link unknown(0);  // nothing is said of times
  pause(unknown);
  EXPECT_NE(pauses_csv(unknown.look(), {}).find(",pfc,3,0,,,2,2,,,,,,,,1,131070,,0,,1\r\n"),
            std::string::npos)
      << pauses_csv(unknown.look(), {});
}

TEST(LinkTables, Dcbx) {
  Link link;
  link.at(0, lldp(host_mac, ieee_pfc(true, 0x18) + "0a05 6c651b6631"));  // an escape character in its name
  link.at(ms, lldp(switch_mac, ieee_pfc(false, 0) + ieee_application(4, 1, 0x8915) +
                                   ieee_application(3, 3, 4791) + ieee_application(3, 5, 26)));
  link.at(2 * ms, lldp("0200000000aa", ""));
  const Snapshot& s = link.look();
  const std::string csv = dcbx_csv(s, {});
  const std::string head = csv.substr(0, csv.find("\r\n"));
  EXPECT_EQ(head,
            "port,point,system,port_id,chassis,description,version,pfc,pfc_willing,pfc_in_use,pfc_max_"
            "classes,roce_v2,"
            "roce_v1,applications,ets_class,ets_bandwidth,ttl,frames,changed,first_packet");
  EXPECT_EQ(csv.find('\x1b'), std::string::npos);
  EXPECT_NE(csv.find(",ieee,3 4,true,true,8,,,,,,120,1,0,1\r\n"), std::string::npos) << csv;
  EXPECT_NE(
      csv.find(",ieee,none,false,true,8,3,4,ethertype 0x8915: 4; udp 4791: 3; dscp 26: 3,,,120,1,0,2\r\n"),
      std::string::npos)
      << csv;
  EXPECT_NE(csv.find(",,,,,,,,,,,120,1,0,3\r\n"), std::string::npos) << csv;
  EXPECT_NE(dcbx_text(s, {}, 200).find("3 4"), std::string::npos);
  std::string text;
  dcbx_json(s, {}, false, {text});
  EXPECT_EQ(json::parse(text)["dcbx"]["ports"].size(), 3U);
}

}  // namespace
}  // namespace roce::cli
