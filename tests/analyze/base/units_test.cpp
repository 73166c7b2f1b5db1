// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/units.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <limits>
#include <string_view>
#include <vector>

#include "analyze/results/severity_counts.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {
namespace {

TEST(Units, OneAndMany) {
  EXPECT_EQ(plural(0, "reply", "replies"), "0 replies");
  EXPECT_EQ(plural(1, "reply", "replies"), "1 reply");
  EXPECT_EQ(packets_text(1), "1 packet");
  EXPECT_EQ(packets_text(1000), "1000 packets");
}

TEST(Units, SeveritiesMostSevereFirst) {
  std::vector<Finding> findings;
  EXPECT_EQ(severities_text(severity_counts(findings)), "");
  EXPECT_EQ(findings_text(severity_counts(findings)), "");
  for (const Severity severity :
       {Severity::info, Severity::error, Severity::warning, Severity::error, Severity::notice}) {
    findings.emplace_back().severity = severity;
  }
  EXPECT_EQ(severities_text(severity_counts(findings)), "2 fatal, 1 degraded, 1 odd, 1 info");
  EXPECT_EQ(findings_text(severity_counts(findings)), "5 findings (2 fatal, 1 degraded, 1 odd, 1 info)");
  findings.resize(1);
  EXPECT_EQ(findings_text(severity_counts(findings)), "1 finding (info)");
}

TEST(Severities, AFindingHasThatOfWhatItIsEvidenceOf) {
  Snapshot s;
  s.findings.resize(3);
  s.findings[0].severity = Severity::error;
  s.findings[1].severity = Severity::warning;
  s.findings[2].severity = Severity::info;
  for (std::size_t i = 0; i < 3; ++i) s.findings[i].id = std::string_view("abc").substr(i, 1);
  Diagnosis d;
  d.severity = Consequence::degraded;
  d.findings = {0, 2};
  s.diagnoses = {d};
  using enum Severity;
  EXPECT_EQ(shown_severities(s), (std::vector<Severity>{warning, warning, info}));
  EXPECT_EQ(shown_severity(s.findings[0], s), warning);
  EXPECT_EQ(severities_text(severity_counts(s)), "2 degraded, 1 info");
  EXPECT_EQ(severities_text(severity_counts(s, 1)), "1 degraded, 1 info");
  EXPECT_EQ(consequence_text(error), "fatal");
  EXPECT_EQ(consequence_text(warning), "degraded");
  EXPECT_EQ(consequence_text(notice), "odd");
  EXPECT_EQ(consequence_text(info), "info");
}

TEST(Units, ThreeSignificantDigits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(1'462'345), "1.46 MB");
  EXPECT_EQ(bytes_text(999'999), "1.00 MB");
  EXPECT_EQ(bytes_text(std::numeric_limits<std::uint64_t>::max()), "18.4 EB");
  EXPECT_EQ(rate_text(93.14e9), "93.1 Gb/s");
  EXPECT_EQ(rate_text(400e9), "400 Gb/s");
}

TEST(Units, Durations) {
  EXPECT_EQ(duration_text(0), "0 ns");
  EXPECT_EQ(duration_text(4096), "4.10 µs");
  EXPECT_EQ(duration_text(67'100'000), "67.1 ms");
  EXPECT_EQ(duration_text(93'200'000'000), "93.2 s");
  EXPECT_EQ(duration_text(600'000'000'000), "10 min 0 s");
  EXPECT_EQ(duration_text(7'980'000'000'000), "2 h 13 min");
  EXPECT_EQ(duration_text(std::numeric_limits<std::int64_t>::max()), "106751 d 23 h");
  EXPECT_EQ(duration_text(std::numeric_limits<std::int64_t>::min()), "-106751 d 23 h");
}

TEST(Units, PercentNeverRoundsToAllOrNothing) {
  EXPECT_EQ(percent_text(0, 10), "0.0 %");
  EXPECT_EQ(percent_text(1, 100'000), "<0.1 %");
  EXPECT_EQ(percent_text(99'999, 100'000), ">99.9 %");
  EXPECT_EQ(percent_text(10, 10), "100 %");
  EXPECT_EQ(percent_text(0, 0), "0 %");
}

TEST(Units, Times) {
  EXPECT_EQ(time_text(1'795'172'933'886'729'269), "2026-11-20 11:08:53.886729269 UTC");
  EXPECT_EQ(time_text(-1), "1969-12-31 23:59:59.999999999 UTC");
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::max()), "2262-04-11 23:47:16.854775807 UTC");
  EXPECT_EQ(time_text(std::numeric_limits<std::int64_t>::min()), "1677-09-21 00:12:43.145224192 UTC");
}

TEST(Units, Rates) {
  EXPECT_DOUBLE_EQ(mean_rate_bps(1000, 0, 1'000'000'000), 8000);
  EXPECT_DOUBLE_EQ(mean_rate_bps(1000, 5, 5), 0);
}

}  // namespace
}  // namespace roce::analyze
