// SPDX-License-Identifier: Apache-2.0
// A connection packet by packet must say what fields and snapshot say of the same packets.
#include "analyze/trace/connection_trace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/filter/field_registry.hpp"
#include "analyze/pipeline/analysis.hpp"
#include "analyze/results/connection_columns.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"
#include "tests/analyze/link/link_frames.hpp"
#include "tests/analyze/pipeline/memory_source.hpp"

namespace roce::analyze {
namespace {

using Kind = TracePoint::Kind;

struct Analyzed {
  std::string path;
  VerdictStore verdicts;
  std::shared_ptr<const Snapshot> snapshot;

  [[nodiscard]] std::unique_ptr<capture::CaptureSource> open() const {
    return std::move(*capture::open_files({path}));
  }
  [[nodiscard]] ConnectionTrace trace(std::uint32_t id, std::size_t limit = TraceOptions::default_limit) {
    TraceOptions options;
    options.connection = id;
    options.pmtu = snapshot->connections[id].pmtu;
    options.limit = limit;
    return trace_connection(*open(), verdicts, options);
  }
};

std::unique_ptr<Analyzed> analyzed(const std::string& name) {
  auto result = std::make_unique<Analyzed>();
  result->path = std::string(ROCE_SAMPLES) + "/" + name;
  AnalysisOptions options;
  options.verdicts = &result->verdicts;
  result->snapshot = analyze(*result->open(), options);
  return result;
}

std::vector<std::string> all_samples() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(ROCE_SAMPLES)) {
    const std::string name = entry.path().filename();
    if (name.find(".pcap") != std::string::npos) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// What `packets -T fields` prints of a packet.
std::string fields_of(const PacketView& view) {
  static constexpr std::string_view names[] = {"roce.direction",
                                               "infiniband.bth.opcode",
                                               "infiniband.bth.psn",
                                               "infiniband.aeth.syndrome",
                                               "frame.len",
                                               "roce.analysis.retransmission.cause",
                                               "roce.analysis.retransmission.original",
                                               "roce.analysis.request",
                                               "roce.analysis.response"};
  std::string text;
  for (const std::string_view name : names) {
    Values values;
    extract(view, *find_field(name), values);
    for (const Value& value : values) append_value(text, field_facts(*find_field(name)), value);
    text += '|';
  }
  return text;
}

/// The same in a trace's words.
std::string fields_of(const TracePoint& p) {
  const Verdict& v = p.verdict;
  const auto number = [](std::uint64_t n) { return n == 0 ? std::string() : std::to_string(n); };
  std::string text = p.has(TracePoint::b_to_a) ? "b_to_a|" : "a_to_b|";
  text += std::to_string(p.opcode) + '|' + std::to_string(p.psn & 0xffffff) + '|';
  if (dissect::opcode_info(p.opcode).aeth_offset != dissect::OpcodeInfo::absent)
    text += std::to_string(p.syndrome);
  text += '|' + std::to_string(p.wire) + '|';
  text += std::string(cause_name(v.cause)) + '|';
  const bool original = v.has(Verdict::retransmission) && !v.has(Verdict::duplicate_capture);
  text += number(original ? v.original : 0) + '|' + number(v.request) + '|' + number(v.response) + '|';
  return text;
}

TEST(ConnectionTrace, SaysOfEachPacketWhatFieldsSay) {
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    const auto sample = analyzed(name);
    std::map<std::uint32_t, std::map<std::uint64_t, std::string>> wanted;
    const auto source = sample->open();
    capture::FrameBatch batch;
    std::uint64_t number = 0;
    while (source->next_batch(batch, 1000).value_or(0) != 0) {
      for (const capture::Frame& frame : batch.frames) {
        PacketView view;
        view.number = ++number;
        view.frame = &frame;
        view.verdict = sample->verdicts.find(number);
        if (view.verdict == nullptr || view.verdict->connection == Verdict::no_connection) continue;
        dissect::Dissection d;
        dissect::dissect(view.bytes(), frame.wire, frame.link_type, d);
        view.dissection = &d;
        // What the capture cut off has no such field.
        std::string text = fields_of(view);
        if (d.stop == dissect::Stop::cut_by_capture) text.clear();
        wanted[view.verdict->connection][number] = text;
      }
      batch.clear();
    }
    for (const Connection& connection : sample->snapshot->connections) {
      const ConnectionTrace trace = sample->trace(connection.id);
      const auto& expected = wanted[connection.id];
      ASSERT_EQ(trace.points.size(), expected.size()) << connection.id;
      EXPECT_EQ(trace.packets, expected.size());
      EXPECT_TRUE(trace.complete());
      for (const TracePoint& point : trace.points) {
        const auto found = expected.find(point.packet);
        ASSERT_NE(found, expected.end()) << point.packet;
        if (!found->second.empty()) {
          EXPECT_EQ(fields_of(point), found->second) << point.packet;
        }
      }
      EXPECT_TRUE(
          std::is_sorted(trace.points.begin(), trace.points.end(),
                         [](const TracePoint& a, const TracePoint& b) { return a.time_ns < b.time_ns; }));
    }
  }
}

TEST(ConnectionTrace, CountsWhatTheSnapshotCounts) {
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    const auto sample = analyzed(name);
    const Snapshot& s = *sample->snapshot;
    for (const Connection& connection : s.connections) {
      SCOPED_TRACE(connection.id);
      const ConnectionTrace trace = sample->trace(connection.id);
      const ConnectionRow row(s, connection);
      for (unsigned side = 0; side < 2; ++side) {
        std::array<std::uint64_t, cause_count> causes{};
        std::array<std::uint64_t, lost_count> lost{};
        std::uint64_t bytes = 0, packets = 0, naks = 0, cnps = 0;
        for (const TracePoint& p : trace.points) {
          const bool own = p.side() == side;
          if (own && p.verdict.has(Verdict::retransmission) && !p.is_copy())
            ++causes[static_cast<std::size_t>(p.verdict.cause)];
          if (own && !p.is_copy()) {
            ++packets;
            bytes += p.wire;
            cnps += p.kind == Kind::cnp ? 1 : 0;
          }
          naks += p.space() == side && !p.is_copy() && (p.kind == Kind::nak || p.kind == Kind::rnr_nak);
        }
        EXPECT_EQ(packets, connection.packets[side]);
        EXPECT_EQ(bytes, connection.bytes[side]);
        EXPECT_EQ(cnps, connection.cnps[side]);
        std::uint64_t sum = 0;
        for (const Series::Bucket& bucket : trace.sent[side].buckets()) {
          sum += bucket.bytes;
          lost[1] += bucket.lost;
        }
        EXPECT_EQ(sum, bytes);
        if (const Flow* flow = row.flow(side)) {
          EXPECT_EQ(causes, flow->sequence().retransmitted);
        }
        std::uint64_t wanted = 0;
        for (const std::uint64_t n : connection.requester[side].trouble->naks) wanted += n;
        EXPECT_EQ(naks, wanted);
      }
    }
  }
}

TEST(ConnectionTrace, TimesOperationsAsTheSnapshotDoes) {
  std::uint64_t all = 0;
  for (const std::string& name : all_samples()) {
    SCOPED_TRACE(name);
    const auto sample = analyzed(name);
    for (const Connection& connection : sample->snapshot->connections) {
      const ConnectionTrace trace = sample->trace(connection.id);
      for (unsigned side = 0; side < 2; ++side) {
        for (const OperationStats& stats : connection.requester[side].operations) {
          Histogram own;
          for (const TracedOperation& operation : trace.operations) {
            if (operation.side == side && operation.kind == stats.kind)
              own.add(static_cast<std::uint64_t>(operation.latency_ns));
          }
          // Open: behind reordering the snapshot does not time every message that the trace times.
          if (name == "04_write_reorder.cb.pcap.zst" && own.count() != stats.latency_ns.count()) {
            EXPECT_LT(stats.latency_ns.count(), own.count());
            continue;
          }
          EXPECT_EQ(own.count(), stats.latency_ns.count());
          EXPECT_EQ(own.min(), stats.latency_ns.min());
          EXPECT_EQ(own.percentile(0.5), stats.latency_ns.percentile(0.5));
          // When a READ is done of which responses were lost is judged by more evidence there.
          if (stats.kind != OperationKind::read || stats.retried == 0) {
            EXPECT_EQ(own.max(), stats.latency_ns.max());
          }
          all += own.count();
        }
      }
    }
  }
  EXPECT_GT(all, 7000U);
}

TEST(ConnectionTrace, MarksTheTransmissionThatWasLost) {
  // Behind its capture point every loss was one that a later packet names.
  const auto sample = analyzed("04_write_loss1.ca.pcap.zst");
  const ConnectionTrace trace = sample->trace(0);
  std::map<std::uint64_t, const TracePoint*> by_packet;
  for (const TracePoint& point : trace.points) by_packet[point.packet] = &point;
  std::uint64_t lost = 0, named = 0;
  for (const TracePoint& point : trace.points) {
    named += point.verdict.lost_after;
    if (!point.has(TracePoint::lost_behind)) continue;
    ++lost;
    EXPECT_EQ(point.kind, Kind::request);
    // It was sent again, and the repeat says of what.
    const bool repeated = std::any_of(trace.points.begin(), trace.points.end(), [&](const TracePoint& p) {
      return p.packet > point.packet && p.psn == point.psn && p.verdict.has(Verdict::retransmission);
    });
    EXPECT_TRUE(repeated) << point.packet;
  }
  EXPECT_GT(lost, 10U);
  EXPECT_EQ(lost, named);
}

TEST(ConnectionTrace, KeepsWhatIsRemarkableWhereThereIsNoRoomForAll) {
  const auto sample = analyzed("04_write_loss1.ca.pcap.zst");
  const ConnectionTrace whole = sample->trace(0);
  const auto remarkable = [](const ConnectionTrace& t) {
    std::set<std::uint64_t> packets;
    for (const TracePoint& p : t.points) {
      if (p.remarkable()) packets.insert(p.packet);
    }
    return packets;
  };
  const std::size_t marks = remarkable(whole).size();
  ASSERT_GT(marks, 20U);
  const std::size_t limit = 2 * marks + 2;
  ASSERT_GT(whole.points.size(), limit);
  const ConnectionTrace thinned = sample->trace(0, limit);
  EXPECT_LE(thinned.points.size(), limit);
  EXPECT_GT(thinned.stride, 1U);
  EXPECT_EQ(thinned.remarkable_stride, 1U);
  EXPECT_FALSE(thinned.complete());
  EXPECT_EQ(thinned.packets, whole.packets);
  // A loss may be known only when its packet has been left out already.
  for (const std::uint64_t packet : remarkable(thinned)) EXPECT_TRUE(remarkable(whole).contains(packet));
  EXPECT_EQ(thinned.sent[0].buckets().size(), whole.sent[0].buckets().size());
  // The same again, and in the end even marks make room.
  const ConnectionTrace again = sample->trace(0, limit);
  ASSERT_EQ(again.points.size(), thinned.points.size());
  for (std::size_t i = 0; i < again.points.size(); ++i)
    EXPECT_EQ(again.points[i].packet, thinned.points[i].packet);
  const ConnectionTrace few = sample->trace(0, 16);
  EXPECT_LE(few.points.size(), 16U);
  EXPECT_LE(few.operations.size(), 16U);
  EXPECT_GT(few.remarkable_stride, 1U);
}

TEST(ConnectionTrace, StopsWhenAskedTo) {
  const auto sample = analyzed("02_write_bw_64k.pcap.zst");
  std::stop_source stop;
  TraceOptions options;
  std::uint64_t calls = 0;
  options.progress = [&](const capture::CaptureSource&, std::uint64_t) {
    ++calls;
    stop.request_stop();
  };
  const ConnectionTrace trace =
      trace_connection(*sample->open(), sample->verdicts, options, stop.get_token());
  EXPECT_TRUE(trace.stopped);
  EXPECT_EQ(calls, 1U);
  EXPECT_FALSE(sample->trace(0).stopped);
  EXPECT_EQ(sample->trace(0).frames, sample->snapshot->frames_read);
}

TEST(ConnectionTrace, IsEmptyForAConnectionThatIsNotThere) {
  const auto sample = analyzed("03_rping.pcap");
  TraceOptions options;
  options.connection = 12'345;
  const ConnectionTrace trace = trace_connection(*sample->open(), sample->verdicts, options);
  EXPECT_TRUE(trace.points.empty());
  EXPECT_EQ(trace.packets, 0U);
}

TEST(ConnectionTrace, TellsPausesOfThePrioritiesItUses) {
  constexpr std::int64_t base = 1'795'171'301'000'000'000, us = 1'000;
  MemorySource source;
  source.interfaces_[0].speed_bps = 100'000'000'000;
  const auto at = [&](std::int64_t time_us, std::vector<std::uint8_t> frame) {
    source.add(std::move(frame), base + time_us * us);
  };
  // 1000 quanta of 512 bits are 5.12 us at 100 Gb/s.
  at(0, tagged_roce(switch_mac, host_mac, 3));
  at(10, pfc(switch_mac, {{3, 1000}, {5, 1000}}));
  at(12, pfc(switch_mac, {{3, 0}}));
  at(20, pfc(switch_mac, {{3, 1000}}));
  at(24, pfc(switch_mac, {{3, 1000}}));
  at(50, global_pause(switch_mac, 65'535));
  at(60, tagged_roce(switch_mac, host_mac, 3));
  VerdictStore verdicts;
  for (const std::uint64_t number : {1U, 7U}) verdicts.at(number)->connection = 4;
  TraceOptions options;
  options.connection = 4;
  options.check_icrc = false;
  const ConnectionTrace trace = trace_connection(source, verdicts, options);
  EXPECT_EQ(trace.packets, 2U);
  ASSERT_EQ(trace.pauses.size(), 3U);
  const auto expect = [&](std::size_t i, std::int64_t from_ns, std::int64_t to_ns, unsigned priority) {
    EXPECT_EQ(trace.pauses[i].from_ns - base, from_ns);
    EXPECT_EQ(trace.pauses[i].to_ns - base, to_ns);
    EXPECT_EQ(trace.pauses[i].priority, priority);
    EXPECT_EQ(trace.pauses[i].mac, 0x0200000000f1U);
    EXPECT_TRUE(trace.pauses[i].timed);
  };
  expect(0, 10 * us, 12 * us, 3);
  expect(1, 20 * us, 24 * us + 5'120, 3);
  expect(2, 50 * us, 60 * us, TracedPause::all_priorities);
}

}  // namespace
}  // namespace roce::analyze
