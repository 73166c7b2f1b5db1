// SPDX-License-Identifier: Apache-2.0
// Captures that go on for days: connections come and go, clocks are set, and memory stays what it is.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <vector>

#include "analyze/pipeline/analysis.hpp"
#include "tests/support/frame_builder.hpp"

namespace roce::analyze {
namespace live_days_test {
namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t day = 86'400 * second;
constexpr std::int64_t begin = 1'700'000'000 * second;

/// Connections of four WRITEs each in a day, one after the other, and one that lasts. Of some only one
/// direction comes, some have packets sent again, some are of UD.
class ComingAndGoing final : public capture::CaptureSource {
 public:
  static constexpr unsigned steps = 8;  ///< packets of one, in this order
  explicit ComingAndGoing(unsigned connections) : connections_(connections) {
    interfaces_.resize(1);
    interfaces_[0].link_type = 1;
    files_.resize(1);
  }

  capture::Expected<std::size_t> next_batch(capture::FrameBatch& batch, std::size_t limit) override {
    auto bytes = std::make_shared<std::vector<std::vector<std::uint8_t>>>();
    bytes->reserve(limit);
    while (batch.frames.size() < limit && connection_ < connections_) emit(batch, *bytes);
    batch.keep_alive.push_back(bytes);
    elapsed_ns_ = time_of(connection_, step_);
    return batch.frames.size();
  }
  [[nodiscard]] const std::vector<capture::InterfaceInfo>& interfaces() const override { return interfaces_; }
  [[nodiscard]] const std::vector<capture::FileInfo>& files() const override { return files_; }
  [[nodiscard]] const capture::Statistics& statistics() const override { return statistics_; }
  void request_stop() noexcept override {}

  /// What a steady clock shows; on any thread.
  [[nodiscard]] std::chrono::steady_clock::time_point now() const {
    return std::chrono::steady_clock::time_point(std::chrono::nanoseconds(elapsed_ns_.load()));
  }
  [[nodiscard]] bool is_lossy(unsigned connection) const { return connection % 10 == 3; }
  /// From some connection on the clock that stamps frames is ahead by so much.
  std::map<unsigned, std::int64_t> clock_set;

 private:
  [[nodiscard]] std::int64_t time_of(unsigned connection, unsigned step) const {
    const std::int64_t apart = day / connections_;
    return connection * apart + step * apart / steps;
  }

  void emit(capture::FrameBatch& batch, std::vector<std::vector<std::uint8_t>>& bytes) {
    const auto set = clock_set.upper_bound(connection_);
    time_ns_ = begin + time_of(connection_, step_);
    if (set != clock_set.begin()) time_ns_ += std::prev(set)->second;
    const bool lasting = step_ == 0 && connection_ % 100 == 0;
    if (lasting && !lasting_sent_) {
      packet(batch, bytes, 0xfffff0, lasting_psn_++, false, 0);
      lasting_sent_ = true;
      return;
    }
    lasting_sent_ = false;
    const unsigned i = connection_;
    const unsigned step = step_;
    if (++step_ == steps) {
      step_ = 0;
      ++connection_;
    }
    const bool answer = step % 2 != 0;
    if (i % 7 == 5 && answer) return;             // its answers go another way
    if (i % 11 == 6 && step >= 2) return;         // short ones
    const bool again = is_lossy(i) && step >= 4;  // everything is sent twice
    packet(batch, bytes, i, (step / 2) % (again ? 2 : 4), answer, step);
  }

  void packet(capture::FrameBatch& batch, std::vector<std::vector<std::uint8_t>>& bytes, unsigned connection,
              unsigned psn, bool answer, unsigned step) {
    support::RoceFrame frame;
    const auto client = static_cast<std::uint8_t>(1 + connection % 100);
    const auto server = static_cast<std::uint8_t>(101 + connection / 100 % 100);
    support::Ipv4 ip;
    ip.source = {10, 0, 0, answer ? server : client};
    ip.destination = {10, 0, 0, answer ? client : server};
    ip.id = static_cast<std::uint16_t>(2 * psn + (answer ? 1 : 0) + step);
    frame.network = ip;
    const std::uint32_t client_qp = 2 + 2 * (connection % 0x700000), server_qp = client_qp + 1;
    frame.udp_source = support::rc_source_port(client_qp, server_qp);
    const bool ud = connection % 13 == 9;
    frame.bth.dest_qp = answer ? client_qp : server_qp;
    frame.bth.psn = (1000 * connection + psn) & 0xffffffU;
    frame.bth.ack_request = !answer;
    if (ud) {
      frame.bth.opcode = 0x64;
      frame.extended.deth(1, answer ? server_qp : client_qp);
    } else if (answer) {
      frame.bth.opcode = 0x11;
      // A duplicate is acknowledged with the count of today.
      frame.extended.aeth(0x1f, is_lossy(connection) ? std::min(step / 2 + 1, 2U) : psn + 1);
    } else {
      frame.bth.opcode = 0x0a;
      frame.extended.reth(4096, 17, 64);
    }
    static constexpr std::uint8_t payload[64] = {};
    if (!answer || ud) frame.payload = payload;
    std::vector<std::uint8_t>& out = bytes.emplace_back();
    support::build(frame, out);
    capture::Frame f;
    f.data = out.data();
    f.captured = f.wire = static_cast<std::uint32_t>(out.size());
    f.time_ns = time_ns_;
    f.link_type = 1;
    batch.frames.push_back(f);
  }

  unsigned connections_;
  unsigned connection_ = 0, step_ = 0;
  std::int64_t time_ns_ = 0;  ///< of the frame, as stamped
  unsigned lasting_psn_ = 0;
  bool lasting_sent_ = false;
  std::atomic<std::int64_t> elapsed_ns_ = 0;
  std::vector<capture::InterfaceInfo> interfaces_;
  std::vector<capture::FileInfo> files_;
  capture::Statistics statistics_;
};

AnalysisOptions live_options(const ComingAndGoing& source) {
  AnalysisOptions options = live_analysis();
  options.jobs = 1;
  options.epoch_frames = 64;  // a device gives what it has
  options.check_icrc = false;
  options.clock = [&source] { return source.now(); };
  options.flow_limit = 16 * 1024;
  return options;
}

std::uint64_t listed_packets(const Snapshot& snapshot) {
  std::uint64_t sum = 0;
  for (const Flow& flow : snapshot.flows) sum += flow.packets;
  return sum;
}

std::uint64_t lossy(const Snapshot& snapshot) {
  return static_cast<std::uint64_t>(
      std::count_if(snapshot.connections.begin(), snapshot.connections.end(),
                    [](const Connection& c) { return !c.sent[0].empty() || !c.sent[1].empty(); }));
}

/// What the allocator has given out, in bytes.
std::size_t memory_in_use() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

TEST(LiveDays, MemoryStaysFlatWhileConnectionsComeAndGo) {
  constexpr unsigned connections = 200'000;
  ComingAndGoing source(connections);
  AnalysisOptions options = live_options(source);
  std::vector<std::size_t> by_hour(25);
  unsigned calls = 0;
  options.progress = [&](const capture::CaptureSource&, std::uint64_t) {
    if (++calls % 100 != 0) return;  // the allocator counts for long
    const auto hour = std::chrono::duration_cast<std::chrono::hours>(source.now().time_since_epoch()).count();
    std::size_t& most = by_hour[std::min<std::size_t>(24, static_cast<std::size_t>(hour))];
    most = std::max(most, memory_in_use());
  };
  const auto snapshot = analyze(source, options);

  // After six hours there is what stays: idle connections in trouble are kept while there is room.
  const std::size_t early = *std::max_element(by_hour.begin() + 4, by_hour.begin() + 9);
  const std::size_t late = *std::max_element(by_hour.begin() + 9, by_hour.end());
  // Incidents stay as well, but no more than IncidentLog::of_all: a vector with room for twice as many, and
  // for each connection an entry of a map.
  const std::size_t incidents = snapshot->incidents.size() * (2 * sizeof(Incident) + 128);
  EXPECT_LE(late, early + early / 20 + incidents) << "bytes: " << testing::PrintToString(by_hour);

  EXPECT_GT(snapshot->totals.roce_packets, 5 * connections);
  EXPECT_EQ(listed_packets(*snapshot) + snapshot->departed.packets, snapshot->totals.roce_packets);
  EXPECT_LE(snapshot->flows.size(), options.flow_limit * 3 / 4);
  EXPECT_GT(snapshot->departed.connections, connections / 2);
  EXPECT_EQ(snapshot->departed.flows, snapshot->departed.idle_flows);  // the table was never full
  // Every lossy connection has two packets sent again, wherever it is counted.
  std::uint64_t again = snapshot->departed.sequence.retransmitted_packets();
  for (const Flow& flow : snapshot->flows) again += flow.sequence().retransmitted_packets();
  EXPECT_GT(again, connections / 10);
  EXPECT_GT(lossy(*snapshot), 2000U);
  EXPECT_FALSE(snapshot->findings.empty());
  // The one that lasts is still the same.
  const auto lasting = std::max_element(snapshot->flows.begin(), snapshot->flows.end(),
                                        [](const Flow& a, const Flow& b) { return a.packets < b.packets; });
  ASSERT_NE(lasting, snapshot->flows.end());
  EXPECT_EQ(lasting->packets, connections / 100);
  EXPECT_TRUE(std::any_of(snapshot->diagnostics.begin(), snapshot->diagnostics.end(),
                          [](const Diagnostic& d) { return d.id == "flows_retired"; }));
}

TEST(LiveDays, SnapshotsStaySmallAndTheirSumsWhole) {
  ComingAndGoing source(20'000);
  AnalysisOptions options = live_options(source);
  options.flow_limit = 1024;
  options.publish_every = std::chrono::minutes(10);
  std::size_t snapshots = 0, most_flows = 0;
  std::uint64_t repeats_before = 0;
  options.publish = [&](const std::shared_ptr<const Snapshot>& snapshot) {
    ++snapshots;
    most_flows = std::max(most_flows, snapshot->flows.size());
    EXPECT_LE(snapshot->connections.size(), snapshot->flows.size());
    EXPECT_EQ(listed_packets(*snapshot) + snapshot->departed.packets, snapshot->totals.roce_packets);
    std::uint64_t repeats = snapshot->departed.sequence.retransmitted_packets();
    for (const Flow& flow : snapshot->flows) repeats += flow.sequence().retransmitted_packets();
    EXPECT_GE(repeats, repeats_before);  // a counter for monitoring
    repeats_before = repeats;
  };
  static_cast<void>(analyze(source, options));
  EXPECT_GT(snapshots, 0U);
  EXPECT_LE(most_flows, 1024U);
}

TEST(LiveDays, IdleConnectionsStayWithoutALimit) {
  ComingAndGoing source(1000);
  AnalysisOptions options = live_options(source);
  options.idle_limit = std::chrono::nanoseconds(0);
  const auto snapshot = analyze(source, options);
  EXPECT_EQ(snapshot->departed.flows, 0U);
  EXPECT_GE(snapshot->connections.size(), 900U);
}

/// The longest times that the report tells.
struct Longest {
  std::int64_t capture_ns = 0;
  std::uint64_t latency_ns = 0;
  std::int64_t connection_ns = 0;
};
Longest longest(const Snapshot& snapshot) {
  Longest result;
  result.capture_ns = snapshot.totals.last_time_ns - snapshot.totals.first_time_ns;
  for (const Connection& c : snapshot.connections) {
    result.connection_ns = std::max(result.connection_ns, c.last_time_ns - c.first_time_ns);
    for (const Requester& r : c.requester) {
      for (const OperationStats& o : r.operations) {
        result.latency_ns = std::max(result.latency_ns, o.latency_ns.max());
      }
    }
  }
  return result;
}

TEST(LiveDays, ClockStepsLeaveDurationsAndLatenciesAsTheyAre) {
  const auto run = [](const std::map<unsigned, std::int64_t>& set) {
    ComingAndGoing source(2000);
    source.clock_set = set;
    AnalysisOptions options = live_options(source);
    options.idle_limit = std::chrono::nanoseconds(0);
    return analyze(source, options);
  };
  const auto plain = run({});
  const auto stepped = run({{501, -3600 * second}, {1200, day}, {1301, day - 3600 * second}});
  ASSERT_EQ(plain->connections.size(), stepped->connections.size());
  const Longest before = longest(*plain), after = longest(*stepped);
  // What lies in a step is known as well as when frames came.
  constexpr double exact = 2000e9;
  EXPECT_NEAR(static_cast<double>(after.capture_ns), static_cast<double>(before.capture_ns), exact);
  EXPECT_NEAR(static_cast<double>(after.connection_ns), static_cast<double>(before.connection_ns), exact);
  EXPECT_LE(after.latency_ns, before.latency_ns + 1'000'000'000'000);
  const auto told = std::find_if(stepped->diagnostics.begin(), stepped->diagnostics.end(),
                                 [](const Diagnostic& d) { return d.id == "clock_stepped"; });
  ASSERT_NE(told, stepped->diagnostics.end());
  EXPECT_EQ(told->count, 3U);
  EXPECT_EQ(told->details.size(), 3U);
  EXPECT_FALSE(std::any_of(plain->diagnostics.begin(), plain->diagnostics.end(),
                           [](const Diagnostic& d) { return d.id == "clock_stepped"; }));
}

}  // namespace
}  // namespace live_days_test
}  // namespace roce::analyze
