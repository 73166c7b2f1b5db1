// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <string>

#include "cli/core/text_table.hpp"
#include "cli/report/report.hpp"
#include "tests/analyze/results/hand_made.hpp"

namespace roce::cli {
namespace {

using analyze::Finding;
using analyze::Severity;
using analyze::Snapshot;

Finding made_finding(std::string_view id, Severity severity) {
  Finding finding;
  finding.id = id;
  finding.severity = severity;
  finding.title = "packets lost upstream of the capture point";
  finding.subject = "10.0.0.1 QP 0x000011 > 10.0.0.2 QP 0x000022";
  finding.count = 3;
  finding.packets = {77, 80};
  finding.first_time_ns = analyze::made_start + 200'000'000;
  finding.last_time_ns = analyze::made_start + 900'000'000;
  finding.confidence = 0.7;
  finding.explanation = "3 of 1000 packets never reached the capture point.";
  finding.advice = "On 10.0.0.1: ethtool -S DEV";
  return finding;
}

std::string text_of(const Snapshot& snapshot, std::size_t top = 20, std::size_t width = 100) {
  return report_text(snapshot, {width, false, top, std::nullopt, true});
}

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(ReportText, says_first_that_nothing_is_wrong_and_what_was_checked) {
  const std::string text = text_of(analyze::hand_made());
  EXPECT_TRUE(text.starts_with(
      "Verdict     nothing wrong found in 1300 RoCE packets. Checked: losses, retransmissions and "
      "answers\n            in 2 connections, 1 CM exchange. Not judged: losses in 1 UD flow, which nobody\n"
      "            acknowledges\n\nCapture "))
      << text;
}

TEST(ReportText, does_not_reassure_where_the_capture_was_cut) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.diagnostics.push_back({"cut_short", analyze::DiagnosticSeverity::data_loss, 1, "It was cut.", {}});
  const std::string text = report_text(snapshot, {200, true, 20});
  EXPECT_TRUE(
      text.starts_with("\x1b[1;33mINCOMPLETE\x1b[0m  part of the capture could not be read or judged (a file "
                       "ends inside a record); "
                       "what follows speaks for the rest only\n"))
      << text;
  EXPECT_TRUE(contains(text, "nothing wrong found in 1300 RoCE packets. Checked: losses")) << text;
  EXPECT_TRUE(contains(text, "\x1b[1mVerdict")) << text;  // not green
  snapshot.findings.push_back(made_finding("b", Severity::notice));
  EXPECT_TRUE(text_of(snapshot).starts_with("INCOMPLETE  part of"));
  EXPECT_TRUE(contains(text_of(snapshot), "nothing serious: 1 finding (odd) in 1300 RoCE packets"))
      << text_of(snapshot);
}

TEST(ReportText, says_nothing_good_below_a_diagnosis_that_has_no_finding) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.diagnoses.push_back(analyze::made_diagnosis());
  const std::string text = text_of(snapshot);
  EXPECT_FALSE(contains(text, "nothing wrong")) << text;
  EXPECT_TRUE(contains(text, "Verdict     no further findings in 1300 RoCE packets. Checked: ")) << text;
}

TEST(ReportText, says_what_was_checked_beside_what_is_only_worth_knowing) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.push_back(made_finding("ecn_off", Severity::info));
  const std::string text = text_of(snapshot);
  EXPECT_TRUE(contains(text, "nothing serious: 1 finding (info) in 1300 RoCE packets. Checked: ")) << text;
}

TEST(ReportText, does_not_say_that_UC_was_checked_behind_the_capture) {
  Snapshot snapshot = analyze::hand_made();
  for (analyze::Connection& each : snapshot.connections) each.service = dissect::Service::uc;
  const std::string text = report_text(snapshot, {400, false, 20});
  EXPECT_FALSE(contains(text, "retransmissions and answers in")) << text;
  EXPECT_TRUE(contains(text, "Checked: losses upstream of this capture in 2 UC connections")) << text;
  EXPECT_TRUE(
      contains(text, "losses downstream of this capture in 2 UC connections, which nobody acknowledges"))
      << text;
}

TEST(ReportText, says_first_what_is_wrong_and_what_to_do) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.push_back(made_finding("loss_before_capture", Severity::error));
  snapshot.findings.push_back(made_finding("other", Severity::notice));
  snapshot.findings.back().count = 1;
  snapshot.findings.back().packets = {5};
  const std::string text = text_of(snapshot);
  EXPECT_TRUE(text.starts_with(
      "Verdict     2 findings (1 fatal, 1 odd) in 1300 RoCE packets. Not judged: losses in 1 UD flow, which\n"
      "            nobody acknowledges\n"
      "\n"
      "FATAL       packets lost upstream of the capture point (loss_before_capture, 3 times)\n"
      "            10.0.0.1 QP 0x000011 > 10.0.0.2 QP 0x000022\n"
      "            3 of 1000 packets never reached the capture point.\n"
      "            packets 77, 80 ..., from +0.200000 to +0.900000 s, confidence 70 %\n"
      "            To do: On 10.0.0.1: ethtool -S DEV\n"
      "\n"
      "ODD         packets lost upstream of the capture point (other)\n"))
      << text;
  EXPECT_TRUE(contains(text, "            packet 5, from +0.200000 to +0.900000 s, confidence 70 %\n"));
}

TEST(ReportText, begins_with_the_diagnoses_and_has_the_findings_on_request) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.push_back(made_finding("loss_before_capture", Severity::error));
  snapshot.findings.push_back(made_finding("go_back_n_storm", Severity::warning));
  snapshot.findings.push_back(made_finding("loss_before_capture", Severity::error));
  snapshot.findings.back().count = 1;
  snapshot.diagnoses.push_back(analyze::made_diagnosis());
  snapshot.diagnoses[0].findings = {0, 1, 2};
  snapshot.files.push_back({});
  snapshot.files[0].path = "a.pcap";
  const std::string text = report_text(snapshot, {100, false, 20});
  EXPECT_TRUE(text.starts_with(
      "DEGRADED    10.0.0.1 → 10.0.0.2 loses 9 of 1000 packets (0.9 %) upstream of this capture\n"
      "            10.0.0.1 QP 0x000011 > 10.0.0.2 QP 0x000022\n"
      "            Single packets. 9 packets sent again.\n"
      "            Not ruled out: dropped by 10.0.0.1 itself; a filter of the capture.\n"
      "            To confirm: a capture at 10.0.0.1.\n"
      "            packets 77, 80 ..., from +0.200000 to +0.900000 s, confidence 70 %\n"
      "            To do: On 10.0.0.1: ethtool -S DEV. See:\n"
      "            roceanalyze packets a.pcap -Y 'roce.connection == 0'\n"
      "            roceanalyze incidents a.pcap\n"
      "            Evidence: loss_before_capture, go_back_n_storm\n"
      "\n"
      "Verdict     3 findings (degraded) in 1300 RoCE packets (in full: report --findings). Not judged:\n"
      "            losses in 1 UD flow, which nobody acknowledges\n"))
      << text;
  // Findings have the severity of what they are evidence of.
  EXPECT_FALSE(contains(text, "FATAL"));
  EXPECT_TRUE(contains(text_of(snapshot), "\nDEGRADED    packets lost upstream of the capture point (loss"));
  EXPECT_TRUE(contains(report_text(snapshot, {100, true, 20}), "\x1b[1;33mDEGRADED\x1b[0m"));
}

TEST(ReportText, the_worst_diagnoses_are_in_full_and_the_next_by_their_sentence) {
  Snapshot snapshot = analyze::hand_made();
  for (int i = 0; i < 12; ++i) {
    snapshot.diagnoses.push_back(analyze::made_diagnosis());
    snapshot.diagnoses.back().sentence = "trouble " + std::to_string(i);
  }
  const std::string text = text_of(snapshot);
  std::size_t whole = 0;
  for (std::size_t at = text.find("To confirm"); at != std::string::npos;
       at = text.find("To confirm", at + 1))
    ++whole;
  EXPECT_EQ(whole, 3U);
  EXPECT_TRUE(contains(text, "DEGRADED    trouble 9\n            and 2 more: see --json\n")) << text;
}

TEST(ReportText, diagnoses_fit_on_one_screen) {
  Snapshot snapshot = analyze::hand_made();
  for (int i = 0; i < 3; ++i) {
    snapshot.diagnoses.push_back(analyze::made_diagnosis());
    std::string& fact = snapshot.diagnoses.back().facts.emplace_back();
    for (int word = 0; word < 200; ++word) fact += "evidence ";
  }
  const std::string text = text_of(snapshot);
  const std::string above = text.substr(0, text.find("\nVerdict"));
  EXPECT_LE(std::count(above.begin(), above.end(), '\n'), 54) << text;
  std::size_t whole = 0;
  for (std::size_t at = text.find("To confirm"); at != std::string::npos;
       at = text.find("To confirm", at + 1))
    ++whole;
  EXPECT_EQ(whole, 1U) << "the worst one in full, whatever there is to say";
}

TEST(ReportText, commands_can_be_copied) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.push_back(made_finding("a", Severity::error));
  std::string& advice = snapshot.findings.back().advice;
  advice = "See: roceanalyze packets FILE -Y 'roce.connection == 0'. Then sleep.";
  EXPECT_TRUE(contains(text_of(snapshot),
                       "            To do: See:\n"
                       "            roceanalyze packets FILE -Y 'roce.connection == 0'\n"
                       "            Then sleep.\n"))
      << text_of(snapshot);
  snapshot.files.push_back({});
  snapshot.files[0].path = "dir/a.pcap";
  EXPECT_TRUE(contains(text_of(snapshot), " packets dir/a.pcap -Y 'roce"));
  snapshot.files[0].path = "it's \\ b.pcap";
  EXPECT_TRUE(contains(text_of(snapshot), " packets 'it'\\''s \\ b.pcap' -Y 'roce"));
  snapshot.files[0].path = "a\nb.pcap";  // nothing to be typed
  EXPECT_TRUE(contains(text_of(snapshot), " packets FILE -Y 'roce"));
  advice = "See: roceanalyze packets FILE -Y 'roce.connection == 0 && ip.src == \"a b c d e f g h i j\"'";
  EXPECT_TRUE(contains(text_of(snapshot, 20, 80),
                       "            To do: See:\n"
                       "            roceanalyze packets FILE -Y \\\n"
                       "            'roce.connection == 0 && ip.src == \"a b c d e f g h i j\"'\n"))
      << text_of(snapshot, 20, 80);
  advice = "Nothing of ours: 'quotes";
  EXPECT_TRUE(contains(text_of(snapshot), "To do: Nothing of ours: 'quotes\n"));
}

TEST(ReportText, notices_alone_are_nothing_serious) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.push_back(made_finding("other", Severity::notice));
  EXPECT_TRUE(
      text_of(snapshot).starts_with("Verdict     nothing serious: 1 finding (odd) in 1300 RoCE packets"))
      << text_of(snapshot);
}

TEST(ReportText, many_findings_are_counted_after_the_first) {
  Snapshot snapshot = analyze::hand_made();
  for (int i = 0; i < 12; ++i) snapshot.findings.push_back(made_finding("a", Severity::error));
  snapshot.findings.push_back(made_finding("b", Severity::warning));
  snapshot.findings_dropped = 4;
  const std::string text = text_of(snapshot);
  EXPECT_TRUE(contains(text, "and 7 more (2 fatal, 1 degraded, 4 that were not kept): see --json\n")) << text;
  EXPECT_FALSE(contains(text, "DEGRADED"));
}

TEST(ReportText, without_roce_there_is_nothing_to_judge) {
  EXPECT_TRUE(text_of(Snapshot()).starts_with("Verdict     no RoCE packets, so nothing to judge\n"));
}

TEST(ReportText, sick_connections_come_first_where_not_all_fit) {
  Snapshot snapshot = analyze::hand_made();
  std::swap(snapshot.connections[0], snapshot.connections[1]);
  std::swap(snapshot.connections[0].id, snapshot.connections[1].id);
  std::string text = text_of(snapshot, 1);
  EXPECT_TRUE(contains(text, "the 1 with most trouble, then most bytes, of 2")) << text;
  EXPECT_TRUE(contains(text, "10.0.0.1  0x000011  10.0.0.2  0x000022"));
  EXPECT_FALSE(contains(text, "10.0.0.3         ?"));
  text = text_of(snapshot);
  EXPECT_TRUE(contains(text, "1 captured in one direction only")) << text;
  EXPECT_TRUE(contains(text, "10.0.0.3         ?")) << text;
}

TEST(ReportText, halves_that_may_belong_together_are_not_called_one_direction_only) {
  Snapshot snapshot = analyze::hand_made();
  analyze::Connection& answers = snapshot.connections.emplace_back();
  answers.id = 2;
  answers.service = dissect::Service::rc;
  answers.ends = {analyze::Endpoint{analyze::ipv4(4), std::nullopt},
                  analyze::Endpoint{analyze::ipv4(3), 0x33}};
  answers.flow[0] = 3;
  answers.requester[1].seen = true;  // of what 10.0.0.3 asks
  const std::string text = text_of(snapshot);
  EXPECT_FALSE(contains(text, "in one direction only")) << text;
  EXPECT_TRUE(
      contains(text, "2 left unpaired: several flows could be the opposite direction, with no proof which"))
      << text;
}

TEST(ReportText, fits_any_width) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.push_back(made_finding("a", Severity::error));
  snapshot.diagnoses.push_back(analyze::made_diagnosis());
  for (const std::size_t width : {80U, 100U, 132U, 200U}) {
    std::istringstream lines(text_of(snapshot, 20, width));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(ReportText, a_file_cannot_reach_the_terminal_through_a_finding) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.push_back(made_finding("a", Severity::error));
  snapshot.findings.back().explanation = "\x1b[2Jgone";
  EXPECT_EQ(text_of(snapshot).find('\x1b'), std::string::npos);
  EXPECT_TRUE(contains(report_text(snapshot, {100, true, 20, std::nullopt, true}), "\x1b[1;31mFATAL\x1b[0m"));
  snapshot.diagnoses.push_back(analyze::made_diagnosis());
  snapshot.diagnoses[0].sentence = snapshot.diagnoses[0].subject = "\x1b[2Jgone";
  EXPECT_EQ(text_of(snapshot).find('\x1b'), std::string::npos);
}

TEST(ReportText, tables_list_what_is_asked_for) {
  const Snapshot snapshot = analyze::hand_made();
  const std::string csv = connections_csv(snapshot, {"lost", false, 0});
  EXPECT_EQ(csv.substr(0, 15), "id,a,a_qp,b,b_q");
  EXPECT_NE(csv.find("\r\n0,10.0.0.1,17,10.0.0.2,34,RC,"), std::string::npos) << csv;
  const std::string text = connections_text(snapshot, {}, 100);
  EXPECT_NE(text.find("10.0.0.1"), std::string::npos);
  EXPECT_EQ(text.find("paired by"), std::string::npos) << "too wide for 100 columns\n" << text;
  EXPECT_NE(connections_text(snapshot, {"evidence", false, 0}, 100).find("paired by"), std::string::npos);
}

}  // namespace
}  // namespace roce::cli
