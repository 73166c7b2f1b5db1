// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "analyze/report/json/json_report.hpp"
#include "tests/analyze/results/hand_made.hpp"

namespace roce::analyze {
namespace {

using nlohmann::json;

/// What a function that writes JSON writes, taken out piece by piece.
template <class Write>
json parsed(Write&& write) {
  std::string piece, whole;
  const auto take = [&] {
    whole += piece;
    piece.clear();
  };
  write({piece, take});
  take();
  return json::parse(whole);
}

json report_of(const Snapshot& snapshot, bool pretty = false) {
  return parsed([&](const ReportSink& sink) { report_json(snapshot, pretty, sink); });
}

json made_report() {
  return report_of(hand_made());
}

TEST(ReportJson, every_key_of_a_connection_is_always_there) {
  const json report = made_report();
  ASSERT_EQ(report["connections"].size(), 2U);
  for (const json& c : report["connections"]) {
    for (const char* key : {"id",
                            "service",
                            "a",
                            "b",
                            "pairing",
                            "cm",
                            "pmtu",
                            "flows",
                            "naks",
                            "acks",
                            "cnps",
                            "operations",
                            "nak_generation_ns",
                            "nak_reaction_ns",
                            "goodput_bps",
                            "throughput_bps",
                            "state",
                            "sides",
                            "retransmitted",
                            "lost",
                            "read_rerequest_ns",
                            "wasted",
                            "in_flight_max"})
      EXPECT_TRUE(c.contains(key)) << key;
    for (const char* kind : {"send", "write", "read", "atomic", "flush", "atomic_write"}) {
      const json& operation = c["operations"][kind];
      for (const char* key : {"count", "min", "p50", "p90", "p99", "max"})
        EXPECT_TRUE(operation["latency_ns"].at(key).is_number()) << kind << ' ' << key;
    }
    EXPECT_EQ(c["sides"].size(), 2U);
  }
}

TEST(ReportJson, a_connection_by_its_figures) {
  const json report = made_report();
  const json& c = report["connections"][0];
  EXPECT_EQ(c["a"], (json{{"address", "10.0.0.1"}, {"qp", 0x11}}));
  EXPECT_EQ(c["pairing"]["evidence"], (json{"cm", "nak"}));
  EXPECT_EQ(c["pairing"]["confidence"], 0.875);
  EXPECT_EQ(c["pairing"]["ambiguous"], false);
  EXPECT_EQ(c["pairing"]["answered"], 190);
  EXPECT_EQ(c["cm"]["service_name"], "NVMe-oF");
  EXPECT_EQ(c["cm"]["a_psn"], 111);  // a is the server
  EXPECT_EQ(c["cm"]["b_psn"], 222);
  EXPECT_EQ(c["cm"]["client"], "b");
  EXPECT_EQ(c["cm"]["ack_timeout_ns"], 4096 << 14);
  EXPECT_EQ(c["cm"]["connect_ns"], 3'000'000);
  EXPECT_EQ(c["cm"]["reject_reason"], nullptr);
  EXPECT_EQ(c["flows"], (json{0, 1}));
  EXPECT_EQ(c["naks"], (json{{"sequence_error", 9},
                             {"invalid_request", 0},
                             {"remote_access_error", 1},
                             {"remote_operational_error", 0},
                             {"invalid_rd_request", 0},
                             {"rnr", 2}}));
  EXPECT_EQ(c["retransmitted"]["packets"], 9);
  EXPECT_EQ(
      c["lost"],
      (json{
          {"before_capture", 3}, {"after_capture", 6}, {"by_capture", 1}, {"trimmed", 0}, {"undecided", 0}}));
  EXPECT_EQ(c["operations"]["write"]["count"], 100);
  EXPECT_EQ(c["operations"]["write"]["latency_ns"]["max"], 100'000);
  EXPECT_EQ(c["nak_generation_ns"]["count"], 1);
  EXPECT_EQ(c["goodput_bps"], 8'000'000);
  EXPECT_EQ(c["state"], "open");
  const json& a = c["sides"][0];
  EXPECT_EQ(a["worst_retry_chain"]["resends"], 3);
  EXPECT_EQ(a["rnr"]["coded_wait_ns"], 640'000);
  EXPECT_EQ(a["refused"][0]["virtual_address"], 0x7f0000001000);
  EXPECT_EQ(a["events"]["lost_before_capture"]["packets"], (json{77}));
  EXPECT_EQ(c["sides"][1]["rnr"], nullptr);
}

TEST(ReportJson, an_unknown_queue_pair_and_a_missing_exchange_are_null) {
  const json report = made_report();
  const json& c = report["connections"][1];
  EXPECT_EQ(c["a"]["qp"], nullptr);
  EXPECT_EQ(c["cm"], nullptr);
  EXPECT_EQ(c["pmtu"], nullptr);
  EXPECT_EQ(c["flows"], (json{2}));
  EXPECT_EQ(c["pairing"]["evidence"], json::array());
  EXPECT_EQ(c["state"], "half_seen");
}

TEST(ReportJson, flows_say_what_became_of_their_packets) {
  const json report = made_report();
  const json& f = report["flows"][0];
  EXPECT_EQ(f["connection"], 0);
  EXPECT_EQ(f["retransmitted"], (json{{"packets", 9},
                                      {"bytes", 9900},
                                      {"nak", 7},
                                      {"timeout", 2},
                                      {"rnr", 0},
                                      {"read_retry", 0},
                                      {"unknown", 0}}));
  EXPECT_EQ(f["spurious"], 1);
  EXPECT_EQ(f["out_of_order"], 4);
  EXPECT_EQ(f["duplicate_captures"], 5);
  EXPECT_EQ(report["flows"][3]["connection"], nullptr);
  EXPECT_EQ(report["flows"][3]["lost"]["before_capture"], 0);
}

TEST(ReportJson, exchanges_series_and_findings) {
  Snapshot snapshot = hand_made();
  Finding finding;
  finding.id = "loss_before_capture";
  finding.severity = Severity::warning;
  finding.title = "Packets lost";
  finding.subject = "connection 0";
  finding.count = 3;
  finding.packets = {77, 80};
  finding.confidence = 0.5;
  finding.explanation = "3 were lost";
  finding.advice = "look at the switch";
  finding.connections = {0};
  snapshot.findings.push_back(finding);
  snapshot.findings_dropped = 2;
  const json report = report_of(snapshot, true);
  const json& cm = report["cm_exchanges"][0];
  EXPECT_EQ(cm["state"], "established");
  EXPECT_EQ(cm["client"]["qp"], 0x22);
  EXPECT_EQ(cm["messages"]["req"]["packet"], 10);
  EXPECT_EQ(cm["messages"]["rej"], nullptr);
  EXPECT_EQ(cm["connections"], (json{0}));
  EXPECT_EQ(report["series"]["packets"].size(), report["series"]["retransmitted"].size());
  EXPECT_EQ(report["series"]["packets"][0], 11);
  EXPECT_EQ(report["series"]["retransmitted"].back(), 9);
  const json& f = report["findings"][0];
  EXPECT_EQ(f["severity"], "warning");
  EXPECT_EQ(f["packets"], (json{77, 80}));
  EXPECT_EQ(f["first_time"], nullptr);
  EXPECT_EQ(report["findings_dropped"], 2);
}

TEST(ReportJson, tables_list_what_is_asked_for) {
  const Snapshot snapshot = hand_made();
  const json sorted = parsed([&](const ReportSink& sink) {
    connections_json(snapshot, {"b_qp", false, 1}, false, sink);
  });
  ASSERT_EQ(sorted["connections"].size(), 1U);
  EXPECT_EQ(sorted["connections"][0]["id"], 1);
}

}  // namespace
}  // namespace roce::analyze
