// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/capture_health.hpp"

#include <gtest/gtest.h>

#include "tests/analyze/results/hand_made.hpp"

namespace roce::analyze {
namespace {

Snapshot with(std::vector<DiagnosticSeverity> diagnostics, std::vector<Severity> findings) {
  Snapshot s = hand_made();
  for (const DiagnosticSeverity severity : diagnostics)
    s.diagnostics.push_back({"made", severity, 1, "", {}});
  for (const Severity severity : findings) s.findings.emplace_back().severity = severity;
  return s;
}

TEST(CaptureHealth, what_was_not_read_whole_is_not_good) {
  using enum DiagnosticSeverity;
  EXPECT_TRUE(capture_health(with({}, {})).good());
  EXPECT_TRUE(capture_health(with({info}, {Severity::notice})).good());
  EXPECT_EQ(capture_health(with({info}, {})).but(), "");
  for (const DiagnosticSeverity severity : {data_loss, DiagnosticSeverity::error}) {
    const CaptureHealth assessment = capture_health(with({severity, info}, {}));
    EXPECT_FALSE(assessment.good());
    EXPECT_EQ(assessment.level(), Severity::notice);
    EXPECT_EQ(assessment.but(), ", but not all of the capture could be judged");
    EXPECT_EQ(capture_health(with({severity}, {Severity::info})).level(), Severity::notice);
    // Who is told of an error is not lulled.
    EXPECT_EQ(capture_health(with({severity}, {Severity::error})).but(), "");
    EXPECT_EQ(capture_health(with({severity}, {Severity::error})).level(), Severity::error);
  }
}

TEST(CaptureHealth, without_roce_there_is_nothing_to_judge) {
  Snapshot s;
  EXPECT_FALSE(capture_health(s).anything);
  EXPECT_FALSE(capture_health(s).good());
  EXPECT_EQ(capture_health(s).nothing("no RoCE packets"), "no RoCE packets, so nothing to judge");
  s.diagnostics.push_back({"unknown_link_type", DiagnosticSeverity::data_loss, 1, "", {}});
  EXPECT_EQ(capture_health(s).nothing("no RoCE packets"),
            "no RoCE packets in what could be analysed, so nothing to judge");
}

}  // namespace
}  // namespace roce::analyze
