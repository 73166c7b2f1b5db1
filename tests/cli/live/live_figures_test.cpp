// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_figures.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "analyze/results/connection_columns.hpp"
#include "capture/core/source.hpp"
#include "cli/live/live_summary.hpp"
#include "tests/analyze/results/hand_made.hpp"

namespace roce::cli {
namespace live_figures_test {
namespace {

using analyze::Snapshot;
using nlohmann::json;

constexpr std::int64_t second = 1'000'000'000;

std::shared_ptr<const Snapshot> sample(const std::string& name) {
  auto source = capture::open_files({std::string(ROCE_SAMPLES) + "/" + name});
  EXPECT_TRUE(source.has_value()) << name;
  return analyze::analyze(**source, {});
}

/// hand_made() some time later: 100 more packets of connection 0, two of them sent again, one more lost.
Snapshot later() {
  Snapshot s = analyze::hand_made();
  s.totals.packets += 100;
  s.totals.roce_packets += 100;
  s.totals.bytes += 110'000;
  s.totals.roce_bytes += 110'000;
  s.connections[0].bytes[0] += 110'000;
  s.connections[0].requester[0].new_bytes += 100'000;
  s.flows[0].sequence_to_change().retransmitted[static_cast<std::size_t>(analyze::Cause::nak)] += 2;
  s.flows[0].sequence_to_change().lost[static_cast<std::size_t>(analyze::Lost::after_capture)] += 1;
  s.series.at(analyze::made_start).goodput_bytes = 100'000;
  return s;
}

TEST(LiveFigures, are_sums_of_the_connections) {
  std::size_t with_losses = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string name = entry.path().filename();
    if (name.find(".pcap") == std::string::npos) continue;
    const std::shared_ptr<const Snapshot> snapshot = sample(name);
    LiveTotals sums;
    bool gave_up = false;
    for (const analyze::ConnectionRow& row : analyze::connection_rows(*snapshot)) {
      sums.goodput_bytes += row.goodput_bytes();
      sums.retransmitted += row.sequence().retransmitted_packets();
      sums.lost += row.lost();
    }
    for (const analyze::Connection& connection : snapshot->connections) {
      for (const analyze::Requester& r : connection.requester)
        gave_up |= r.refused_fatally || r.retries_exhausted || r.rnr_exhausted;
    }
    const LiveTotals totals = LiveTally().add(*snapshot);
    // What turns out never to have been taken counts while it goes on: a counter does not go back.
    if (gave_up) {
      EXPECT_GE(totals.goodput_bytes, sums.goodput_bytes) << name;
    } else {
      EXPECT_EQ(totals.goodput_bytes, sums.goodput_bytes) << name;
    }
    EXPECT_EQ(totals.retransmitted, sums.retransmitted) << name;
    EXPECT_EQ(totals.lost, sums.lost) << name;
    with_losses += sums.lost != 0 ? 1 : 0;
  }
  EXPECT_GT(with_losses, 5U);
}

TEST(LiveFigures, a_reading_says_what_happened_since_the_one_before) {
  LiveMeter meter(5 * second);
  const Snapshot first = analyze::hand_made();
  const LiveMeter::Reading whole = meter.read(first, 7 * second, 10);
  EXPECT_EQ(whole.interval.packets, 1300U);
  EXPECT_EQ(whole.interval_ns, 2 * second);
  ASSERT_EQ(whole.connections.size(), 2U);
  EXPECT_EQ(whole.connections[0].index, 0U);
  EXPECT_EQ(whole.connections[0].retransmitted, 9U);
  EXPECT_EQ(whole.connections[0].lost, 10U);

  const LiveMeter::Reading next = meter.read(later(), 8 * second, 10);
  EXPECT_EQ(next.elapsed_ns, 3 * second);
  EXPECT_EQ(next.interval_ns, second);
  EXPECT_EQ(next.total.packets, 1400U);
  EXPECT_EQ(next.interval.packets, 100U);
  ASSERT_EQ(next.connections.size(), 1U);  // the other one did nothing
  EXPECT_EQ(next.connections[0].bytes, 110'000U);
  EXPECT_EQ(next.connections[0].goodput_bytes, 100'000U);
  EXPECT_EQ(next.connections[0].retransmitted, 2U);
  EXPECT_EQ(next.connections[0].lost, 1U);

  const LiveMeter::Reading idle = meter.read(later(), 9 * second, 10);
  EXPECT_EQ(idle.interval.packets, 0U);
  EXPECT_TRUE(idle.connections.empty());
}

TEST(LiveFigures, totals_never_fall) {
  LiveMeter meter(0);
  (void)meter.read(later(), second, 10);
  const LiveMeter::Reading back = meter.read(analyze::hand_made(), 2 * second, 10);
  EXPECT_EQ(back.total.packets, 1400U);
  EXPECT_EQ(back.interval.packets, 0U);
  EXPECT_TRUE(back.connections.empty());
}

TEST(LiveFigures, what_a_flow_lost_still_counts_when_it_left_the_table) {
  LiveTally tally;
  EXPECT_EQ(tally.add(analyze::hand_made()).lost, 10U);
  Snapshot without = analyze::hand_made();
  without.departed.sequence.lost = without.flows[0].sequence().lost;  // nine
  without.flows.erase(without.flows.begin());
  EXPECT_EQ(tally.add(without).lost, 10U);
  ++without.departed.sequence.lost.front();
  EXPECT_EQ(tally.add(without).lost, 11U);
}

TEST(LiveFigures, a_loss_that_was_none_is_taken_back_until_others_come) {
  LiveTally tally;
  Snapshot snapshot = analyze::hand_made();
  EXPECT_EQ(tally.add(snapshot).lost, 10U);
  snapshot.flows[0].sequence_to_change().lost[static_cast<std::size_t>(analyze::Lost::before_capture)] =
      0;  // three
  EXPECT_EQ(tally.add(snapshot).lost, 10U);
  snapshot.flows[0].sequence_to_change().lost[static_cast<std::size_t>(analyze::Lost::before_capture)] = 4;
  EXPECT_EQ(tally.add(snapshot).lost, 11U);
}

TEST(LiveFigures, a_connection_that_finds_its_other_direction_is_no_new_one) {
  Snapshot apart = analyze::hand_made();
  // As long as they are not paired, the two directions are connections of their own, and others have other
  // ids.
  analyze::Connection other;
  other.id = 1;
  other.flow[0] = apart.connections[0].flow[1];
  other.bytes[0] = apart.connections[0].bytes[1];
  other.packets[0] = apart.connections[0].packets[1];
  apart.connections[0].flow[1].reset();
  apart.connections[0].bytes[1] = 0;
  apart.connections[1].id = 2;
  apart.connections.insert(apart.connections.begin() + 1, std::move(other));
  LiveMeter meter(0);
  (void)meter.read(apart, second, 10);
  EXPECT_TRUE(meter.read(analyze::hand_made(), 2 * second, 10).connections.empty());
}

TEST(LiveFigures, a_clock_that_stands_makes_no_rates) {
  LiveMeter meter(second);
  const LiveMeter::Reading reading = meter.read(analyze::hand_made(), 0, 10);
  EXPECT_EQ(reading.interval_ns, 0);
  EXPECT_EQ(bits_per_second(reading.interval.bytes, reading.interval_ns), 0);
}

TEST(LiveFigures, only_the_worst_connections_are_kept) {
  LiveMeter meter(0);
  const LiveMeter::Reading reading = meter.read(analyze::hand_made(), second, 1);
  ASSERT_EQ(reading.connections.size(), 1U);
  EXPECT_EQ(reading.connections[0].index, 0U);
}

TEST(LiveSummary, is_one_object_on_one_line) {
  LiveMeter meter(0);
  (void)meter.read(analyze::hand_made(), second, 10);
  const Snapshot snapshot = later();
  const std::string text = summary_json(snapshot, meter.read(snapshot, 3 * second, 10), 17 * second);
  EXPECT_EQ(text.find('\n'), text.size() - 1);
  const json summary = json::parse(text);
  EXPECT_EQ(summary["schema"], "roceanalyze/1");
  EXPECT_EQ(summary["final"], false);
  EXPECT_EQ(summary["kind"], "summary");
  EXPECT_EQ(summary["time"], 17 * second);
  EXPECT_EQ(summary["elapsed_ns"], 3 * second);
  EXPECT_EQ(summary["interval_ns"], 2 * second);
  EXPECT_DOUBLE_EQ(summary["throughput_bps"].get<double>(), 8 * 110'000 / 2.0);
  EXPECT_DOUBLE_EQ(summary["goodput_bps"].get<double>(), 8 * 100'000 / 2.0);
  for (const char* part : {"interval", "total"}) {
    for (const LiveCounter& counter : live_counters())
      EXPECT_TRUE(summary[part][std::string(counter.name)].is_number_unsigned()) << part << counter.name;
  }
  EXPECT_EQ(summary["interval"]["packets"], 100);
  EXPECT_EQ(summary["total"]["packets"], 1400);
  EXPECT_EQ(summary["drop_statistics"], false);
  std::uint64_t connections = 0;
  for (const char* state : {"half_seen", "open", "closed", "failed"})
    connections += summary["connections"][state].get<std::uint64_t>();
  EXPECT_EQ(connections, snapshot.connections.size());
  for (const char* severity : {"error", "warning", "notice", "info"})
    EXPECT_TRUE(summary["findings"][severity].is_number_unsigned());
  ASSERT_EQ(summary["worst_connections"].size(), 1U);
  const json& worst = summary["worst_connections"][0];
  EXPECT_EQ(worst["id"], 0);
  EXPECT_EQ(worst["a"]["address"], "10.0.0.1");
  EXPECT_EQ(worst["a"]["qp"], 0x11);
  EXPECT_EQ(worst["retransmitted"], 2);
  EXPECT_EQ(worst["lost"], 1);
}

TEST(LiveSummary, the_line_for_people_names_what_is_not_well) {
  LiveMeter meter(0);
  (void)meter.read(analyze::hand_made(), second, 0);
  Snapshot snapshot = later();
  snapshot.totals.opcodes[0x81] += 12'345;
  snapshot.incidents_in_progress = 2;
  const std::string line = summary_line(snapshot, meter.read(snapshot, 81 * second, 0));
  EXPECT_TRUE(line.starts_with("00:01:21  1 RoCE packets/s, ")) << line;
  EXPECT_NE(line.find(", 12.3 k CNPs"), std::string::npos) << line;
  EXPECT_EQ(line.find(" CE"), std::string::npos) << line;
  EXPECT_NE(line.find(", 2 incidents in progress; findings:"), std::string::npos) << line;
  const json summary = json::parse(summary_json(snapshot, meter.read(snapshot, 82 * second, 0), 0));
  EXPECT_EQ(summary["incidents_in_progress"], 2);
}

TEST(LiveSummary, leads_with_the_worst_diagnosis) {
  LiveMeter meter(0);
  Snapshot snapshot = later();
  snapshot.diagnoses = {analyze::made_diagnosis(), analyze::made_diagnosis()};
  snapshot.diagnoses[0].severity = analyze::Consequence::fatal;
  const std::string line = summary_line(snapshot, meter.read(snapshot, 81 * second, 0));
  EXPECT_TRUE(
      line.starts_with("00:01:21  FATAL: 10.0.0.1 → 10.0.0.2 loses 9 of 1000 packets (0.9 %) "
                       "upstream of this capture; 17 RoCE packets/s, "))
      << line;
  const json summary = json::parse(summary_json(snapshot, meter.read(snapshot, 82 * second, 0), 0));
  EXPECT_EQ(summary["diagnosis"],
            (json{{"cause", "loss"}, {"severity", "fatal"}, {"sentence", snapshot.diagnoses[0].sentence}}));
  EXPECT_EQ(summary["diagnoses"], (json{{"fatal", 1}, {"degraded", 1}, {"odd", 0}}));
  snapshot.diagnoses[0].sentence = std::string(400, 'x') + "\n";
  const std::string cut = summary_line(snapshot, meter.read(snapshot, 83 * second, 0));
  EXPECT_NE(cut.find("xxx...; "), std::string::npos) << cut;
  EXPECT_EQ(cut.find('\n'), std::string::npos);
}

TEST(LiveSummary, of_an_empty_capture_is_whole_too) {
  const Snapshot nothing;
  LiveMeter meter(0);
  const json summary = json::parse(summary_json(nothing, meter.read(nothing, 0, 10), 0));
  EXPECT_EQ(summary["total"]["packets"], 0);
  EXPECT_EQ(summary["throughput_bps"], 0);
  EXPECT_TRUE(summary["worst_connections"].empty());
  EXPECT_TRUE(summary["diagnosis"].is_null());
  EXPECT_EQ(summary["diagnoses"]["fatal"], 0);
}

TEST(LiveSummary, a_finding_on_a_line_holds_no_line_break_and_no_escape) {
  analyze::Finding finding;
  finding.id = "retransmission";
  finding.severity = analyze::Severity::warning;
  finding.title = "packets sent again";
  finding.subject = "10.0.0.1 QP 0x000011";
  finding.count = 12;
  finding.explanation = "first\nsecond \x1b[31mred";
  EXPECT_EQ(finding_line(finding, finding.severity),
            "DEGRADED packets sent again (retransmission, 12 times): 10.0.0.1 QP 0x000011: first second "
            "\\x1b[31mred");
  EXPECT_EQ(finding_line(finding, finding.severity, 20), "DEGRADED packets ...");
}

TEST(LiveSummary, counts_and_times_for_people) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(9999), "9999");
  EXPECT_EQ(count_text(12'345), "12.3 k");
  EXPECT_EQ(count_text(123'456), "123 k");
  EXPECT_EQ(count_text(12'345'678), "12.3 M");
  EXPECT_EQ(elapsed_text(0), "00:00:00");
  EXPECT_EQ(elapsed_text(-5), "00:00:00");
  EXPECT_EQ(elapsed_text(86'399 * second), "23:59:59");
  EXPECT_EQ(elapsed_text((3 * 86'400 + 61) * second), "3 d 00:01:01");
  EXPECT_EQ(cut_text("µµµµ", 4), "µµµµ");
  EXPECT_EQ(cut_text("µµµµµ", 4), "µ...");
  EXPECT_EQ(cut_text("abcdef", 2), "..");
}

}  // namespace
}  // namespace live_figures_test
}  // namespace roce::cli
