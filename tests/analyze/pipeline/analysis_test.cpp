// SPDX-License-Identifier: Apache-2.0
#include "analyze/pipeline/analysis.hpp"

#include <gtest/gtest.h>

#include "tests/analyze/pipeline/memory_source.hpp"

namespace roce::analyze {
namespace {

support::TrafficOptions some_traffic() {
  support::TrafficOptions options;
  options.connections = 5;
  options.hosts = 3;
  options.message_bytes = 2500;  // three packets each, the last one short
  options.path_mtu = 1024;
  return options;
}

std::shared_ptr<const Snapshot> run(std::size_t packets, const AnalysisOptions& options) {
  MemorySource source;
  source.add_traffic(some_traffic(), packets);
  return analyze(source, options);
}

void expect_equal(const Snapshot& a, const Snapshot& b) {
  EXPECT_EQ(a.totals.packets, b.totals.packets);
  EXPECT_EQ(a.totals.bytes, b.totals.bytes);
  EXPECT_EQ(a.totals.roce_packets, b.totals.roce_packets);
  EXPECT_EQ(a.totals.opcodes, b.totals.opcodes);
  EXPECT_EQ(a.totals.icrc, b.totals.icrc);
  EXPECT_EQ(a.totals.icrc_mismatches, b.totals.icrc_mismatches);
  ASSERT_EQ(a.flows.size(), b.flows.size());
  for (std::size_t i = 0; i < a.flows.size(); ++i) {
    EXPECT_EQ(a.flows[i].id, b.flows[i].id);
    EXPECT_TRUE(a.flows[i].key == b.flows[i].key);
    EXPECT_EQ(a.flows[i].packets, b.flows[i].packets);
    EXPECT_EQ(a.flows[i].payload_bytes, b.flows[i].payload_bytes);
    EXPECT_EQ(a.flows[i].messages, b.flows[i].messages);
    EXPECT_EQ(a.flows[i].last_psn, b.flows[i].last_psn);
  }
}

TEST(Analysis, NeitherThreadsNorEpochsChangeTheResult) {
  AnalysisOptions options;
  options.jobs = 1;
  const auto reference = run(10'000, options);
  EXPECT_EQ(reference->totals.roce_packets, 10'000U);
  EXPECT_EQ(reference->totals.icrc[0], 10'000U);  // the generator computes ICRCs on its own
  EXPECT_EQ(reference->flows.size(), 10U);
  for (const unsigned jobs : {2U, 3U, 8U}) {
    for (const std::size_t epoch : {1U, 7U, 1024U, 5000U, 100'000U}) {
      if (epoch == 1 && jobs > 2) continue;
      options.jobs = jobs;
      options.epoch_frames = epoch;
      expect_equal(*reference, *run(10'000, options));
    }
  }
}

TEST(Analysis, MessagesAreCountedAtTheirEnd) {
  AnalysisOptions options;
  std::uint64_t requests = 0;
  std::uint64_t payload = 0;
  const auto snapshot = run(9'000, options);
  for (const Flow& flow : snapshot->flows) {
    requests += flow.messages;
    payload += flow.payload_bytes;
  }
  const auto& opcodes = snapshot->totals.opcodes;
  EXPECT_EQ(requests, opcodes[0x08]);  // RDMA WRITE Last; ACKs are no messages
  EXPECT_EQ(payload, (opcodes[0x06] + opcodes[0x07]) * 1024 + opcodes[0x08] * 452);  // pad is no payload
}

TEST(Analysis, AnInputThatFailsIsKeptBesideTheResult) {
  MemorySource source;
  source.add_traffic(some_traffic(), 100);
  source.fail_with({capture::ErrorKind::damaged, "a.pcap", 77, "a length contradicts itself", 0});
  const auto snapshot = analyze(source, {});
  EXPECT_EQ(snapshot->totals.packets, 100U);
  ASSERT_EQ(snapshot->errors.size(), 1U);
  ASSERT_FALSE(snapshot->diagnostics.empty());
  EXPECT_EQ(snapshot->diagnostics.front().id, "input_failed");
  EXPECT_EQ(snapshot->diagnostics.front().severity, DiagnosticSeverity::error);
  ASSERT_EQ(snapshot->diagnostics.front().details.size(), 1U);
  EXPECT_NE(snapshot->diagnostics.front().details.front().find("77"), std::string::npos);
}

/// Ends before its end, as after request_stop().
class StoppedSource final : public MemorySource {
 public:
  [[nodiscard]] bool stopped() const noexcept override { return true; }
};

TEST(Analysis, WhatWasStoppedIsIncomplete) {
  const auto stopped = [](const AnalysisOptions& options) {
    StoppedSource source;
    source.add_traffic(some_traffic(), 100);
    return analyze(source, options);
  };
  const auto snapshot = stopped({});
  EXPECT_TRUE(snapshot->interrupted);
  EXPECT_FALSE(snapshot->complete());
  ASSERT_FALSE(snapshot->diagnostics.empty());
  EXPECT_EQ(snapshot->diagnostics.front().id, "interrupted");
  const auto live = stopped(live_analysis());  // has no other end
  EXPECT_FALSE(live->interrupted);
  EXPECT_TRUE(live->complete());
  AnalysisOptions second_pass;
  second_pass.known_interrupted = true;
  EXPECT_TRUE(run(100, second_pass)->interrupted);
  EXPECT_TRUE(run(100, {})->complete());
}

TEST(Analysis, VerdictsThatWereNotKeptMakeItIncomplete) {
  VerdictStore verdicts(60);
  AnalysisOptions options;
  options.verdicts = &verdicts;
  EXPECT_TRUE(run(100, options)->complete());  // it needs none of them
  options.verdicts = nullptr;
  options.known = &verdicts;
  const auto second = run(100, options);
  EXPECT_FALSE(second->complete());
  ASSERT_FALSE(second->diagnostics.empty());
  EXPECT_EQ(second->diagnostics.front().id, "verdicts_not_kept");
  EXPECT_GT(verdicts.lost(), 0U);
  EXPECT_EQ(second->diagnostics.front().count, verdicts.lost());
}

TEST(Analysis, TimesAndFilterSelect) {
  const std::int64_t start = 1'700'000'000'000'000'000;
  AnalysisOptions options;
  options.times.from = TimeBound{start + 10'000};
  options.times.to = TimeBound{19'999, TimeBound::Since::first_frame};  // after the first frame
  EXPECT_EQ(run(1000, options)->totals.packets, 10U);

  const auto filter = Filter::compile("frame.number in {5 .. 9} || frame.number == 700");
  ASSERT_TRUE(filter.has_value());
  options = {};
  options.filter = &*filter;
  options.epoch_frames = 64;
  EXPECT_EQ(run(1000, options)->totals.packets, 6U);
}

TEST(Analysis, AFilterOnFlowsMeansTheFlowsOfAllPackets) {
  AnalysisOptions all;
  const auto whole = run(2000, all);
  const auto filter = Filter::compile("roce.flow == 3");
  ASSERT_TRUE(filter.has_value());
  AnalysisOptions options;
  options.filter = &*filter;
  options.jobs = 2;
  const auto part = run(2000, options);
  ASSERT_EQ(part->flows.size(), 1U);
  EXPECT_EQ(part->flows[0].id, 3U);  // keeps its number
  EXPECT_TRUE(part->flows[0].key == whole->flows[3].key);
  EXPECT_EQ(part->flows[0].packets, whole->flows[3].packets);
}

TEST(Analysis, ManyFlowsLeaveTheTableButNotTheTotals) {
  MemorySource source;
  support::TrafficOptions traffic = some_traffic();
  traffic.connections = 500;
  traffic.burst = 1;
  source.add_traffic(traffic, 20'000);
  AnalysisOptions options;
  options.flow_limit = 100;
  const auto snapshot = analyze(source, options);
  EXPECT_LE(snapshot->flows.size(), 100U);
  std::uint64_t counted = snapshot->evicted_packets;
  for (const Flow& flow : snapshot->flows) counted += flow.packets;
  EXPECT_EQ(counted, 20'000U);
  EXPECT_EQ(snapshot->totals.roce_packets, 20'000U);
  EXPECT_TRUE(std::any_of(snapshot->diagnostics.begin(), snapshot->diagnostics.end(),
                          [](const Diagnostic& d) { return d.id == "flows_evicted" && d.count > 0; }));
}

TEST(Analysis, StopsWhenAsked) {
  for (const unsigned jobs : {1U, 2U, 4U}) {
    MemorySource source;
    source.add_traffic(some_traffic(), 10'000);
    std::stop_source stop;
    AnalysisOptions options;
    options.jobs = jobs;
    options.epoch_frames = 100;
    std::uint64_t last = 0;
    options.progress = [&](const capture::CaptureSource&, std::uint64_t frames) {
      EXPECT_EQ(frames, last + 100);
      last = frames;
      if (frames >= 300) stop.request_stop();
    };
    // What was read already is analysed: with one thread nothing, else some batches.
    const std::uint64_t packets = analyze(source, options, stop.get_token())->totals.packets;
    EXPECT_GE(packets, 300U);
    EXPECT_LE(packets, jobs == 1 ? 300U : 2500U);
    EXPECT_EQ(packets, last);
  }
}

TEST(Analysis, FilteredFramesAreTheSameWithAnyNumberOfThreads) {
  const auto filter =
      Filter::compile("frame.number < 7000 && frame.time_delta > 0.0000005 && roce.icrc.status == match");
  ASSERT_TRUE(filter.has_value());
  AnalysisOptions options;
  options.filter = &*filter;
  options.jobs = 1;
  const auto reference = run(10'000, options);
  EXPECT_GT(reference->totals.packets, 0U);
  EXPECT_LT(reference->totals.packets, 7000U);
  for (const unsigned jobs : {2U, 5U}) {
    for (const std::size_t epoch : {13U, 1000U, 20'000U}) {
      options.jobs = jobs;
      options.epoch_frames = epoch;
      expect_equal(*reference, *run(10'000, options));
    }
  }
}

TEST(Analysis, DropsAreSummedOrUnknown) {
  Snapshot snapshot;
  snapshot.interfaces.resize(2);
  EXPECT_FALSE(snapshot.dropped().has_value());
  snapshot.interfaces[0].dropped_by_kernel = 3;
  snapshot.interfaces[1].dropped_by_interface = 4;
  EXPECT_EQ(snapshot.dropped(), 7U);
}

}  // namespace
}  // namespace roce::analyze
