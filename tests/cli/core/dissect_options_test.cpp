// SPDX-License-Identifier: Apache-2.0
#include "cli/core/dissect_options.hpp"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "analyze/policy/marking_policy.hpp"
#include "analyze/policy/policy_parser.hpp"

namespace roce::cli {
namespace {

TEST(DissectOptions, AreReadAndTypedAgainAlike) {
  DissectOptions options;
  EXPECT_EQ(options.words(), "");
  EXPECT_EQ(options.with(nullptr).mrc_port, dissect::Options{}.mrc_port);
  options = {{"11,21", std::uint16_t{0}, "falcon=7777,ifa=253,csig=0x9900", 254}};
  const dissect::Options read = options.with(nullptr);
  EXPECT_EQ(read.trimmed_dscps, std::uint64_t{1} << 11U | std::uint64_t{1} << 21U);
  EXPECT_EQ(read.mrc_port, 0);
  EXPECT_EQ(read.named.falcon_port, 7777);
  EXPECT_EQ(read.named.ifa_protocol, 253);
  EXPECT_EQ(read.named.csig_type, 0x9900);
  EXPECT_EQ(read.roce_ip_protocol, 254);
  EXPECT_EQ(options.words(),
            " --trimmed-dscp 11,21 --mrc-port 0 --decode-as falcon=7777,ifa=253,csig=0x9900 "
            "--roce-ip-protocol 254");
}

TEST(DissectOptions, APolicyTellsThePortOfMrcUnlessAnOptionDoes) {
  auto read = analyze::parse_policy("mrc_port = 5000\n", "fabric.toml", {});
  ASSERT_TRUE(read);
  const analyze::MarkingPolicy policy(std::move(*read));
  EXPECT_EQ(DissectOptions{}.with(&policy).mrc_port, 5000);
  DissectOptions options;
  options.mrc_port = 6000;
  EXPECT_EQ(options.with(&policy).mrc_port, 6000);
}

TEST(DissectOptions, MayBeGivenSeveralTimes) {
  CLI::App command;
  DissectOptions options;
  options.add_to(command);
  command.parse(
      "--decode-as falcon=7777,ifa=253 --trimmed-dscp 11 --decode-as csig=0x9900 --trimmed-dscp 21");
  EXPECT_EQ(options.decode_as, "falcon=7777,ifa=253,csig=0x9900");
  EXPECT_EQ(options.trimmed_dscp, "11,21");
  EXPECT_THROW(command.parse("--decode-as falcon=7777 --decode-as ifa=256"), CLI::ParseError);
}

TEST(DissectOptions, NumbersThatAreNone) {
  for (const char* const text : {"0", "64", "11,", "a"}) EXPECT_FALSE(analyze::parse_dscps(text)) << text;
  for (const char* const text :
       {"falcon", "falcon=0", "ifa=256", "uet=4793", "csig=1500", "csig=0x", "csig=0xg"})
    EXPECT_FALSE(analyze::parse_named_numbers(text)) << text;
}

}  // namespace
}  // namespace roce::cli
