// SPDX-License-Identifier: Apache-2.0
#include "cli/live/system_log.hpp"

#include <gtest/gtest.h>
#include <syslog.h>

#include <string>

#include "tests/analyze/results/hand_made.hpp"

namespace roce::cli {
namespace {

using analyze::FindingNews;
using analyze::Severity;

FindingNews news() {
  FindingNews made;
  made.why = FindingNews::Why::more_severe;
  made.finding.id = "loss_before_capture";
  made.finding.severity = Severity::error;
  made.finding.subject = "10.0.0.1 QP 0x000011 > 10.0.0.2 QP 0x000022";
  made.finding.count = 12;
  made.finding.packets = {3, 9};
  made.finding.explanation = "12 packets never came.";
  return made;
}

TEST(SystemLog, has_a_line_that_grep_and_collectors_read) {
  EXPECT_EQ(
      log_line("eth0", news()),
      "finding=loss_before_capture severity=error device=eth0 news=\"more severe\" count=12 "
      "subject=\"10.0.0.1 QP 0x000011 > 10.0.0.2 QP 0x000022\" packets=3,9 text=\"12 packets never came.\"");
}

TEST(SystemLog, lets_nothing_from_outside_break_its_line) {
  FindingNews made = news();
  made.finding.subject = "a\" severity=info x=\"\nfinding=none \x1b[31m \xff";
  made.finding.explanation = std::string(5000, 'x');
  const std::string line = log_line("eth0 finding=none", made);
  EXPECT_EQ(line.find_first_of("\n\x1b\xff"), std::string::npos) << line;
  EXPECT_NE(line.find(" device=\"eth0 finding=none\" "), std::string::npos) << line;
  EXPECT_NE(line.find(" subject=\"a' severity=info x='\\n"), std::string::npos) << line;
  EXPECT_LT(line.size(), 1300U);
}

TEST(SystemLog, priorities_follow_severities) {
  EXPECT_EQ(log_priority(Severity::error), LOG_ERR);
  EXPECT_EQ(log_priority(Severity::warning), LOG_WARNING);
  EXPECT_EQ(log_priority(Severity::notice), LOG_NOTICE);
  EXPECT_EQ(log_priority(Severity::info), LOG_INFO);
}

TEST(SystemLog, says_in_the_end_what_was_found) {
  analyze::Snapshot snapshot = analyze::hand_made();
  snapshot.findings.clear();
  EXPECT_EQ(log_line_of_end("eth0", snapshot),
            "capture=ended device=eth0 diagnosis=none severity=none text=\"nothing wrong found in 1300 RoCE "
            "packets\" "
            "packets=1300 roce_packets=1300 dropped=0 errors=0 warnings=0 notices=0");
  snapshot.diagnoses.push_back(analyze::made_diagnosis());
  const std::string line = log_line_of_end("eth0", snapshot);
  EXPECT_TRUE(
      line.starts_with("capture=ended device=eth0 diagnosis=loss severity=degraded text=\"10.0.0.1 "
                       "→ 10.0.0.2 loses 9 of 1000 packets (0.9 %) upstream of this capture\" packets="))
      << line;
}

}  // namespace
}  // namespace roce::cli
