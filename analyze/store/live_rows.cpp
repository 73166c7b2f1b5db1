// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/live_rows.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/store/keys.hpp"
#include "analyze/store/snapshot_rows.hpp"

namespace roce::analyze {
namespace {

using Buckets = std::vector<Histogram::Bucket>;

/// What was counted since `before`, which becomes `now`: negative if less is counted now.
std::int64_t since(std::int64_t& before, std::int64_t now) noexcept {
  return now - std::exchange(before, now);
}

/// The same of what is only ever added.
std::uint64_t since(std::uint64_t& before, std::uint64_t now) noexcept {
  return now <= before ? 0 : now - std::exchange(before, now);
}

/// Also if trouble is taken back.
bool is_trouble(const StoreCounts& c) noexcept {
  return (c.retransmitted | c.lost_at_least | c.lost_capture | c.out_of_order | c.naks | c.rnr_naks | c.cnps |
          c.ce | c.icrc_mismatches) != 0;
}

/// What `now` has more than `before`, which becomes the larger of both: a bucket that shrinks gives nothing
/// until it is reached again. Both ascending.
Buckets since(Buckets& before, const Buckets& now) {
  Buckets more, most;
  auto old = before.begin();
  for (Histogram::Bucket bucket : now) {
    while (old != before.end() && old->from < bucket.from) most.push_back(*old++);
    std::uint64_t had = 0;
    if (old != before.end() && old->from == bucket.from) had = (old++)->count;
    most.push_back(bucket);
    most.back().count = std::max(bucket.count, had);
    bucket.count -= std::min(bucket.count, had);
    if (bucket.count != 0) more.push_back(bucket);
  }
  most.insert(most.end(), old, before.end());
  before = std::move(most);
  return more;
}

std::uint64_t percentile(const Buckets& buckets, std::uint64_t hundredths) {
  std::uint64_t all = 0, passed = 0;
  for (const Histogram::Bucket& bucket : buckets) all += bucket.count;
  for (const Histogram::Bucket& bucket : buckets) {
    passed += bucket.count;
    if (passed * 100 >= hundredths * all) return bucket.from + (bucket.to - bucket.from) / 2;
  }
  return 0;
}

std::uint32_t milliseconds_of(const StoreInterval& interval) noexcept {
  return milliseconds(interval.from_ns, interval.until_ns);
}

}  // namespace

struct LiveRows::Memory {
  struct FlowBefore {
    StoreCounts counts;   ///< as they are in `pairs`
    StoreCounts in_rows;  ///< as they are in `intervals`: behind where a row was left out
    Buckets latencies;
    std::uint32_t epoch = 0;
    std::uint64_t round = 0;  ///< of add(), in which it was there last
  };
  /// A flow that has something to tell.
  struct Moved {
    std::size_t index = 0;  ///< in Snapshot::flows
    FlowBefore* flow = nullptr;
    StoreCounts now;
    StoreCounts untold;
    std::uint64_t p50_ns = 0;
    std::uint64_t p99_ns = 0;
    std::uint64_t max_ns = 0;
  };
  /// An incident as it was at the last look.
  struct Seen {
    std::int64_t end_ns = 0;
    std::uint64_t lost = 0;
    std::uint64_t repeated = 0;
    bool told = false;
  };
  struct Told {
    std::uint64_t count = 0;
    std::string severity;
  };

  StoreIdentity identity;
  StoreRun run;
  BatchMaker maker;
  bool begun = false;
  bool urgent = false;
  std::uint64_t rows = 0;
  std::uint64_t folded = 0;
  std::uint64_t round = 0;
  std::unordered_map<std::uint64_t, FlowBefore> flows;      ///< by Flow::id
  std::unordered_map<std::uint64_t, std::uint32_t> epochs;  ///< flows so far by flow_key
  std::map<std::pair<std::string, std::string>, PairRow> pairs;
  std::map<std::uint64_t, Told> findings;          ///< by finding
  std::map<std::uint64_t, std::string> diagnoses;  ///< sentences by diagnosis
  std::map<std::uint64_t, Seen> incidents;         ///< by incident
  std::map<std::tuple<std::string, unsigned>, PauseStoreRow> pauses;
  std::map<std::string, std::int64_t> markings;
  std::map<std::string, DropStoreRow> drops;
  std::map<std::string, std::string> nodes;  ///< switch and port by address
  std::int64_t packets = 0, bytes = 0, roce_packets = 0, roce_bytes = 0;
  std::uint64_t dropped = 0;

  Memory(StoreIdentity whose, StoreRun which)
      : identity(std::move(whose)),
        run(std::move(which)),
        maker(identity.host, identity.device, run.number) {}

  template <class Row>
  void put(Row row) {
    maker.add(std::move(row));
    ++rows;
  }

  void begin(const SnapshotRows& from, StoreTime time) {
    if (begun) return;
    begun = true;
    RunStoreRow row = from.run_row();
    row.time = time;
    put(std::move(row));
    for (FactStoreRow& label : from.label_rows()) {
      label.time = time;
      put(std::move(label));
    }
  }

  /// When it begins, and when LLDP has told of another switch.
  void add_nodes(const SnapshotRows& from, StoreTime time) {
    for (NodeStoreRow& node : from.node_rows()) {
      std::string what = node.tor + '\n' + node.tor_port;
      const auto [told, is_new] = nodes.try_emplace(node.address, what);
      if (!is_new && (told->second == what || node.tor.empty())) continue;
      told->second = std::move(what);
      node.time = time;
      put(std::move(node));
    }
  }

  void add_flows(const Snapshot& snapshot, const SnapshotRows& from, PsnMarks* marks,
                 const StoreInterval& interval) {
    std::unordered_map<FlowKey, PsnMarks::Taken, HashOfFlowKey> taken;
    if (marks != nullptr) {
      constexpr std::int64_t idle_ns = 600'000'000'000;
      const std::lock_guard hold(marks->mutex());
      taken = marks->take(interval.until_ns, interval.until_ns - idle_ns);
    }
    std::vector<Moved> moved;
    for (std::size_t i = 0; i < snapshot.flows.size(); ++i) {
      const Flow& flow = snapshot.flows[i];
      auto at = flows.find(flow.id);
      const bool is_new = at == flows.end();
      if (is_new) at = flows.emplace(flow.id, FlowBefore{}).first;
      FlowBefore& before = at->second;
      before.round = round;
      if (is_new)
        before.epoch = epochs[hash_of_flow(identity.fabric, address_text(flow.key.src),
                                           address_text(flow.key.dst), flow.key.dst_qp)]++;
      const StoreCounts now = from.counts(i);
      const StoreCounts more = now.since(std::exchange(before.counts, now));
      Moved next{i, &before, now, now.since(before.in_rows)};
      if (more != StoreCounts{}) {
        Buckets latencies;
        if (more.operations != 0) latencies = since(before.latencies, from.latencies(i).buckets());
        next.p50_ns = percentile(latencies, 50);
        next.p99_ns = percentile(latencies, 99);
        next.max_ns = latencies.empty() ? 0 : latencies.back().to;
        add_to_pair(from, flow.key, more, latencies);
      }
      if (next.untold != StoreCounts{}) moved.push_back(next);
    }
    std::erase_if(flows, [&](const auto& each) { return each.second.round != round; });
    const auto first = [](const Moved& a, const Moved& b) {
      return std::tuple(is_trouble(a.untold), a.untold.bytes, b.index) >
             std::tuple(is_trouble(b.untold), b.untold.bytes, a.index);
    };
    if (moved.size() > flows_at_most) {
      std::nth_element(moved.begin(), moved.begin() + flows_at_most, moved.end(), first);
      folded += moved.size() - flows_at_most;
      moved.resize(flows_at_most);
    }
    for (const Moved& each : moved) {
      const auto mark =
          from.is_counted_once(each.index) ? taken.find(snapshot.flows[each.index].key) : taken.end();
      put(row_of(from, each, mark != taken.end() ? &mark->second : nullptr, interval));
      each.flow->in_rows = each.now;
    }
  }

  static IntervalRow row_of(const SnapshotRows& from, const Moved& moved, const PsnMarks::Taken* marks,
                            const StoreInterval& interval) {
    IntervalRow row = from.interval_row(moved.index);
    static_cast<StoreCounts&>(row) = moved.untold;
    row.time = store_time(interval.from_ns);
    row.span_ms = milliseconds_of(interval);
    row.epoch = moved.flow->epoch;
    row.lat_p50_ns = moved.p50_ns;
    row.lat_p99_ns = moved.p99_ns;
    row.lat_max_ns = moved.max_ns;
    if (marks == nullptr) return row;
    if (marks->request) {
      row.epoch = marks->request_epoch;
      row.mark_psn = marks->request->psn;
      row.mark_ns = marks->request->time_ns;
      row.mark_packets = marks->request->packets;
    }
    if (marks->response) {
      if (!marks->request) row.epoch = marks->response_epoch;
      row.rmark_psn = marks->response->psn;
      row.rmark_ns = marks->response->time_ns;
      row.rmark_packets = marks->response->packets;
    }
    return row;
  }

  void add_to_pair(const SnapshotRows& from, const FlowKey& flow, const StoreCounts& more,
                   const Buckets& latencies) {
    const std::string src = address_text(flow.src), dst = address_text(flow.dst);
    const auto at = pairs.find({src, dst});
    PairRow& pair = at != pairs.end()
                        ? at->second
                        : pairs.emplace(std::pair(src, dst), from.pair_row(src, dst)).first->second;
    pair.add(more);
    ++pair.flows;
    if (!latencies.empty()) pair.lat_max_ns = std::max(pair.lat_max_ns, latencies.back().to);
    add_latencies(pair, latencies);
  }

  /// Each once, when it is over and the interval has not changed it: until then its figures grow, and others
  /// may turn out to be part of it.
  void add_incidents(const Snapshot& snapshot, const SnapshotRows& from) {
    std::map<std::uint64_t, Seen> now;
    for (const Incident& incident : snapshot.incidents) {
      IncidentStoreRow row;
      if (!from.incident_row(incident, row)) continue;
      Seen seen;
      if (const auto at = incidents.find(row.incident); at != incidents.end()) seen = at->second;
      const bool settled = incident.over && seen.end_ns == row.end_ns && seen.lost == row.lost_at_least &&
                           seen.repeated == row.repeated_packets;
      seen.end_ns = row.end_ns;
      seen.lost = row.lost_at_least;
      seen.repeated = row.repeated_packets;
      const bool tell = !seen.told && (settled || snapshot.final);
      seen.told = seen.told || tell;
      now.emplace(row.incident, seen);
      if (tell) put(std::move(row));
    }
    incidents = std::move(now);
  }

  void add_findings(const Snapshot& snapshot, const SnapshotRows& from, StoreTime time) {
    for (const Finding& finding : snapshot.findings) {
      FindingStoreRow row = from.finding_row(finding);
      Told& told = findings[row.finding];
      const bool is_new = told.count == 0;
      const bool worse = !is_new && told.severity != row.severity;
      constexpr std::uint64_t often = 10;
      const bool more = !is_new && row.count >= often * told.count;
      if (!is_new && !worse && !more) continue;
      row.news = is_new ? "new" : worse ? "worse" : "more";
      told = {std::max<std::uint64_t>(row.count, 1), row.severity};
      row.time = time;
      urgent = urgent || finding.severity == Severity::error;
      for (EvidenceStoreRow& proof : from.evidence_rows(finding, row)) put(std::move(proof));
      put(std::move(row));
    }
    for (const Diagnosis& diagnosis : snapshot.diagnoses) {
      DiagnosisStoreRow row = from.diagnosis_row(diagnosis);
      // Its figures grow all the time: told once, and as it is at the end.
      std::string& told = diagnoses[row.diagnosis];
      if (!told.empty() && (!snapshot.final || told == row.sentence)) continue;
      told = row.sentence;
      row.time = time;
      put(std::move(row));
    }
  }

  void add_links(const Snapshot& snapshot, const SnapshotRows& from, const StoreInterval& interval) {
    const StoreTime time = store_time(interval.from_ns);
    for (const PausePort& port : snapshot.pauses.ports) {
      for (unsigned lane = 0; lane < PausePort::lane_count; ++lane) {
        if (port.lanes[lane].get() == nullptr) continue;
        PauseStoreRow row = from.pause_row(port, lane, *port.lanes[lane]);
        PauseStoreRow& before = pauses[{row.port + row.kind, lane}];
        const bool new_storm = row.storms > before.storms;
        const std::uint64_t moved = row.xoff - before.xoff + (row.xon - before.xon);
        if (moved == 0) continue;
        const PauseStoreRow now = row;
        row.xoff -= before.xoff;
        row.xon -= before.xon;
        row.pauses = since(before.pauses, row.pauses);
        row.paused_ns = since(before.paused_ns, row.paused_ns);
        row.while_paused = since(before.while_paused, row.while_paused);
        row.storms -= std::min(row.storms, before.storms);
        if (!new_storm) row.storm_ns = 0;
        if (now.longest_ns == before.longest_ns) row.longest_ns = 0;
        before = now;
        row.time = time;
        row.span_ms = milliseconds_of(interval);
        put(std::move(row));
      }
    }
    for (const ExportDropGroup& group : drop_groups(snapshot.exports)) {
      DropStoreRow row = from.drop_row(group);
      DropStoreRow& before = drops[row.agent + '|' + row.port + '|' + row.queue + '|' + row.reason];
      row.packets = since(before.packets, row.packets);
      row.roce = since(before.roce, row.roce);
      row.matched = since(before.matched, row.matched);
      if ((row.packets | row.roce | row.matched) == 0) continue;
      row.time = time;
      row.span_ms = milliseconds_of(interval);
      put(std::move(row));
    }
    for (const Marking& marking : snapshot.markings.rows) {
      MarkingStoreRow row = from.marking_row(marking);
      std::int64_t& before = markings[row.traffic_class + '|' + row.src + '|' + row.dst + '|' + row.ecn +
                                      '|' + std::to_string(row.dscp) + '|' + std::to_string(row.pcp)];
      row.packets = since(before, row.packets);
      if (row.packets == 0) continue;
      row.time = time;
      row.span_ms = milliseconds_of(interval);
      put(std::move(row));
    }
  }
};

LiveRows::LiveRows(StoreIdentity identity, StoreRun run)
    : memory_(std::make_unique<Memory>(std::move(identity), std::move(run))) {}
LiveRows::~LiveRows() = default;

void LiveRows::add(const Snapshot& snapshot, PsnMarks* marks, const StoreInterval& interval) {
  Memory& m = *memory_;
  const SnapshotRows from(snapshot, m.identity, m.run);
  const StoreTime time = store_time(interval.from_ns);
  ++m.round;
  m.begin(from, time);
  m.add_nodes(from, time);
  m.add_flows(snapshot, from, marks, interval);
  m.add_incidents(snapshot, from);
  m.add_findings(snapshot, from, time);
  m.add_links(snapshot, from, interval);
}

std::uint64_t LiveRows::rows() const noexcept {
  return memory_->rows;
}

bool LiveRows::urgent() const noexcept {
  return memory_->urgent;
}

std::vector<StoreBatch> LiveRows::take(const Snapshot& snapshot, const StoreInterval& covered,
                                       std::uint32_t batches_lost, std::int64_t clock_error_ns) {
  Memory& m = *memory_;
  const SnapshotRows from(snapshot, m.identity, m.run);
  m.begin(from, store_time(covered.from_ns));
  m.add_nodes(from, store_time(covered.from_ns));
  for (auto& [ends, row] : m.pairs) {
    row.time = store_time(covered.from_ns);
    row.span_ms = milliseconds_of(covered);
    m.put(std::move(row));
  }
  m.pairs.clear();
  HeartbeatRow beat = from.heartbeat();
  beat.time = store_time(covered.from_ns);
  beat.span_ms = milliseconds_of(covered);
  beat.packets = since(m.packets, beat.packets);
  beat.bytes = since(m.bytes, beat.bytes);
  beat.roce_packets = since(m.roce_packets, beat.roce_packets);
  beat.roce_bytes = since(m.roce_bytes, beat.roce_bytes);
  beat.dropped = since(m.dropped, beat.dropped);
  beat.rows_folded = static_cast<std::uint32_t>(m.folded);
  beat.batches_lost = batches_lost;
  beat.clock_error_ns = clock_error_ns;
  m.rows = 0;
  m.folded = 0;
  m.urgent = false;
  return m.maker.take(beat);
}

}  // namespace roce::analyze
