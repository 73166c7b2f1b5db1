// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_screen.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "capture/core/source.hpp"
#include "cli/core/text_table.hpp"
#include "cli/live/live_summary.hpp"
#include "tests/analyze/results/hand_made.hpp"

namespace roce::cli {
namespace live_screen_test {
namespace {

using analyze::Severity;
using analyze::Snapshot;

constexpr std::int64_t second = 1'000'000'000;

std::vector<std::string> screen_of(const Snapshot& snapshot, const ScreenStyle& style,
                                   const std::deque<FoundLine>& found = {}) {
  LiveMeter meter(0);
  const LiveMeter::Reading reading = meter.read(snapshot, second, 100);
  return live_screen({snapshot, reading, "eth0", 80 * second, found}, style);
}

std::string joined(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(LiveScreen, begins_with_the_verdict) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.clear();
  EXPECT_EQ(screen_of(snapshot, {80, 24, false})[0], "Verdict     nothing wrong found in 1300 RoCE packets");
  analyze::Finding finding;
  finding.severity = Severity::error;
  snapshot.findings.push_back(finding);
  finding.severity = Severity::notice;
  snapshot.findings.push_back(finding);
  snapshot.findings.push_back(finding);
  EXPECT_EQ(screen_of(snapshot, {80, 24, false})[0],
            "Verdict     3 findings (1 fatal, 2 odd) in 1300 RoCE packets");
  EXPECT_EQ(screen_of({}, {80, 24, false})[0], "Verdict     no RoCE packets yet");
}

TEST(LiveScreen, begins_with_what_is_wrong_and_counts_findings_below) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.findings.resize(1);
  snapshot.findings[0].severity = Severity::error;
  for (int i = 0; i < 4; ++i) snapshot.diagnoses.push_back(analyze::made_diagnosis());
  snapshot.diagnoses[0].severity = analyze::Consequence::fatal;
  const std::vector<std::string> lines = screen_of(snapshot, {70, 24, false});
  EXPECT_EQ(lines[0], "FATAL       10.0.0.1 → 10.0.0.2 loses 9 of 1000 packets (0.9 %)");
  EXPECT_EQ(lines[1], "            upstream of this capture");
  EXPECT_EQ(lines[2], "DEGRADED    10.0.0.1 → 10.0.0.2 loses 9 of 1000 packets (0.9 %) ups...");
  EXPECT_EQ(lines[4], "Verdict     1 finding (fatal) in 1300 RoCE packets; 1 more in the r...");
  // A low screen has room for the worst only.
  const std::vector<std::string> low = screen_of(snapshot, {60, 6, false});
  EXPECT_EQ(low[0], "FATAL       10.0.0.1 → 10.0.0.2 loses 9 of 1000 packets (...");
  EXPECT_EQ(low[1], "Verdict     1 finding (fatal) in 1300 RoCE packets; 3 mor...");
  EXPECT_EQ(screen_of(snapshot, {80, 24, false, true})[0],
            "FATAL       10.0.0.1 -> 10.0.0.2 loses 9 of 1000 packets (0.9 %) upstream of");
}

TEST(LiveScreen, does_not_reassure_where_data_was_lost) {
  Snapshot snapshot = analyze::hand_made();
  snapshot.diagnostics.push_back({"encrypted", analyze::DiagnosticSeverity::data_loss, 1, "", {}});
  EXPECT_EQ(
      screen_of(snapshot, {120, 24, false})[0],
      "Verdict     nothing wrong found in 1300 RoCE packets, but not all of the capture could be judged");
}

TEST(LiveScreen, shows_the_worst_connection_first_and_the_newest_finding) {
  const std::deque<FoundLine> found{{second, Severity::notice, "NOTICE old"},
                                    {61 * second, Severity::error, "ERROR new"}};
  const std::string text = joined(screen_of(analyze::hand_made(), {120, 40, false}, found));
  EXPECT_NE(text.find("On          eth0 for 00:01:20; Ctrl-C ends"), std::string::npos) << text;
  const std::size_t sick = text.find("0x000011"), well = text.find("0x000044");
  ASSERT_NE(sick, std::string::npos) << text;
  ASSERT_NE(well, std::string::npos) << text;
  EXPECT_LT(sick, well);
  const std::size_t fresh = text.find("00:01:01  ERROR new"), old = text.find("00:00:01  NOTICE old");
  ASSERT_NE(fresh, std::string::npos) << text;
  ASSERT_NE(old, std::string::npos) << text;
  EXPECT_LT(fresh, old);
}

TEST(LiveScreen, fits_every_terminal_with_every_sample) {
  std::deque<FoundLine> found;
  for (int i = 0; i < 50; ++i) found.push_back({i * second, Severity::warning, std::string(300, 'x')});
  const std::vector<ScreenStyle> styles{
      {80, 24, false}, {1, 1, false},    {11, 3, false}, {40, 7, false},  {79, 12, false},
      {200, 5, false}, {300, 99, false}, {0, 0, false},  {36, 11, false}, {90, 30, false, true}};
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string name = entry.path();
    if (name.find(".pcap") == std::string::npos) continue;
    auto source = capture::open_files({name});
    ASSERT_TRUE(source.has_value()) << name;
    const std::shared_ptr<const Snapshot> snapshot = analyze::analyze(**source, {});
    for (const ScreenStyle& style : styles) {
      const std::vector<std::string> lines = screen_of(*snapshot, style, found);
      EXPECT_LE(lines.size(), style.height) << name;
      for (const std::string& line : lines) {
        EXPECT_LE(display_width(line), style.width) << name << ": " << line;
        EXPECT_EQ(line.find_first_of("\n\r\x1b"), std::string::npos) << name << ": " << line;
      }
    }
  }
}

TEST(LiveScreen, fills_the_height_with_findings_but_leaves_room_for_connections) {
  std::deque<FoundLine> found;
  for (int i = 0; i < 50; ++i) found.push_back({i * second, Severity::warning, "WARNING something"});
  const std::vector<std::string> lines = screen_of(analyze::hand_made(), {100, 24, false}, found);
  EXPECT_EQ(lines.size(), 24U);
  EXPECT_NE(joined(lines).find("0x000011"), std::string::npos);
}

TEST(LiveScreen, colours_whole_lines_and_takes_no_columns_for_it) {
  const std::vector<std::string> plain = screen_of(analyze::hand_made(), {80, 24, false});
  const std::vector<std::string> painted = screen_of(analyze::hand_made(), {80, 24, true});
  ASSERT_EQ(plain.size(), painted.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    std::string bare;
    for (std::size_t at = 0; at < painted[i].size(); ++at) {
      if (painted[i][at] == '\x1b')
        at = painted[i].find('m', at);
      else
        bare += painted[i][at];
    }
    EXPECT_EQ(bare, plain[i]);
  }
  EXPECT_NE(painted[0].find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace live_screen_test
}  // namespace roce::cli
