// SPDX-License-Identifier: Apache-2.0
// Rules on the marks of tunnels.
#include "analyze/findings/shared/tunnels.hpp"
#include "tests/analyze/findings/mark_maker.hpp"

namespace roce::analyze {
namespace {

struct TunnelMaker : MarkMaker {
  /// Packets of a side that are in a tunnel from VTEP to VTEP.
  void wrap(const Connection& connection, unsigned side, std::uint8_t inner, std::uint8_t outer,
            std::uint64_t packets, unsigned from = 101, unsigned to = 102,
            std::optional<std::uint8_t> pcp = std::nullopt) {
    OuterRow row;
    row.outer.from = host(from);
    row.outer.to = host(to);
    row.outer.tunnel = dissect::Tunnel::vxlan;
    row.outer.traffic_class = outer;
    row.outer.pcp = pcp;
    row.inner = inner;
    row.packets = packets;
    row.first_packet = 7 + side;
    row.first_time_ns = row.last_time_ns = 1000;
    of(connection, side).outer_to_change().push_back(row);
  }
};

constexpr std::uint8_t dscp26 = 26 << 2, dscp26_ect = 26 << 2 | 2;

TEST(TunnelMarkingFinding, Trigger) {
  TunnelMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.wrap(c, 0, dscp26, 0, 80);
  maker.wrap(c, 0, dscp26, dscp26, 20);
  const auto found = maker.look("tunnel_marking");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].subject, "10.0.0.101 to 10.0.0.102 (VXLAN)");
  EXPECT_EQ(found[0].count, 80U);
  EXPECT_EQ(found[0].from, host(1));
  EXPECT_TRUE(says(found[0],
                   "RoCE with DSCP 26 travels in outer DSCP 0 (best effort) from tunnel end 10.0.0.101 to "
                   "10.0.0.102 (VXLAN): 80 of 100 packets (80.0 %)."))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0],
                   "roce.outer.src == 10.0.0.101 && roce.outer.dst == 10.0.0.102 && roce.tunnel == vxlan && "
                   "roce.dscp != 0 && roce.outer.dscp == 0"))
      << found[0].advice;
}

TEST(TunnelMarkingFinding, NearMiss) {
  TunnelMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.wrap(c, 0, dscp26, dscp26, 80);          // copied: the uniform model
  maker.wrap(c, 0, dscp26, 34 << 2, 80);         // a class of the tunnel's own: the pipe model
  maker.wrap(c, 0, 0, 0, 80);                    // best effort inside
  maker.wrap(c, 0, dscp26, 0, 80, 101, 102, 3);  // the fabric goes by the tag
  EXPECT_TRUE(maker.look("tunnel_marking").empty());
}

TEST(TunnelMarkingFinding, AMirrorIsNoTunnel) {
  TunnelMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.wrap(c, 0, dscp26, 0, 80);
  maker.wrap(c, 1, dscp26, 0, 20);  // both directions the same way
  EXPECT_TRUE(maker.look("tunnel_marking").empty());
}

TEST(TunnelMarkingFinding, ManyTunnelsAreToldOnce) {
  TunnelMaker maker;
  for (unsigned i = 0; i < 10; ++i) maker.wrap(maker.join(1, 2 + i), 0, dscp26, 0, 10 + i, 101, 120 + i);
  const auto found = maker.look("tunnel_marking");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].count, 145U);
  EXPECT_TRUE(says(found[0], "145 packets in 10 tunnels, by direction. Most in one: "))
      << found[0].explanation;
}

TEST(TunnelEcnFinding, Trigger) {
  TunnelMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.wrap(c, 0, dscp26_ect, dscp26, 80);
  maker.wrap(c, 1, dscp26, dscp26_ect, 20, 102, 101);
  const auto found = maker.look("tunnel_ecn");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(says(found[0], "ECN-capable RoCE travels in an outer header that is Not-ECT"))
      << found[0].explanation;
  EXPECT_TRUE(says(found[1], "What a congested switch marks CE outside, 10.0.0.101 drops"))
      << found[1].explanation;
}

TEST(TunnelEcnFinding, NearMiss) {
  TunnelMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.wrap(c, 0, dscp26_ect, 2, 80);
  maker.wrap(c, 0, dscp26_ect, 3, 20);  // marked by the fabric: the egress copies it
  maker.wrap(c, 0, dscp26, 0, 20);      // no ECN at all
  EXPECT_TRUE(maker.look("tunnel_ecn").empty());
}

TEST(CeWithoutCnpFinding, MarksOutsideOfATunnelCount) {
  TunnelMaker maker;
  const Connection& c = maker.join(1, 2);
  maker.send(c, 0, {.dscp = 26, .ecn = ect0}, 100);
  maker.send(c, 1, {.opcode = acknowledge, .dscp = 26}, 100);
  maker.wrap(c, 0, dscp26_ect, 0, 80);
  maker.wrap(c, 0, dscp26_ect, ce, 20);
  const auto found = maker.look("ce_without_cnp");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0],
                   "20 of 100 packets (20.0 %) from 10.0.0.1 to 10.0.0.2 were marked CE by the network, in "
                   "the outer header of the tunnel from 10.0.0.101 to 10.0.0.102 (VXLAN)"));
}

}  // namespace
}  // namespace roce::analyze
