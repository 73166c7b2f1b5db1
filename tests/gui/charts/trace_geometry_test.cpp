// SPDX-License-Identifier: Apache-2.0
// What graphs and ladder of a connection draw, without drawing it.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "gui/charts/ladder_geometry.hpp"
#include "gui/charts/latency_geometry.hpp"
#include "gui/charts/sequence_geometry.hpp"
#include "gui/charts/throughput_geometry.hpp"
#include "tests/gui/support.hpp"

namespace roce::gui {
namespace trace_geometry_test {
namespace {

using analyze::ConnectionTrace;
using analyze::TracePoint;
using analyze::Verdict;

constexpr std::int64_t start = 1'000'000'000'000;
constexpr std::uint8_t send_only = 4, acknowledge = 17;

TracePoint point(std::uint64_t packet, std::int64_t psn, std::int64_t time_ns,
                 TracePoint::Kind kind = TracePoint::Kind::request) {
  TracePoint p;
  p.packet = packet;
  p.psn = psn;
  p.time_ns = start + time_ns;
  p.kind = kind;
  p.opcode = kind == TracePoint::Kind::request ? send_only : acknowledge;
  if (p.answers()) p.set(TracePoint::b_to_a);
  p.wire = 100;
  p.bytes = 50;
  return p;
}

/// So many requests, a microsecond and a PSN apart, each acknowledged half a microsecond later.
ConnectionTrace talk(std::size_t requests) {
  ConnectionTrace trace;
  for (std::size_t i = 0; i < requests; ++i) {
    const auto t = static_cast<std::int64_t>(i) * 1000;
    trace.points.push_back(point(2 * i + 1, 1000 + static_cast<std::int64_t>(i), t));
    trace.points.push_back(
        point(2 * i + 2, 1000 + static_cast<std::int64_t>(i), t + 500, TracePoint::Kind::acknowledge));
  }
  trace.packets = trace.points.size();
  return trace;
}

ConnectionTrace traced(const std::string& name) {
  analyze::VerdictStore verdicts;
  analyze::AnalysisOptions analysis;
  analysis.verdicts = &verdicts;
  const auto snapshot = analyze::analyze(**capture::open_files({sample(name)}), analysis);
  EXPECT_FALSE(snapshot->connections.empty());
  return trace_connection(**capture::open_files({sample(name)}), verdicts, {});
}

TEST(SequenceGeometry, PutsPacketsWhereTheyBelong) {
  const ConnectionTrace trace = talk(10);
  const SequenceLines lines = sequence_lines(trace, 0, start);
  EXPECT_EQ(lines.of(TraceMark::request).seconds.size(), 10U);
  EXPECT_EQ(lines.of(TraceMark::acknowledge).seconds.size(), 10U);
  EXPECT_EQ(lines.lowest, 1000);
  EXPECT_EQ(lines.highest, 1010);
  EXPECT_DOUBLE_EQ(lines.last, 9.5e-6);
  // An acknowledgement names the PSN behind the last one that it confirms.
  EXPECT_EQ(lines.of(TraceMark::acknowledge).low[0], 1001);
  EXPECT_TRUE(sequence_lines(trace, 1, start).empty());
}

TEST(SequenceGeometry, NeverTakesBackWhatWasAcknowledged) {
  ConnectionTrace trace = talk(3);
  trace.points.push_back(point(99, 1000, 9000, TracePoint::Kind::acknowledge));
  const SequenceLines lines = sequence_lines(trace, 0, start);
  const SequenceSeries& acks = lines.of(TraceMark::acknowledge);
  EXPECT_TRUE(std::is_sorted(acks.low.begin(), acks.low.end()));
  EXPECT_EQ(acks.low.size(), 3U);
}

TEST(SequenceGeometry, ShowsEachMarkOfAPacket) {
  ConnectionTrace trace = talk(3);
  TracePoint& again = trace.points[2];
  again.verdict.set(Verdict::retransmission);
  again.verdict.set(Verdict::spurious);
  again.verdict.cause = analyze::Cause::timeout;
  again.set(TracePoint::ce);
  again.verdict.gap = 3;
  again.verdict.lost_before = 3;
  TracePoint copy = trace.points[0];
  copy.verdict.set(Verdict::duplicate_capture);
  trace.points.push_back(copy);
  TracePoint cnp = point(50, 0, 5000, TracePoint::Kind::cnp);
  cnp.set(TracePoint::no_psn);
  trace.points.push_back(cnp);
  const SequenceLines lines = sequence_lines(trace, 0, start);
  const std::set<TraceMark> wanted{TraceMark::request,  TraceMark::acknowledge, TraceMark::again_timeout,
                                   TraceMark::spurious, TraceMark::lost_before, TraceMark::ce,
                                   TraceMark::cnp};
  for (std::size_t m = 0; m < trace_mark_count; ++m) {
    const auto mark = static_cast<TraceMark>(m);
    EXPECT_EQ(!lines.series[m].seconds.empty(), wanted.contains(mark)) << trace_mark_look(mark).name;
  }
  EXPECT_EQ(lines.of(TraceMark::lost_before).low[0], again.psn - 3);
  EXPECT_EQ(lines.of(TraceMark::lost_before).high[0], again.psn);
  EXPECT_EQ(lines.of(TraceMark::request).seconds.size(), 3U);  // not the copy
  EXPECT_EQ(main_mark(again), TraceMark::again_timeout);
}

TEST(SequenceGeometry, DrawsAFewThingsInAColumnAndLosesNone) {
  const ConnectionTrace trace = talk(100'000);
  const SequenceLines lines = sequence_lines(trace, 0, start);
  constexpr int columns = 200;
  for (const double psn_gap : {0.0, 1.0, 1e9}) {
    std::uint64_t packets = 0;
    const auto pieces =
        sequence_pieces(lines.of(TraceMark::request), lines.first, lines.last, columns, psn_gap);
    EXPECT_LE(pieces.size(), static_cast<std::size_t>((columns + 1) * pieces_per_column));
    for (const SequencePiece& piece : pieces) packets += piece.packets;
    EXPECT_EQ(packets, 100'000U);
    EXPECT_EQ(pieces.front().low, 1000);
  }
  const auto steps = step_pieces(lines.of(TraceMark::acknowledge), lines.first, lines.last, columns);
  EXPECT_LE(steps.size(), static_cast<std::size_t>(columns + 2));
  EXPECT_EQ(steps.back().high, 1000 + 100'000);
  // Seen from close by it is each packet of that time and no other.
  const auto close = sequence_pieces(lines.of(TraceMark::request), 0.0505e-3, 0.0605e-3, 1000, 0);
  ASSERT_EQ(close.size(), 10U);
  EXPECT_EQ(close[0].low, 1051);
  // A step line begins before what is seen.
  const auto step = step_pieces(lines.of(TraceMark::acknowledge), 0.0506e-3, 0.0516e-3, 1000);
  ASSERT_EQ(step.size(), 2U);
  EXPECT_LT(step[0].seconds, 0.0506e-3);
}

TEST(SequenceGeometry, DrawsNothingWhereThereIsNothingToDrawOn) {
  const SequenceLines lines = sequence_lines(talk(5), 0, start);
  const SequenceSeries& s = lines.of(TraceMark::request);
  EXPECT_TRUE(sequence_pieces(s, 1, 1, 100, 0).empty());
  EXPECT_TRUE(sequence_pieces(s, 0, 1, 0, 0).empty());
  EXPECT_TRUE(sequence_pieces(s, std::nan(""), 1, 100, 0).empty());
  EXPECT_TRUE(step_pieces(s, 2, 1, 100).empty());
  EXPECT_TRUE(sequence_pieces(s, 5, 6, 100, 0).empty());
}

TEST(SequenceGeometry, FindsTheNearestPacket) {
  const ConnectionTrace trace = talk(100);
  const SequenceLines lines = sequence_lines(trace, 0, start);
  SequencePlace place;
  place.seconds_per_pixel = 1e-7;
  place.psn_per_pixel = 0.1;
  place.seconds = 50.1e-6;
  place.psn = 1050;
  const auto found = point_near(lines, place);
  ASSERT_TRUE(found);
  EXPECT_EQ(trace.points[*found].packet, 101U);
  place.psn = 1080;
  EXPECT_FALSE(point_near(lines, place));
  EXPECT_FALSE(point_near(lines, place, TraceMarkLook::Form::foot));
}

TEST(SequenceGeometry, TellsWhichPsnsAreSeen) {
  const SequenceLines lines = sequence_lines(talk(100), 0, start);
  EXPECT_EQ(psns_between(lines, 0, 1), std::pair(std::int64_t{1000}, std::int64_t{1100}));
  EXPECT_EQ(psns_between(lines, 10e-6, 19.2e-6), std::pair(std::int64_t{1010}, std::int64_t{1020}));
  EXPECT_FALSE(psns_between(lines, 5, 6));
}

TEST(SequenceGeometry, MeasuresDistances) {
  const SequenceDistance d = sequence_distance(1, 100, 3, 300);
  EXPECT_DOUBLE_EQ(d.seconds, 2);
  EXPECT_DOUBLE_EQ(d.psns, 200);
  EXPECT_DOUBLE_EQ(d.psns_per_second, 100);
  EXPECT_DOUBLE_EQ(sequence_distance(1, 100, 1, 300).psns_per_second, 0);
}

TEST(LatencyGeometry, SortsByTimeAndKind) {
  const ConnectionTrace trace = traced("06_mix_ops.pcap.zst");
  std::size_t operations = 0;
  for (unsigned side = 0; side < 2; ++side) {
    for (const LatencySeries& s : latency_series(trace, side, start)) {
      EXPECT_TRUE(std::is_sorted(s.seconds.begin(), s.seconds.end()));
      operations += s.seconds.size();
      for (std::size_t i = 0; i < s.operation.size(); ++i) {
        const analyze::TracedOperation& o = trace.operations[s.operation[i]];
        EXPECT_EQ(o.kind, s.kind);
        EXPECT_EQ(o.side, side);
        EXPECT_NEAR(s.latency[i], static_cast<double>(o.latency_ns) * 1e-9, 1e-9);
      }
    }
  }
  EXPECT_EQ(operations, trace.operations.size());
  EXPECT_GT(operations, 0U);
}

TEST(LatencyGeometry, DrawsNoMoreThanThereArePixels) {
  ConnectionTrace trace;
  for (int i = 0; i < 200'000; ++i) {
    analyze::TracedOperation o;
    o.start_ns = start + i * 100;
    o.latency_ns = 1 + (i * 7919) % 1'000'000;
    trace.operations.push_back(o);
  }
  const auto series = latency_series(trace, 0, start);
  ASSERT_EQ(series.size(), 1U);
  LatencyView view{0, 0.02, 1e-9, 1e-2, 300, 90};
  const auto cells = latency_cells(series[0], view);
  EXPECT_LE(cells.size(), 101U * 31U);
  std::uint64_t operations = 0;
  for (const LatencyCell& cell : cells) operations += cell.operations;
  EXPECT_EQ(operations, 200'000U);
  const auto near = operation_near(series[0], view, cells[5].seconds, cells[5].latency);
  ASSERT_TRUE(near);
  // Axes without room, or that a logarithm cannot have.
  for (const LatencyView& wrong : {LatencyView{0, 0, 1e-9, 1, 300, 90}, LatencyView{0, 1, 0, 1, 300, 90},
                                   LatencyView{0, 1, 1e-9, 1, 0, 0}}) {
    EXPECT_TRUE(latency_cells(series[0], wrong).empty());
    EXPECT_FALSE(operation_near(series[0], wrong, 0, 1e-6));
  }
}

/// Against what is counted one by one.
TEST(LatencyGeometry, SharesAndBinsAreThoseOfTheOperations) {
  const ConnectionTrace trace = traced("06_mix_ops.pcap.zst");
  for (unsigned side = 0; side < 2; ++side) {
    for (const LatencySeries& s : latency_series(trace, side, start)) {
      const auto count = static_cast<double>(s.latency.size());
      const auto shares = latency_shares(s);
      ASSERT_FALSE(shares.empty());
      EXPECT_EQ(shares.back().share, 1);
      EXPECT_EQ(shares.back().latency, *std::max_element(s.latency.begin(), s.latency.end()));
      for (const LatencyShare& step : shares) {
        const auto within = std::count_if(s.latency.begin(), s.latency.end(),
                                          [&](double latency) { return latency <= step.latency; });
        EXPECT_DOUBLE_EQ(share_within(shares, step.latency), static_cast<double>(within) / count);
      }
      EXPECT_EQ(share_within(shares, 0), 0);
      std::size_t binned = 0;
      for (const LatencyBin& bin : latency_bins(s)) {
        EXPECT_NEAR(bin.to / bin.from, std::pow(10.0, 0.1), 1e-9);
        binned += bin.operations;
      }
      EXPECT_EQ(binned, s.latency.size());
    }
  }
}

TEST(LatencyGeometry, SharesOfManyOperationsHaveFewSteps) {
  LatencySeries s;
  for (int i = 0; i < 1'000'003; ++i)
    s.latency.push_back(1e-6 * static_cast<double>(1 + (i * 7919LL) % 1'000'003));
  const auto shares = latency_shares(s, 500);
  ASSERT_EQ(shares.size(), 500U);
  EXPECT_DOUBLE_EQ(shares.back().latency, 1e-6 * 1'000'003);
  EXPECT_NEAR(share_within(shares, 1e-6 * 500'000), 0.5, 1.0 / 400);
  EXPECT_TRUE(latency_shares(LatencySeries()).empty());
  EXPECT_TRUE(latency_bins(LatencySeries()).empty());
}

TEST(ThroughputGeometry, SumsUpToWhatWasSent) {
  const ConnectionTrace trace = traced("04_write_loss1.cb.pcap.zst");
  const std::int64_t origin = trace.points.front().time_ns;
  for (unsigned side = 0; side < 2; ++side) {
    std::uint64_t wire = 0;
    std::uint32_t most = 0;
    for (const TracePoint& p : trace.points) {
      if (p.side() == side) wire += p.wire;
      if (p.space() == side) most = std::max(most, p.verdict.in_flight);
    }
    for (const int steps : {7, 100, 1000}) {
      const ThroughputLines lines = throughput_lines(trace, side, origin, -5, 1e6, steps);
      ASSERT_GT(lines.seconds.size(), 1);
      double bits = 0, flying = 0;
      for (int i = 0; i + 1 < lines.seconds.size(); ++i) {
        bits += lines.throughput[i] * lines.step_seconds;
        flying = std::max(flying, lines.in_flight[i]);
        EXPECT_GE(lines.throughput[i], lines.goodput[i]);
      }
      EXPECT_NEAR(bits / 8, static_cast<double>(wire), 1);
      EXPECT_EQ(flying, most);
      EXPECT_GE(lines.seconds.size() - 1, steps);
      EXPECT_LE(lines.seconds.size() - 1, 3 * steps + 2);
    }
  }
}

/// Requests 0 and 1 at once, an answer to the first after 10 us, to the second after 20 us.
ConnectionTrace waiting() {
  ConnectionTrace trace;
  for (const std::int64_t i : {0, 1}) {
    TracePoint request = point(static_cast<std::uint64_t>(i) + 1, 1000 + i, 100 * i);
    request.verdict.set(Verdict::in_flight_known);
    request.verdict.in_flight = static_cast<std::uint32_t>(i) + 1;
    trace.points.push_back(request);
  }
  for (const std::int64_t i : {0, 1})
    trace.points.push_back(
        point(static_cast<std::uint64_t>(i) + 3, 1000 + i, 10'000 * (i + 1), TracePoint::Kind::acknowledge));
  trace.points.push_back(point(5, 1001, 29'900, TracePoint::Kind::acknowledge));
  trace.packets = trace.points.size();
  return trace;
}

TEST(ThroughputGeometry, HoldsWhatIsInFlightUntilItIsAnswered) {
  const ConnectionTrace trace = waiting();
  const auto at = [](const ThroughputLines& lines, double seconds) {
    for (int i = 0; i + 1 < lines.seconds.size(); ++i) {
      if (seconds >= lines.seconds[i] && seconds < lines.seconds[i + 1]) return lines.in_flight[i];
    }
    return -1.0;
  };
  const ThroughputLines all = throughput_lines(trace, 0, start, 0, 30e-6, 30);
  EXPECT_EQ(at(all, 5.5e-6), 2);   // nothing was sent there
  EXPECT_EQ(at(all, 15.5e-6), 1);  // the first has been answered
  EXPECT_EQ(at(all, 25.5e-6), 0);
  // The same of a part that begins in between.
  EXPECT_EQ(at(throughput_lines(trace, 0, start, 4e-6, 8e-6, 20), 5.5e-6), 2);
  EXPECT_EQ(at(throughput_lines(trace, 0, start, 12e-6, 18e-6, 20), 15.5e-6), 1);
  EXPECT_EQ(at(throughput_lines(trace, 1, start, 0, 30e-6, 30), 5.5e-6), 0);
}

TEST(ThroughputGeometry, TakesWhatWasCountedWherePacketsAreLeftOut) {
  ConnectionTrace trace = talk(100);
  trace.stride = 2;
  trace.sent[0].at(start).bytes = 1000;
  trace.sent[0].at(start + 5'000'000).bytes = 3000;
  const ThroughputLines lines = throughput_lines(trace, 0, start, 0, 1, 100);
  // 5 ms in some 100 steps: of 64 µs.
  ASSERT_EQ(lines.seconds.size(), 80);
  EXPECT_DOUBLE_EQ(lines.throughput[0], 125e6);
  EXPECT_DOUBLE_EQ(lines.throughput[78], 375e6);
  trace.timed = false;
  EXPECT_TRUE(throughput_lines(trace, 0, start, 0, 1, 100).seconds.isEmpty());
  EXPECT_TRUE(throughput_lines({}, 0, start, 0, 1, 100).seconds.isEmpty());
}

TEST(LadderGeometry, HasARowForEachPacketAndEachLoss) {
  ConnectionTrace trace = talk(5);
  trace.points[4].verdict.lost_before = 2;
  const auto rows = ladder_rows(trace);
  ASSERT_EQ(rows.size(), 11U);
  EXPECT_TRUE(rows[4].lost_before);
  EXPECT_EQ(rows[4].point, rows[5].point);
  EXPECT_EQ(ladder_row_of(trace, rows, trace.points[4].packet), 5U);
  EXPECT_FALSE(ladder_row_of(trace, rows, 12'345));
  EXPECT_EQ(ladder_row_at(trace, rows, start + 2000), 4U);
  EXPECT_EQ(ladder_row_at(trace, rows, start - 1), 0U);
  EXPECT_EQ(ladder_row_at(trace, rows, start + 1'000'000), 10U);
  EXPECT_EQ(next_remarkable(trace, rows, 0, true), 5U);
  EXPECT_EQ(next_remarkable(trace, rows, 10, false), 5U);
  EXPECT_FALSE(next_remarkable(trace, rows, 5, true));
  EXPECT_FALSE(next_remarkable(trace, rows, 0, false));
  EXPECT_TRUE(ladder_rows({}).empty());
}

TEST(LadderGeometry, FindsPacketsThatAreFoldedAway) {
  const ConnectionTrace trace = traced("02_write_bw_64k.pcap.zst");
  const auto rows = ladder_rows(trace), folded = folded_rows(trace, rows);
  ASSERT_LT(folded.size(), rows.size() / 2);
  for (const TracePoint& p : trace.points) {
    const auto row = ladder_row_of(trace, folded, p.packet);
    ASSERT_TRUE(row) << p.packet;
    const LadderRow& at = folded[*row];
    EXPECT_LE(trace.points[at.point].packet, p.packet);
    EXPECT_GE(trace.points[at.point + at.more].packet, p.packet);
  }
}

TEST(LadderGeometry, ShowsTimersBesidePacketsBackToBack) {
  EXPECT_EQ(gap_share(-5), 0);
  EXPECT_EQ(gap_share(0), 0);
  EXPECT_EQ(gap_share(900), 0);
  EXPECT_NEAR(gap_share(1'000'000), 0.5, 1e-9);
  EXPECT_EQ(gap_share(5'000'000'000), 1);
}

TEST(LadderGeometry, DrawsArrowsFromSenderToReceiver) {
  const LadderColumns columns = ladder_columns(1000, 8);
  EXPECT_LT(columns.number, columns.time);
  EXPECT_LT(columns.time, columns.a);
  EXPECT_LT(columns.a, columns.b);
  EXPECT_LT(columns.b, columns.remarks);
  TracePoint p = point(1, 1, 0);
  const LadderArrow there = ladder_arrow(p, false, columns, 100, 20);
  EXPECT_DOUBLE_EQ(there.line.x1(), columns.a);
  EXPECT_DOUBLE_EQ(there.line.x2(), columns.b);
  EXPECT_GT(there.line.y2(), there.line.y1());
  EXPECT_GE(there.line.y1(), 100);
  EXPECT_LE(there.line.y2(), 120);
  EXPECT_TRUE(there.arrives);
  p.set(TracePoint::b_to_a);
  EXPECT_DOUBLE_EQ(ladder_arrow(p, false, columns, 100, 20).line.x1(), columns.b);
  p.set(TracePoint::lost_behind);
  const LadderArrow lost = ladder_arrow(p, false, columns, 100, 20);
  EXPECT_FALSE(lost.arrives);
  EXPECT_TRUE(lost.captured);
  EXPECT_GT(lost.line.x2(), columns.a + 0.2 * (columns.b - columns.a));
  const LadderArrow unseen = ladder_arrow(p, true, columns, 100, 20);
  EXPECT_FALSE(unseen.captured);
  EXPECT_GT(unseen.line.x2(), lost.line.x2());
}

TEST(LadderGeometry, PaintsOnlyWhatIsSeen) {
  constexpr std::size_t many = 100'000'000;
  const LadderSpan span = visible_rows(many, 50'000'000, 20, 805);
  EXPECT_EQ(span.from, 50'000'000U);
  EXPECT_EQ(span.to - span.from, 41U);
  EXPECT_EQ(visible_rows(many, many - 3, 20, 805).to, many);
  EXPECT_EQ(visible_rows(3, 10, 20, 805).from, 3U);
  EXPECT_EQ(visible_rows(3, 0, 0, 805).to, 0U);
  EXPECT_EQ(visible_rows(3, 0, 20, -5).to, 0U);
}

}  // namespace
}  // namespace trace_geometry_test
}  // namespace roce::gui
