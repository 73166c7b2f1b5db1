// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/capture_health.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>

#include "analyze/record/diagnostics.hpp"
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

TEST(CaptureHealth, what_is_incomplete_is_said_in_one_sentence) {
  Snapshot s = hand_made();
  s.diagnostics.push_back({"cut_by_capture", DiagnosticSeverity::info, 1, "", {}});
  EXPECT_TRUE(s.complete());
  EXPECT_EQ(incomplete_text(s), "");
  s.frames_read = 125;
  s.interrupted = true;
  s.diagnostics.push_back({"interrupted", DiagnosticSeverity::data_loss, 1, "", {}});
  EXPECT_FALSE(s.complete());
  EXPECT_EQ(incomplete_text(s),
            "reading was interrupted after 125 packets; what follows speaks for these only");
  // A comparison has the diagnostics of two captures.
  s.diagnostics.push_back({"cut_short", DiagnosticSeverity::data_loss, 1, "", {}});
  s.diagnostics.push_back({"cut_short", DiagnosticSeverity::data_loss, 1, "", {}});
  EXPECT_EQ(incomplete_text(s),
            "reading was interrupted after 125 packets, and part of that could not be read or judged "
            "(a file ends inside a record); what follows speaks for these only");
  s.interrupted = false;
  EXPECT_EQ(incomplete_text(s),
            "part of the capture could not be read or judged (a file ends inside a record); what follows "
            "speaks for the rest only");
  s.diagnostics.clear();
  s.errors.emplace_back();
  EXPECT_FALSE(s.complete());
  EXPECT_FALSE(capture_health(s).good());
  EXPECT_EQ(incomplete_text(s),
            "part of the capture could not be read or judged (an input could not be read to its end); what "
            "follows speaks for the "
            "rest only");
}

TEST(CaptureHealth, what_is_incomplete_is_said_in_words) {
  capture::Statistics capture;
  for (std::uint64_t& each : capture.incidents) each = 1;
  DiagnosticCounts counts;
  for (std::size_t i = 0; i < diagnostic_count; ++i) counts.add(static_cast<DiagnosticId>(i));
  std::size_t checked = 0;
  for (const Diagnostic& each : list_diagnostics(counts, capture, {})) {
    if (each.severity == DiagnosticSeverity::info) continue;
    ++checked;
    EXPECT_NE(words_of_diagnostic(each.id), each.id) << each.id;
  }
  EXPECT_GT(checked, 20U);
}

TEST(CaptureHealth, what_was_cut_before_its_header_is_said_in_words) {
  Snapshot s = hand_made();
  s.totals.diagnostics.add(DiagnosticId::cut_before_bth, 3705);
  s.diagnostics.push_back({"cut_before_bth", DiagnosticSeverity::data_loss, 3705, "", {}});
  EXPECT_EQ(incomplete_text(s),
            "3705 packets to UDP port 4791 are cut before the end of the BTH and cannot be judged: capture "
            "at least 128 "
            "bytes of each; what follows speaks for the rest only");
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
