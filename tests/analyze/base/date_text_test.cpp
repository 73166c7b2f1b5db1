// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/date_text.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "analyze/base/time_bound.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t one_second = 1'000'000'000;
constexpr std::int64_t known = 1'795'172'933 * one_second;  // 2026-11-20 11:08:53 UTC

TEST(DateText, forms_of_a_date) {
  for (const std::string_view text :
       {"2026-11-20 11:08:53", "2026-11-20T11:08:53", "2026-11-20T11:08:53Z", "2026-11-20 11:08:53 UTC",
        "2026-11-20 11:08:53.0", "2026-11-20T12:08:53+01:00", "2026-11-20T12:08:53+0100",
        "2026-11-20T12:08:53+01", "2026-11-20 12:08:53 +01:00", "2026-11-20T05:38:53-05:30",
        "2026-11-21T01:08:53+14:00", "Nov 20, 2026 11:08:53", "Nov 20, 2026 11:08:53 UTC",
        "Nov 20, 2026 12:08:53+01:00"}) {
    EXPECT_EQ(parse_date(text), known) << text;
  }
  EXPECT_EQ(parse_date("2026-11-20 11:08:53.5"), known + one_second / 2);
  EXPECT_EQ(parse_date("2026-11-20T12:08:53.123456789+01:00"), known + 123'456'789);
  EXPECT_EQ(parse_date("2026-11-20 11:08:53.1234567899"), known + 123'456'789);
  EXPECT_EQ(parse_date("2026-11-20 11:08"), known - 53 * one_second);
  EXPECT_EQ(parse_date("2026-11-20"), known - (11 * 3600 + 8 * 60 + 53) * one_second);
  EXPECT_EQ(parse_date("Nov  3, 2026"), parse_date("2026-11-03"));
  EXPECT_EQ(parse_date("Nov 3, 2026"), parse_date("2026-11-03"));
  EXPECT_EQ(parse_date("1969-12-31 23:59:59.5"), -one_second / 2);
  EXPECT_EQ(parse_date("2024-02-29 23:59:60"), parse_date("2024-03-01"));
}

TEST(DateText, what_is_no_date) {
  for (const std::string_view text : {"",
                                      "2026",
                                      "2026-11",
                                      "2026-11-31",
                                      "2026-02-29",
                                      "2026-13-01",
                                      "2026-1-1",
                                      "2026-11-20 11",
                                      "2026-11-20 11:",
                                      "2026-11-20 24:00",
                                      "2026-11-20 11:60",
                                      "2026-11-20 11:08:61",
                                      "2026-11-20 11:08:53.",
                                      "2026-11-20 11:08.5",
                                      "2026-11-20T",
                                      "2026-11-20 ",
                                      "2026-11-20T11:08:53+",
                                      "2026-11-20T11:08:53+1",
                                      "2026-11-20T11:08:53+01:",
                                      "2026-11-20T11:08:53+01:60",
                                      "2026-11-20T11:08:53+24:00",
                                      "2026-11-20T11:08:53 CET",
                                      "2026-11-20T11:08:53Z ",
                                      "2026-11-20.5",
                                      "1677-01-01",
                                      "2262-01-01",
                                      "Foo 20, 2026",
                                      "Nov 20 2026",
                                      "Nov 20, 26",
                                      "Nov",
                                      "11:08:53"}) {
    EXPECT_EQ(parse_date(text), std::nullopt) << text;
  }
}

TEST(DateText, times_of_day) {
  EXPECT_EQ(parse_time_of_day("00:00"), 0);
  EXPECT_EQ(parse_time_of_day("11:08:53.5"), (11 * 3600 + 8 * 60 + 53) * one_second + one_second / 2);
  for (const std::string_view text :
       {"", "11", "11:", "1:08", "24:00", "11:08.5", "11:08:53.", "11:08:53Z", "11:08 "})
    EXPECT_EQ(parse_time_of_day(text), std::nullopt) << text;
}

TEST(DateText, as_wireshark_prints_it) {
  const auto text = [](std::int64_t ns) {
    std::string out;
    append_date_text(out, ns);
    return out;
  };
  EXPECT_EQ(text(known + 886'729'269), "Nov 20, 2026 11:08:53.886729269 UTC");
  EXPECT_EQ(text(*parse_date("2026-07-03 01:02:03")), "Jul  3, 2026 01:02:03.000000000 UTC");
  EXPECT_EQ(text(-1), "Dec 31, 1969 23:59:59.999999999 UTC");
  for (const std::int64_t ns : {known + 1, std::int64_t{0}, std::int64_t{-1}})
    EXPECT_EQ(parse_date(text(ns)), ns);
  EXPECT_FALSE(text(std::numeric_limits<std::int64_t>::min()).empty());
  EXPECT_FALSE(text(std::numeric_limits<std::int64_t>::max()).empty());
}

TEST(TimeBound, a_time_of_day_is_on_the_day_of_the_first_frame) {
  constexpr std::int64_t hour = 3600 * one_second;
  const TimeBound noon{12 * hour, TimeBound::Since::first_day};
  EXPECT_EQ(noon.resolve(known), parse_date("2026-11-20 12:00"));
  EXPECT_EQ(noon.resolve(known + 20 * hour), parse_date("2026-11-21 12:00"));
  EXPECT_EQ(noon.resolve(-one_second), parse_date("1969-12-31 12:00"));
  EXPECT_EQ((TimeBound{hour, TimeBound::Since::first_frame}.resolve(known)), known + hour);
  EXPECT_EQ((TimeBound{hour}.resolve(known)), hour);
  // Saturated, not wrapped.
  EXPECT_EQ(noon.resolve(std::numeric_limits<std::int64_t>::max()), std::numeric_limits<std::int64_t>::max());
  EXPECT_LT(noon.resolve(std::numeric_limits<std::int64_t>::min()), 0);
}

}  // namespace
}  // namespace roce::analyze
