// SPDX-License-Identifier: Apache-2.0
// Troubles of one host or one way: damaged packets, outages, pauses, and who suffers from what.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "tests/support/fault_collector.hpp"

namespace roce::support {
namespace {

using Way = std::pair<std::uint32_t, std::uint32_t>;  // from host, to host

Way way_of(const Outcome& run, SpaceId space, Kind kind) {
  const auto& host = run.collector.connections[space / 2].endpoints.host;
  const auto sender = static_cast<unsigned>(sender_of(Packet{.space = space, .kind = kind}));
  return {host[sender], host[1 - sender]};
}

std::set<Way> ways_of_losses(const Outcome& run) {
  std::set<Way> ways;
  for (const LossTruth& loss : run.collector.losses) {
    ways.insert(way_of(run, loss.space, loss.kind));
  }
  return ways;
}

// Bytes in which two frames differ.
std::size_t differing(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    count += a[i] != b[i] ? 1U : 0U;
  }
  return count;
}

TEST(FaultPlaces, DamagedPacketsAreCapturedAndNotDelivered) {
  FaultOptions options = small("clean");
  options.rates.corrupt_before = 0.01;
  const Outcome run(options);
  FaultFrames whole(options);
  std::size_t damaged = 0;
  for (const LossTruth& loss : run.collector.losses) {
    EXPECT_EQ(loss.where, LostWhere::before_capture);
    EXPECT_TRUE(loss.damaged);
    ASSERT_GT(loss.frame, 0U);
    const Seen& seen = run.collector.seen[loss.frame - 1];
    Packet packet = seen.packet;
    EXPECT_EQ(packet.psn, loss.psn);
    EXPECT_NE(std::exchange(packet.damage, 0), 0U);
    const auto right = whole.make(packet, run.collector.connections[packet.space / 2].endpoints, false).bytes;
    EXPECT_EQ(differing(seen.bytes, {right.begin(), right.end()}), 1U);
    ++damaged;
  }
  EXPECT_GT(damaged, 100U);
  EXPECT_EQ(damaged, run.totals.damaged);
  EXPECT_EQ(run.totals.delivered, run.totals.at_capture - damaged);
  for (const ConnectionTruth& connection : run.collector.connections) {
    EXPECT_EQ(connection.completed, connection.posted);
  }
}

TEST(FaultPlaces, WhatIsDamagedBehindTheCaptureLooksLost) {
  FaultOptions options = small("clean");
  options.rates.corrupt_after = 0.01;
  const Outcome run(options);
  EXPECT_GT(run.collector.losses.size(), 100U);
  for (const LossTruth& loss : run.collector.losses) {
    EXPECT_EQ(loss.where, LostWhere::after_capture);
    EXPECT_TRUE(loss.damaged);
    EXPECT_EQ(run.collector.seen[loss.frame - 1].packet.damage, 0U);
  }
}

TEST(FaultPlaces, OneWaySuffers) {
  FaultOptions options = small("loss1");
  options.only_from = 2;
  options.only_to = 3;
  EXPECT_EQ(ways_of_losses(Outcome(options)), std::set<Way>({{2, 3}}));
  options.only_to = 0;
  for (const Way& way : ways_of_losses(Outcome(options))) {
    EXPECT_EQ(way.first, 2U);
  }
  EXPECT_GT(ways_of_losses(Outcome(options)).size(), 1U);
}

TEST(FaultPlaces, OneHostRefuses) {
  for (const Kind refusal : {Kind::rnr_nak, Kind::access_nak}) {
    FaultOptions options = small(refusal == Kind::rnr_nak ? "rnr" : "access");
    options.rates.access *= 4;
    options.only_to = 3;
    const Outcome run(options);
    std::size_t refused = 0;
    for (const Seen& seen : run.collector.seen) {
      if (seen.packet.kind == refusal) {
        EXPECT_EQ(way_of(run, seen.packet.space, refusal).first, 3U);
        ++refused;
      }
    }
    EXPECT_GT(refused, 0U);
  }
}

TEST(FaultPlaces, OutagesEnd) {
  FaultOptions options = small("clean");
  options.outage_after = 500'000;
  options.outage_length = 200'000;
  options.only_to = 2;
  const Outcome run(options);
  EXPECT_GT(run.collector.losses.size(), 10U);
  for (const LossTruth& loss : run.collector.losses) {
    const Time at = run.collector.seen[loss.frame - 1].time;
    EXPECT_TRUE(at >= 500'000 && at < 700'000) << at;
    EXPECT_EQ(way_of(run, loss.space, loss.kind).second, 2U);
  }
  for (const ConnectionTruth& connection : run.collector.connections) {
    EXPECT_EQ(connection.completed, connection.posted);
  }
}

TEST(FaultPlaces, DeadWaysEndConnections) {
  FaultOptions options = small("clean");
  options.outage_before = 500'000;
  options.only_from = 2;
  const Outcome run(options);
  for (const ConnectionTruth& connection : run.collector.connections) {
    const auto& host = connection.endpoints.host;
    const bool lost = host[0] == 2 || host[1] == 2;
    EXPECT_EQ(connection.state[0] == EndState::retries_exceeded, lost) << connection.id;
  }
}

TEST(FaultPlaces, WhatGoesToAPausingHostWaits) {
  FaultOptions options = small("pause_storm");
  options.timeout = 14;
  options.marks.pause_from = 300'000;
  options.marks.pause_for = 2'000'000;
  const Outcome run(options);
  Time last = 0;
  std::size_t to_others = 0, after = 0;
  std::map<std::pair<SpaceId, bool>, std::uint64_t> sequence;
  for (const Seen& seen : run.collector.seen) {
    const Packet& packet = seen.packet;
    const bool paused = seen.time > 301'000 && seen.time < 2'400'000;
    const bool waits = way_of(run, packet.space, packet.kind).second == 1;
    EXPECT_FALSE(paused && waits) << packet.frame;
    to_others += paused ? 1U : 0U;
    after += waits && !paused ? 1U : 0U;
    std::uint64_t& before = sequence[{packet.space, is_response(packet.kind)}];
    EXPECT_GT(packet.sequence, std::exchange(before, packet.sequence));
    last = seen.time;
  }
  EXPECT_GT(last, 2'300'000U);
  EXPECT_GT(to_others, 100U);
  EXPECT_GT(after, 100U);
  EXPECT_TRUE(run.collector.losses.empty());
}

TEST(FaultPlaces, AStormWithoutAnEndHoldsNothing) {
  FaultOptions options = small("pause_storm");
  EXPECT_TRUE(contradiction(options).empty());
  options.marks.pause_for = ~Time{0};
  EXPECT_FALSE(contradiction(options).empty());
}

}  // namespace
}  // namespace roce::support
