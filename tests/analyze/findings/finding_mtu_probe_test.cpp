// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/mtu_probe.hpp"
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

using dissect::Transport;

// A WRITE First by hand: IPv4 20 + UDP 8 + BTH 12 + RETH 16 + payload + ICRC 4.
TEST(MtuProbe, IsAsLongAsAWriteFirst) {
  EXPECT_EQ(largest_ip_bytes(4096, Transport::roce_v2_ipv4), 4156U);
  EXPECT_EQ(largest_ip_bytes(4096, Transport::roce_v2_ipv6), 4176U);
  EXPECT_EQ(largest_ip_bytes(1024, Transport::roce_v1), 1096U);
}

TEST(MtuProbe, PingAddsItsOwnHeaders) {
  EXPECT_EQ(ping_text(4096, Transport::roce_v2_ipv4, host(2)), "ping -M do -s 4128");
  EXPECT_EQ(ping_text(1024, Transport::roce_v2_ipv4, host(2)), "ping -M do -s 1056");
  dissect::IpAddress v6;
  v6.bytes[0] = 0x20;
  v6.bytes[15] = 1;
  EXPECT_EQ(ping_text(4096, Transport::roce_v2_ipv6, v6), "ping -M do -s 4128");
  EXPECT_EQ(ping_text(0, Transport::roce_v2_ipv4, host(2)), "ping -M do -s 1056");  // fits an MTU of 1500
}

TEST(MtuProbe, TheAdviceFollowsTheConnection) {
  SnapshotMaker maker;
  Connection& c = maker.connect(1, 2);  // path MTU 1024
  happen(c.sent[0], Event::retries_exhausted, 1, 180);
  c.requester[0].retries_exhausted = true;
  c.requester[0].trouble->worst_chain.resends = 7;
  c.requester[0].trouble->worst_chain.first_frame = 120;
  c.requester[0].trouble->worst_chain.last_frame = 180;
  EXPECT_TRUE(says(maker.run("retries_exhausted")[0], "ping -M do -s 1056 to it"));
  c.pmtu = 4096;
  EXPECT_TRUE(says(maker.run("retries_exhausted")[0], "ping -M do -s 4128 to it"));
}

}  // namespace
}  // namespace roce::analyze
