// SPDX-License-Identifier: Apache-2.0
#include "analyze/base/host_names.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace roce::analyze {
namespace {

constexpr const char* file = R"(# the cluster
127.0.0.1	localhost
10.77.0.1   gpu-17 gpu-17.example.net   # rack 3
10.77.0.2	gpu-18

fe80::1%eth0 router
2001:db8::7 gpu_19.v6
10.77.0.1 another
)";

HostNames names() {
  auto read = HostNames::parse(file);
  EXPECT_TRUE(read) << read.error();
  return read.value_or(HostNames());
}

TEST(HostNames, ReadsAFileOfHosts) {
  const HostNames all = names();
  EXPECT_EQ(all.size(), 5U);
  const std::uint8_t first[] = {10, 77, 0, 1}, unknown[] = {10, 77, 0, 9};
  ASSERT_NE(all.of(dissect::IpAddress::v4(first)), nullptr);
  EXPECT_EQ(*all.of(dissect::IpAddress::v4(first)), "gpu-17");
  EXPECT_EQ(all.of(dissect::IpAddress::v4(unknown)), nullptr);
  EXPECT_TRUE(HostNames::parse("")->empty());
  EXPECT_TRUE(HostNames::parse("\n\n# nothing\r\n")->empty());
}

TEST(HostNames, ReplacesAddressesAndNothingElse) {
  const HostNames all = names();
  const std::pair<const char*, const char*> cases[] = {
      {"10.77.0.1 → 10.77.0.2 loses 46 packets", "gpu-17 → gpu-18 loses 46 packets"},
      {"what 10.77.0.1 sends to 10.77.0.2.", "what gpu-17 sends to gpu-18."},
      {"10.77.0.1: twice", "gpu-17: twice"},
      {"(10.77.0.1)", "(gpu-17)"},
      {"10.77.0.1 QP 0x000047", "gpu-17 QP 0x000047"},
      {"from 2001:db8::7 to fe80::1", "from gpu_19.v6 to router"},
      {"2001:0db8:0:0:0:0:0:7", "gpu_19.v6"},
      {"10.77.0.9", "10.77.0.9"},
      // Longer words, prefixes and numbers.
      {"10.77.0.11", "10.77.0.11"},
      {"10.77.0.1.5", "10.77.0.1.5"},
      {"10.77.0.1/24 and /10.77.0.1", "10.77.0.1/24 and /10.77.0.1"},
      {"x10.77.0.1", "x10.77.0.1"},
      {"10.77.0.1_old, 10.77.0.1-2", "10.77.0.1_old, 10.77.0.1-2"},
      {"52:54:00:00:0a:01", "52:54:00:00:0a:01"},
      {"at 11:08:53.886729", "at 11:08:53.886729"},
      {"add the bad cafe", "add the bad cafe"},
      {"", ""},
  };
  for (const auto& [text, wanted] : cases) EXPECT_EQ(all.named(text), wanted);
}

TEST(HostNames, NamesTheLineThatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"10.0.0.1 a\nnonsense b\n", "line 2"},
      {"10.0.0.1\n", "line 1"},
      {"10.0.0.1 a\n\n10.0.0.2 <b>\n", "line 3"},
      {"10.0.0.256 a\n", "line 1"},
  };
  for (const auto& [text, place] : cases) {
    const auto read = HostNames::parse(text);
    ASSERT_FALSE(read) << text;
    EXPECT_TRUE(read.error().starts_with(place)) << read.error();
  }
  EXPECT_FALSE(HostNames::parse("10.0.0.1 " + std::string(HostNames::longest_name + 1, 'a')));
  EXPECT_FALSE(HostNames::load("/nonexistent/hosts"));
  EXPECT_FALSE(HostNames::load("/"));
}

}  // namespace
}  // namespace roce::analyze
