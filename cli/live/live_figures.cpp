// SPDX-License-Identifier: Apache-2.0
#include "cli/live/live_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyze/base/address_text.hpp"
#include "analyze/results/connection_columns.hpp"
#include "dissect/icrc.hpp"
#include "dissect/opcode.hpp"
#include "dissect/types.hpp"

namespace roce::cli {

using analyze::Connection;
using analyze::Flow;
using analyze::Snapshot;

namespace {

constexpr LiveCounter counters[] = {
    {"packets", "frames of any kind", &LiveTotals::packets},
    {"bytes", "their bytes on the wire", &LiveTotals::bytes},
    {"dropped", "frames dropped while capturing", &LiveTotals::dropped},
    {"roce_packets", "RoCE packets", &LiveTotals::roce_packets},
    {"roce_bytes", "their bytes on the wire", &LiveTotals::roce_bytes},
    {"goodput_bytes", "message bytes without retransmissions", &LiveTotals::goodput_bytes},
    {"retransmitted", "retransmitted packets", &LiveTotals::retransmitted},
    {"lost", "lost transmissions", &LiveTotals::lost},
    {"ce", "RoCE packets marked CE", &LiveTotals::ce},
    {"cnps", "CNPs, those of duplicates and UD included", &LiveTotals::cnps},
    {"icrc_mismatches", "packets with a wrong ICRC", &LiveTotals::icrc_mismatches},
    {"pauses", "PAUSE and PFC of all ports and priorities, without refreshes", &LiveTotals::pauses},
    {"paused_ns", "paused time, summed up over ports and priorities", &LiveTotals::paused_ns},
};
static_assert(sizeof(LiveTotals) == std::size(counters) * sizeof(std::uint64_t), "a row for each member");

std::uint64_t above(std::uint64_t now, std::uint64_t before) noexcept {
  return now > before ? now - before : 0;
}

std::uint64_t lost_of(const analyze::SequenceCounts& counts) noexcept {
  return counts.lost_packets();
}

std::string end_text(const analyze::Endpoint& end) {
  return end.qp ? fmt::format("{} QP 0x{:06x}", analyze::address_text(end.address), *end.qp)
                : fmt::format("{} QP ?", analyze::address_text(end.address));
}

}  // namespace

std::span<const LiveCounter> live_counters() noexcept {
  return counters;
}

LiveTotals LiveTally::add(const Snapshot& s) {
  const analyze::Totals& t = s.totals;
  LiveTotals sum;
  sum.packets = t.packets;
  sum.bytes = t.bytes;
  sum.dropped = s.dropped().value_or(0);
  sum.roce_packets = t.roce_packets;
  sum.roce_bytes = t.roce_bytes;
  sum.ce = t.ecn[static_cast<std::size_t>(dissect::Ecn::ce)];
  sum.cnps = t.opcodes[dissect::opcode_cnp];
  sum.icrc_mismatches = t.icrc[static_cast<std::size_t>(dissect::CrcStatus::mismatch)];
  // The series includes flows that were evicted.
  for (const analyze::Series::Bucket& bucket : s.series.buckets()) {
    sum.goodput_bytes += bucket.goodput_bytes;
    sum.retransmitted += bucket.retransmitted;
  }
  // Not from the series, in which losses are never corrected.
  sum.lost = lost_of(s.departed.sequence);
  for (const Flow& flow : s.flows) sum.lost += lost_of(flow.sequence());
  for (const analyze::PausePort& port : s.pauses.ports) {
    for (const auto& lane : port.lanes) {
      if (lane == nullptr) continue;
      sum.pauses += lane->pauses;
      sum.paused_ns += static_cast<std::uint64_t>(std::max<std::int64_t>(lane->paused_ns, 0));
    }
  }
  for (const LiveCounter& counter : counters)
    last_.*counter.value = std::max(last_.*counter.value, sum.*counter.value);
  return last_;
}

LiveTotals risen(const LiveTotals& now, const LiveTotals& before) noexcept {
  LiveTotals difference;
  for (const LiveCounter& counter : counters)
    difference.*counter.value = above(now.*counter.value, before.*counter.value);
  return difference;
}

ConnectionCounts connection_counts(const Snapshot& snapshot) noexcept {
  ConnectionCounts counts{};
  for (const Connection& connection : snapshot.connections)
    ++counts[static_cast<std::size_t>(connection.state)];
  return counts;
}

std::array<LiveMeter::Side, 2> LiveMeter::sides_of(const Snapshot& snapshot, const Connection& connection) {
  const analyze::ConnectionRow row(snapshot, connection);
  // If only one direction was captured, all counts of the connection are kept with its flow.
  const std::size_t only = connection.flow[0] ? 0 : 1;
  std::array<Side, 2> sides;
  for (std::size_t i = 0; i < 2; ++i) {
    Side& side = sides[connection.flow[i] ? i : only];
    side.bytes += connection.bytes[i];
    side.cnps += connection.cnps[i];
    side.goodput_bytes += connection.requester[i].new_bytes;
    const auto& naks = connection.requester[i].trouble->naks;
    side.naks += std::accumulate(naks.begin(), naks.end(), std::uint64_t{0});
    if (const Flow* flow = row.flow(i)) {
      side.flow = flow->id;
      side.retransmitted += flow->sequence().retransmitted_packets();
      side.lost += lost_of(flow->sequence());
    }
  }
  for (Side& side : sides) side.failed = connection.state == Connection::State::failed;
  return sides;
}

const LiveMeter::Side* LiveMeter::before(std::uint64_t flow) const noexcept {
  const auto found = std::lower_bound(sides_.begin(), sides_.end(), flow,
                                      [](const Side& side, std::uint64_t id) { return side.flow < id; });
  return found != sides_.end() && found->flow == flow ? &*found : nullptr;
}

LiveMeter::Reading LiveMeter::read(const Snapshot& snapshot, std::int64_t now_ns, std::size_t top) {
  Reading reading;
  reading.total = tally_.add(snapshot);
  reading.interval = risen(reading.total, last_);
  reading.interval_ns = std::max<std::int64_t>(now_ns - last_ns_, 0);
  reading.elapsed_ns = std::max<std::int64_t>(now_ns - begin_ns_, 0);

  std::vector<Side> sides;
  sides.reserve(2 * snapshot.connections.size());
  for (std::size_t index = 0; index < snapshot.connections.size(); ++index) {
    const Connection& connection = snapshot.connections[index];
    LiveConnection moved;
    moved.index = index;
    const std::array<Side, 2> now = sides_of(snapshot, connection);
    Side sum, old;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!connection.flow[i]) continue;
      sides.push_back(now[i]);
      const Side* last = before(now[i].flow);
      for (const auto member : {&Side::bytes, &Side::goodput_bytes, &Side::retransmitted, &Side::lost,
                                &Side::naks, &Side::cnps}) {
        sum.*member += now[i].*member;
        if (last != nullptr) old.*member += last->*member;
      }
      sum.failed |= now[i].failed;
      old.failed |= last != nullptr && last->failed;
    }
    moved.bytes = above(sum.bytes, old.bytes);
    moved.goodput_bytes = above(sum.goodput_bytes, old.goodput_bytes);
    moved.retransmitted = above(sum.retransmitted, old.retransmitted);
    moved.lost = above(sum.lost, old.lost);
    moved.naks = above(sum.naks, old.naks);
    moved.cnps = above(sum.cnps, old.cnps);
    moved.failed = sum.failed && !old.failed;
    if (moved.bytes != 0 || moved.trouble() != 0) reading.connections.push_back(moved);
  }
  const auto worse = [](const LiveConnection& a, const LiveConnection& b) {
    if (a.trouble() != b.trouble()) return a.trouble() > b.trouble();
    if (a.cnps != b.cnps) return a.cnps > b.cnps;
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.index < b.index;
  };
  const std::size_t shown = std::min(top, reading.connections.size());
  std::partial_sort(reading.connections.begin(),
                    reading.connections.begin() + static_cast<std::ptrdiff_t>(shown),
                    reading.connections.end(), worse);
  reading.connections.resize(shown);

  std::sort(sides.begin(), sides.end(), [](const Side& a, const Side& b) { return a.flow < b.flow; });
  sides_ = std::move(sides);
  last_ = reading.total;
  last_ns_ = std::max(now_ns, last_ns_);
  return reading;
}

double bits_per_second(std::uint64_t bytes, std::int64_t ns) noexcept {
  constexpr double bits_ns = 8e9;
  return ns <= 0 ? 0 : static_cast<double>(bytes) * bits_ns / static_cast<double>(ns);
}

std::string connection_name(const Connection& connection) {
  return end_text(connection.ends[0]) + " - " + end_text(connection.ends[1]);
}

}  // namespace roce::cli
