// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/new_findings.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace roce::analyze {
namespace {

using std::chrono::seconds;
using Why = FindingNews::Why;

Finding found(std::string_view id, std::string subject, std::uint64_t count,
              Severity severity = Severity::warning) {
  Finding finding;
  finding.id = id;
  finding.severity = severity;
  finding.subject = std::move(subject);
  finding.count = count;
  finding.packets = {1};
  return finding;
}

class Watched {
 public:
  explicit Watched(const NewFindings::Limits& limits = {}) : watch(limits) {}
  /// Of a snapshot so long after the start.
  std::vector<FindingNews> look(int at_s, std::vector<Finding> findings) {
    Snapshot snapshot;
    snapshot.findings = std::move(findings);
    return watch.look(snapshot, NewFindings::Time(seconds(1000 + at_s)));
  }
  NewFindings watch;
};

TEST(NewFindings, TellsWhatIsNewOnce) {
  Watched w;
  const auto news = w.look(0, {found("rnr", "a > b", 3), found("timeouts", "a > b", 1)});
  ASSERT_EQ(news.size(), 2U);
  EXPECT_EQ(news[0].why, Why::fresh);
  EXPECT_EQ(news[0].finding.id, "rnr");
  EXPECT_EQ(news[1].finding.id, "timeouts");
  EXPECT_TRUE(w.look(1, {found("rnr", "a > b", 3), found("timeouts", "a > b", 1)}).empty());
  EXPECT_TRUE(w.look(100, {found("rnr", "a > b", 5)}).empty());
  const auto more = w.look(101, {found("rnr", "a > b", 6), found("rnr", "a > c", 1)});
  ASSERT_EQ(more.size(), 1U);
  EXPECT_EQ(more[0].finding.subject, "a > c");
}

TEST(NewFindings, TellsWhatGetsWorse) {
  Watched w;
  w.look(0, {found("rnr", "a > b", 3)});
  const auto severe = w.look(1, {found("rnr", "a > b", 4, Severity::error)});  // however soon
  ASSERT_EQ(severe.size(), 1U);
  EXPECT_EQ(severe[0].why, Why::more_severe);
  EXPECT_EQ(severe[0].severity_before, Severity::warning);
  EXPECT_TRUE(w.look(2, {found("rnr", "a > b", 4, Severity::warning)}).empty());
  EXPECT_TRUE(w.look(3, {found("rnr", "a > b", 5, Severity::error)}).empty());
  EXPECT_TRUE(w.look(9, {found("rnr", "a > b", 40, Severity::error)}).empty());  // too soon
  const auto grown = w.look(11, {found("rnr", "a > b", 45, Severity::error)});
  ASSERT_EQ(grown.size(), 1U);
  EXPECT_EQ(grown[0].why, Why::grown);
  EXPECT_EQ(grown[0].count_before, 4U);
  EXPECT_TRUE(w.look(60, {found("rnr", "a > b", 449, Severity::error)}).empty());
  EXPECT_EQ(w.look(61, {found("rnr", "a > b", 450, Severity::error)}).size(), 1U);
}

TEST(NewFindings, SubjectsThatCountAreTheSame) {
  Watched w;
  w.look(0, {found("rnr", "10.0.0.1 > 10.0.0.2 (4 connections)", 10)});
  EXPECT_TRUE(w.look(1, {found("rnr", "10.0.0.1 > 10.0.0.2 (5 connections)", 11)}).empty());
  EXPECT_EQ(w.look(2, {found("rnr", "10.0.0.1 > 10.0.0.3 (5 connections)", 11)}).size(), 1U);
  w.look(100, {found("loss", "17 connections of 3 pairs of hosts", 1)});
  EXPECT_TRUE(w.look(101, {found("loss", "18 connections of 4 pairs of hosts", 2)}).empty());
  // Numbers that tell things apart.
  w.look(200, {found("pause", "02:00:00:00:00:01 priority 3", 1)});
  EXPECT_EQ(w.look(201, {found("pause", "02:00:00:00:00:01 priority 4", 1)}).size(), 1U);
  w.look(300, {found("more", "5 more", 1)});
  EXPECT_TRUE(w.look(301, {found("more", "6 more", 1)}).empty());
}

TEST(NewFindings, RuleWithEverNewSubjectsIsHeldBack) {
  Watched w;
  std::vector<Finding> many;
  for (int i = 0; i < 10; ++i) many.push_back(found("rnr", "connection " + std::to_string(i), 1));
  many.push_back(found("timeouts", "a > b", 1));
  EXPECT_EQ(w.look(0, many).size(), 5U);  // four, and that of the other rule
  EXPECT_EQ(w.watch.held_back(), 6U);
  EXPECT_TRUE(w.look(5, many).empty());
  EXPECT_EQ(w.look(10, many).size(), 4U);
  EXPECT_EQ(w.look(20, many).size(), 2U);
  EXPECT_EQ(w.watch.held_back(), 0U);
  EXPECT_TRUE(w.look(30, many).empty());
}

TEST(NewFindings, ComesBackAsNewAfterLong) {
  Watched w;
  w.look(0, {found("rnr", "a > b", 1)});
  EXPECT_TRUE(w.look(100, {}).empty());
  EXPECT_TRUE(w.look(500, {found("rnr", "a > b", 1)}).empty());
  const auto news = w.look(1100, {found("rnr", "a > b", 1)});
  ASSERT_EQ(news.size(), 1U);
  EXPECT_EQ(news[0].why, Why::fresh);
}

TEST(NewFindings, IsBounded) {
  NewFindings::Limits limits;
  limits.kept = 100;
  Watched w(limits);
  for (int i = 0; i < 2000; ++i) {
    w.look(10 * i, {found("rnr", "connection " + std::to_string(i), 1), found("loss", "a > b", 1)});
    EXPECT_LE(w.watch.kept(), 100U);
  }
  // What is there all the time is not forgotten.
  EXPECT_TRUE(w.look(20'000, {found("loss", "a > b", 1)}).empty());
  // Nor does a snapshot with more than the bound get the better of it.
  limits.subjects_a_rule = 1000;
  Watched other(limits);
  std::vector<Finding> many;
  for (int i = 0; i < 500; ++i) many.push_back(found("rnr", "connection " + std::to_string(i), 1));
  EXPECT_EQ(other.look(0, many).size(), 500U);
  EXPECT_LE(other.watch.kept(), 100U);
}

}  // namespace
}  // namespace roce::analyze
