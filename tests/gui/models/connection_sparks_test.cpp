// SPDX-License-Identifier: Apache-2.0
#include "gui/models/connection_sparks.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <numeric>

#include "gui/models/analysis_session.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace connection_sparks_test {
namespace {

bool opened(AnalysisSession& session, const std::string& name) {
  session.open({QString::fromStdString(sample(name))});
  return eventually([&] { return session.state() == AnalysisSession::State::done; });
}

// What the analysis counted for the report, and where each packet lies, read one by one.
TEST(ConnectionSparks, AreTheConnectionsPacketsAtTheirTimes) {
  AnalysisSession session;
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(opened(session, name));
    const analyze::Snapshot& s = *session.snapshot();
    const PacketStore& store = *session.packets();
    const auto sparks = ConnectionSparks::count(session.packets(), s, {});
    ASSERT_TRUE(sparks);
    EXPECT_EQ(sparks->of(s.connections.size()), nullptr);
    std::vector<ConnectionSpark> expected(s.connections.size());
    capture::FrameStore::Reader reader(store.frames());
    const long double begin = static_cast<long double>(s.totals.first_time_ns);
    const long double length = static_cast<long double>(s.totals.last_time_ns) - begin;
    for (std::uint64_t number = 1; number <= store.size(); ++number) {
      const auto verdict = store.verdict(number);
      if (!verdict || verdict->connection == analyze::Verdict::no_connection ||
          verdict->has(analyze::Verdict::duplicate_capture)) {
        continue;
      }
      const auto frame = reader.read(number);
      ASSERT_TRUE(frame);
      // At an edge of two parts a nanosecond decides.
      const long double place = (static_cast<long double>(frame->time_ns) - begin) * 32 / (length + 32);
      const auto part = static_cast<std::size_t>(std::clamp(place, 0.0L, 31.0L));
      ++expected[verdict->connection].packets[part];
      if (verdict->has(analyze::Verdict::retransmission)) expected[verdict->connection].resent |= 1U << part;
    }
    for (const analyze::Connection& c : s.connections) {
      const ConnectionSpark* spark = sparks->of(c.id);
      ASSERT_NE(spark, nullptr);
      const auto& want = expected[c.id];
      EXPECT_EQ(std::accumulate(spark->packets.begin(), spark->packets.end(), std::uint64_t{0}),
                std::accumulate(want.packets.begin(), want.packets.end(), std::uint64_t{0}));
      std::uint64_t apart = 0;
      for (std::size_t i = 0; i < ConnectionSpark::parts; ++i)
        apart += spark->packets[i] > want.packets[i] ? spark->packets[i] - want.packets[i] : 0;
      EXPECT_LE(apart, 2U) << "connection " << c.id;
      EXPECT_LE(std::popcount(spark->resent ^ want.resent), 2) << "connection " << c.id;
    }
  }
}

// As after an idle one has left a live capture.
TEST(ConnectionSparks, AreFoundByTheNumbersOfThoseThatStayed) {
  AnalysisSession session;
  ASSERT_TRUE(opened(session, "01_srq_pingpong.pcap.zst"));
  analyze::Snapshot fewer = *session.snapshot();
  ASSERT_GT(fewer.connections.size(), 1U);
  const std::uint32_t last = fewer.connections.back().id;
  const auto all = ConnectionSparks::count(session.packets(), fewer, {});
  fewer.connections.erase(fewer.connections.begin());
  const auto sparks = ConnectionSparks::count(session.packets(), fewer, {});
  EXPECT_EQ(sparks->of(0), nullptr);
  ASSERT_NE(sparks->of(last), nullptr);
  EXPECT_EQ(sparks->of(last)->packets, all->of(last)->packets);
}

TEST(ConnectionSparks, AreStopped) {
  AnalysisSession session;
  ASSERT_TRUE(opened(session, "04_write_loss1.cb.pcap.zst"));
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(ConnectionSparks::count(session.packets(), *session.snapshot(), stop.get_token()), nullptr);
}

}  // namespace
}  // namespace connection_sparks_test
}  // namespace roce::gui
