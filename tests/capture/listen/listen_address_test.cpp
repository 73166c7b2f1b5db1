// SPDX-License-Identifier: Apache-2.0
#include "capture/listen/listen_address.hpp"

#include <gtest/gtest.h>

namespace roce::capture::test {
namespace {

TEST(ListenAddress, SchemesAndTheirPorts) {
  const auto all = parse_listen_list("sflow://:6344,ipfix://10.0.0.1,netflow://[fd00::1]:9995,sflow://");
  ASSERT_TRUE(all) << all.error().describe();
  ASSERT_EQ(all->size(), 4U);
  EXPECT_EQ((*all)[0].address, "");
  EXPECT_EQ((*all)[0].port, 6344);
  EXPECT_EQ((*all)[0].written_port, 6343);
  EXPECT_EQ((*all)[1].address, "10.0.0.1");
  EXPECT_EQ((*all)[1].port, 4739);
  EXPECT_EQ((*all)[2].address, "fd00::1");
  EXPECT_EQ((*all)[2].port, 9995);
  EXPECT_EQ((*all)[2].written_port, 2055);
  EXPECT_EQ((*all)[3].port, 6343);
}

TEST(ListenAddress, OthersAreDevices) {
  EXPECT_TRUE(is_listen_list("ipfix://"));
  for (const char* const device : {"eth0", "mlx5_0:1", "any", "sflow", "http://x"})
    EXPECT_FALSE(is_listen_list(device)) << device;
}

TEST(ListenAddress, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> wrong[] = {
      {"sflow://:0", "from 1 to 65535"},           {"sflow://:65536", "from 1 to 65535"},
      {"sflow://:12x", "from 1 to 65535"},         {"sflow://:", "from 1 to 65535"},
      {"sflow://[::1]6343", "from 1 to 65535"},    {"sflow://[::1", "not closed"},
      {"sflow://fd00::1:6343", "in brackets"},     {"sflow://[10.0.0.1]:1", "only IPv6"},
      {"sflow://collector:6343", "no IP address"}, {"sflow://:1,tcp://:2", "not a place to listen"},
      {"sflow://:1,", "not a place to listen"}};
  for (const auto& [text, message] : wrong) {
    const auto parsed = parse_listen_list(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_NE(parsed.error().describe().find(message), std::string::npos) << parsed.error().describe();
  }
}

}  // namespace
}  // namespace roce::capture::test
