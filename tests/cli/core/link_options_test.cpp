// SPDX-License-Identifier: Apache-2.0
#include "cli/core/link_options.hpp"

#include <gtest/gtest.h>

namespace roce::cli {
namespace {

TEST(LinkOptions, speeds) {
  EXPECT_EQ(parse_link_speed("100G"), 100'000'000'000U);
  EXPECT_EQ(parse_link_speed("10g"), 10'000'000'000U);
  EXPECT_EQ(parse_link_speed("2.5G"), 2'500'000'000U);
  EXPECT_EQ(parse_link_speed("40000M"), 40'000'000'000U);
  EXPECT_EQ(parse_link_speed("1000k"), 1'000'000U);  // the slowest
  EXPECT_EQ(parse_link_speed("1000000"), 1'000'000U);
  EXPECT_EQ(parse_link_speed("1.6T"), 1'600'000'000'000U);
  EXPECT_EQ(parse_link_speed("25000000000"), 25'000'000'000U);
  EXPECT_EQ(parse_link_speed("400Gb/s"), 400'000'000'000U);
  EXPECT_EQ(parse_link_speed("400Gbps"), 400'000'000'000U);
  EXPECT_EQ(parse_link_speed("400Gbit/s"), 400'000'000'000U);
}

TEST(LinkOptions, what_is_no_speed) {
  for (const char* text :
       {"",      "G",      "0", "0G",  "-1G", "+1G",   "1e9", "100 G", "100X",
        "100GG", "1.2.3G", ".", "inf", "nan", "0x10G", "11T", "1e400", "99999999999999999999999999",
        "b/s",   " 1G"}) {
    EXPECT_FALSE(parse_link_speed(text)) << text;
    EXPECT_NE(link_speed_error(text).find("10G, 25G, 40G, 50G, 100G, 200G, 400G, 800G"), std::string::npos);
  }
  EXPECT_TRUE(link_speed_error("100G").empty());
}

TEST(LinkOptions, a_speed_without_its_unit_is_refused) {
  // Taken for bits a second, 100 would make minutes of each pause.
  for (const char* text : {"1", "10", "100", "400", "100000", "999999", "100bps", "100b/s", "64k", "999k"}) {
    EXPECT_FALSE(parse_link_speed(text)) << text;
    EXPECT_NE(link_speed_error(text).find("from 1M to 10T with K, M, G or T"), std::string::npos);
  }
}

TEST(LinkOptions, watchdogs) {
  const auto times = parse_watchdog("200ms,0.4s");
  ASSERT_TRUE(times);
  EXPECT_EQ(times->detection_ns, 200'000'000);
  EXPECT_EQ(times->restoration_ns, 400'000'000);
  EXPECT_TRUE(watchdog_error("1ms,1ms").empty());
  for (const char* text :
       {"", ",", "200ms", "200ms,", ",400ms", "200,400", "200ms,0ms", "200ms,400ms,1ms", "200ms;400ms"}) {
    EXPECT_FALSE(parse_watchdog(text)) << text;
    EXPECT_NE(watchdog_error(text).find("200ms,400ms"), std::string::npos);
  }
}

TEST(LinkOptions, durations) {
  EXPECT_EQ(parse_duration("200ms"), 200'000'000);
  EXPECT_EQ(parse_duration("0.2s"), 200'000'000);
  EXPECT_EQ(parse_duration("150us"), 150'000);
  EXPECT_EQ(parse_duration("150µs"), 150'000);
  EXPECT_EQ(parse_duration("7ns"), 7);
  EXPECT_EQ(parse_duration("86400s"), 86'400'000'000'000);
  for (const char* text : {"", "5", "ms", "0ms", "-5ms", "86401s", "1h", "200 ms", "nan", "infs"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
    EXPECT_NE(duration_error(text).find("200ms"), std::string::npos);
  }
  EXPECT_TRUE(duration_error("1ms").empty());
}

}  // namespace
}  // namespace roce::cli
