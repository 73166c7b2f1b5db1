// SPDX-License-Identifier: Apache-2.0
// The last of parallel transfers.
#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {
namespace {

struct StragglerMaker : SnapshotMaker {
  /// What host `from` sends to host 9, from the first second on, until then.
  Connection& transfer(unsigned from, std::int64_t until_ms, std::uint64_t bytes = 9'000'000) {
    Connection& c = connect(from, 9);
    c.requester[0].new_bytes = bytes;
    Flow& flow = snapshot.flows[*c.flow[0]];
    flow.first_time_ns = test_second + from * 1000;
    flow.last_time_ns = test_second + until_ms * 1'000'000;
    return c;
  }
};

TEST(StragglerFinding, TriggerWithWhatItSufferedFrom) {
  StragglerMaker maker;
  for (unsigned i = 1; i < 8; ++i) maker.transfer(i, 1000 + i);
  Connection& last = maker.transfer(8, 2000);
  Incident& incident = maker.snapshot.incidents.emplace_back();
  incident.connection = last.id;
  incident.what = IncidentKind::loss;
  incident.lost_after = 1;
  incident.stalled_ns = 900'000'000;
  const auto found = maker.run("straggler");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].from, host(8));
  EXPECT_TRUE(
      says(found[0],
           "is the last of 8 similar transfers to 10.0.0.9 that began together: it ended 2.00 s after the first "
           "began and 993 ms after all others had ended. It was without goodput for 900 ms of that, in 1 "
           "incident with 1 packet lost."))
      << found[0].explanation;
}

TEST(StragglerFinding, WithoutAReasonItSaysSo) {
  StragglerMaker maker;
  for (unsigned i = 1; i < 5; ++i) maker.transfer(i, 1000);
  maker.transfer(5, 3000);
  const auto found = maker.run("straggler");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(says(found[0], "Nothing of it was lost or sent again")) << found[0].explanation;
}

TEST(StragglerFinding, NearMiss) {
  const auto quiet = [](auto&& make) {
    StragglerMaker maker;
    make(maker);
    return maker.run("straggler").empty();
  };
  EXPECT_TRUE(quiet([](StragglerMaker& m) {  // one after the other
    for (unsigned i = 1; i < 8; ++i) m.transfer(i, 1000 * i);
  }));
  EXPECT_TRUE(quiet([](StragglerMaker& m) {  // it had more to send
    for (unsigned i = 1; i < 8; ++i) m.transfer(i, 1000);
    m.transfer(8, 2000, 18'000'000);
  }));
  EXPECT_TRUE(quiet([](StragglerMaker& m) {  // too few
    m.transfer(1, 1000);
    m.transfer(2, 1000);
    m.transfer(3, 2000);
  }));
  EXPECT_TRUE(quiet([](StragglerMaker& m) {  // a little later only
    for (unsigned i = 1; i < 8; ++i) m.transfer(i, 1000);
    m.transfer(8, 1300);
  }));
  EXPECT_TRUE(quiet([](StragglerMaker& m) {  // it began later
    for (unsigned i = 1; i < 8; ++i) m.transfer(i, 1000);
    Connection& late = m.transfer(8, 2000);
    m.snapshot.flows[*late.flow[0]].first_time_ns += test_second;
  }));
}

}  // namespace
}  // namespace roce::analyze
