// SPDX-License-Identifier: Apache-2.0
// Connections that were set up late.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t ms = 1'000'000;

struct CmMaker : SnapshotMaker {
  CmExchange& exchange(std::int64_t rep_ns, std::int64_t rtu_ns) {
    CmExchange& e = snapshot.exchanges.emplace_back();
    const auto n = static_cast<std::uint32_t>(snapshot.exchanges.size());
    e.state = CmExchange::State::established;
    e.transport = dissect::Transport::roce_v2_ipv4;
    e.client = host(1);
    e.server = host(2);
    e.client_comm_id = n;
    e.service_id = 0x1061144;
    e.req = {10 * n, test_second, 1, 0, 10 * n, test_second};
    e.rep = {10 * n + 4, test_second + rep_ns, 1, 0, 10 * n + 4, test_second + rep_ns};
    e.rtu = {10 * n + 6, test_second + rtu_ns, 1, 0, 10 * n + 6, test_second + rtu_ns};
    return e;
  }
};

void again(CmSeen& seen, std::int64_t after_ns) {
  ++seen.count;
  ++seen.last_frame;
  seen.last_time_ns = seen.time_ns + after_ns;
}

TEST(CmSlowFinding, TriggerWhereTheReqComesAgain) {
  CmMaker maker;
  for (int i = 0; i < 3; ++i) {
    CmExchange& e = maker.exchange(4001 * ms, 4002 * ms);
    again(e.req, 4000 * ms);
  }
  again(maker.exchange(1 * ms, 4002 * ms).req, 4000 * ms);
  const auto found = maker.run("cm_slow");
  ASSERT_EQ(found.size(), 2U) << "and an RTU that came late";
  EXPECT_EQ(found[0].severity, Severity::warning);
  EXPECT_EQ(found[0].count, 4U);
  EXPECT_TRUE(says(found[0],
                   "10.0.0.1 sent its REQ to 10.0.0.2 for service 0x0000000001061144 (NVMe-oF, port 4420) "
                   "again in 4 set-ups, twice at most; it took up to 4.00 s to connect."))
      << found[0].explanation;
  EXPECT_TRUE(says(found[0], "In 1 of them the REP had passed this capture before")) << found[0].explanation;
  EXPECT_TRUE(says(found[0], "In 3 no REP had been captured before")) << found[0].explanation;
}

TEST(CmSlowFinding, TriggerWhereTheRepComesAgain) {
  CmMaker maker;
  again(maker.exchange(1 * ms, 2 * ms).rep, 4000 * ms);
  const auto found = maker.run("cm_slow");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::notice);
  EXPECT_TRUE(says(found[0], "10.0.0.2 sent its REP to 10.0.0.1")) << found[0].explanation;
  EXPECT_TRUE(says(found[0],
                   "Each time the RTU had passed this capture before: it was lost on its way to 10.0.0.2, or "
                   "10.0.0.2 was slow to take it."))
      << found[0].explanation;
}

TEST(CmSlowFinding, TriggerWhereTheServerIsSlow) {
  CmMaker maker;
  maker.exchange(2500 * ms, 2501 * ms);
  const auto found = maker.run("cm_slow");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "10.0.0.2 took up to 2.50 s to answer the REQ of 10.0.0.1"))
      << found[0].explanation;
}

TEST(CmSlowFinding, NearMiss) {
  CmMaker maker;
  maker.exchange(20 * ms, 21 * ms);
  CmExchange& refused = maker.exchange(1 * ms, 2 * ms);
  again(refused.req, 4000 * ms);
  refused.rej = refused.rtu;
  refused.reject_reason = 8;
  CmExchange& silent = maker.exchange(1 * ms, 2 * ms);
  again(silent.req, 4000 * ms);
  silent.rep = silent.rtu = {};
  EXPECT_TRUE(maker.run("cm_slow").empty());
}

}  // namespace
}  // namespace roce::analyze
