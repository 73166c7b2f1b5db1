// SPDX-License-Identifier: Apache-2.0
// What is said while an episode is open.
#include "analyze/tracker/tracker.hpp"
#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze {
namespace tracker_in_progress_test {
namespace {

constexpr End a{1, 0x11};
constexpr End b{2, 0x22};

/// A copy ends with what came so far; what it copies goes on.
TEST(TrackerInProgress, AnOpenEpisodeIsExplainedInACopyOnly) {
  Wire wire;
  wire.talk(a, b, 100, 20);
  EXPECT_EQ(wire.so_far().incidents_in_progress, 0U);
  const auto lost = wire.request(a, b, 120);
  wire.request(a, b, 121);
  wire.answer(b, a, 120, nak_sequence);
  wire.request(a, b, 120);
  for (int again = 0; again < 2; ++again) {
    const Tracker::Result result = wire.so_far();
    EXPECT_EQ(result.incidents_in_progress, 1U);
    EXPECT_EQ(result.incidents.size(), 1U);
    EXPECT_EQ(result.connections.at(0).packets[0], 23U);
  }
  wire.request(a, b, 121);
  wire.answer(b, a, 121);
  wire.talk(a, b, 122, 40);
  EXPECT_EQ(wire.so_far().incidents_in_progress, 0U) << "all is as it should be again";
  wire.finish();
  EXPECT_EQ(wire.result.incidents.size(), 1U);
  EXPECT_EQ(wire.flow(a, b).sequence().retransmitted_packets(), 2U);
  EXPECT_FALSE(wire.verdict(lost).has(Verdict::retransmission));
  wire.expect_all_counted();
}

}  // namespace
}  // namespace tracker_in_progress_test
}  // namespace roce::analyze
