// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/diagnostics.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace roce::analyze {
namespace {

std::vector<Diagnostic> all_of_them() {
  DiagnosticCounts counts;
  for (std::size_t i = 0; i < diagnostic_count; ++i) counts.add(static_cast<DiagnosticId>(i));
  capture::Statistics capture;
  for (std::uint64_t& count : capture.incidents) count = 1;
  return list_diagnostics(counts, capture, {});
}

TEST(Diagnostics, EachHasAnIdOfItsOwnAndAPageInTheDocs) {
  std::ostringstream text;
  text << std::ifstream(ROCE_SOURCE_DIR "/docs/diagnostics.md").rdbuf();
  const std::string page = text.str();
  std::set<std::string_view> seen;
  const auto all = all_of_them();
  EXPECT_EQ(all.size(), diagnostic_count + static_cast<std::size_t>(capture::Incident::count_));
  for (const Diagnostic& d : all) {
    EXPECT_TRUE(seen.insert(d.id).second) << d.id;
    const std::string row =
        "| `" + std::string(d.id) + "` | " + std::string(severity_name(d.severity)) + " | ";
    EXPECT_NE(page.find(row + std::string(d.help) + " |"), std::string::npos) << row << d.help;
  }
}

TEST(Diagnostics, TheSeriousComeFirst) {
  const auto all = all_of_them();
  for (std::size_t i = 1; i < all.size(); ++i) EXPECT_GE(all[i - 1].severity, all[i].severity);
}

TEST(Diagnostics, WhatDidNotHappenIsNotListed) {
  EXPECT_TRUE(list_diagnostics({}, {}, {}).empty());
  DiagnosticCounts counts;
  counts.add(DiagnosticId::unknown_opcode, 3);
  const auto list = list_diagnostics(counts, {}, {});
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].count, 3U);
}

}  // namespace
}  // namespace roce::analyze
