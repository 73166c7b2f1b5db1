// SPDX-License-Identifier: Apache-2.0
#include "analyze/store/rows.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyze/base/address_text.hpp"
#include "analyze/store/snapshot_rows.hpp"

namespace roce::analyze {
namespace {

/// With its end, if the capture went on without more of it.
std::vector<PsnMark> all_marks(const PsnSpaceMarks& space, std::int64_t end_ns) {
  std::vector<PsnMark> all = space.marks;
  if (!all.empty() && end_ns - space.last_ns >= PsnMarks::settle_ns) all.push_back(space.end());
  return all;
}

/// A row for each mark, without counts.
void add_marks(BatchMaker& maker, IntervalRow mark, const PsnMarks::Spaces& spaces, std::int64_t end_ns) {
  static_cast<StoreCounts&>(mark) = {};
  mark.span_ms = 0;
  mark.in_flight_max = 0;
  mark.psn_new = 0;
  mark.lat_p50_ns = mark.lat_p99_ns = mark.lat_max_ns = 0;
  const std::vector<PsnMark> requests = all_marks(spaces.requests, end_ns);
  const std::vector<PsnMark> responses = all_marks(spaces.responses, end_ns);
  for (std::size_t i = 0; i < std::max(requests.size(), responses.size()); ++i) {
    IntervalRow next = mark;
    std::int64_t time_ns = 0;
    if (i < requests.size()) {
      next.epoch = spaces.requests.epoch;
      next.mark_psn = requests[i].psn;
      next.mark_ns = time_ns = requests[i].time_ns;
      next.mark_packets = requests[i].packets;
    }
    if (i < responses.size()) {
      if (time_ns == 0) next.epoch = spaces.responses.epoch;
      next.rmark_psn = responses[i].psn;
      next.rmark_ns = responses[i].time_ns;
      next.rmark_packets = responses[i].packets;
      if (time_ns == 0) time_ns = next.rmark_ns;
    }
    next.time = store_time(time_ns);
    maker.add(std::move(next));
  }
}

void add_flows(BatchMaker& maker, const Snapshot& snapshot, const SnapshotRows& rows, const PsnMarks* marks) {
  std::map<std::uint64_t, std::uint32_t> of_all;  // flows by flow_key
  std::vector<IntervalRow> flows;
  for (std::size_t i = 0; i < snapshot.flows.size(); ++i) {
    flows.push_back(rows.interval_row(i));
    flows.back().epoch = of_all[flows.back().flow_key]++;
  }
  for (std::size_t i = 0; i < flows.size(); ++i) {
    IntervalRow& row = flows[i];
    // Marks are those of the last flow of a key. Where the capture has packets twice, or at several points,
    // only the analysis knows which ones to count.
    const bool last = row.epoch + 1 == of_all[row.flow_key];
    const auto spaces = marks != nullptr && last && rows.is_counted_once(i)
                            ? marks->find(snapshot.flows[i].key, rows.last_ns())
                            : std::nullopt;
    if (spaces) row.psn_new = spaces->requests.psns;
    maker.add(row);
    if (spaces) add_marks(maker, std::move(row), *spaces, rows.last_ns());
  }
}

void add_pairs(BatchMaker& maker, const Snapshot& snapshot, const SnapshotRows& rows) {
  struct Sum {
    PairRow row;
    Histogram latency;
  };
  std::map<std::pair<std::string, std::string>, Sum> sums;
  for (std::size_t i = 0; i < snapshot.flows.size(); ++i) {
    const FlowKey& key = snapshot.flows[i].key;
    const std::string src = address_text(key.src), dst = address_text(key.dst);
    Sum& sum = sums.try_emplace({src, dst}, Sum{rows.pair_row(src, dst), {}}).first->second;
    sum.row.add(rows.counts(i));
    ++sum.row.flows;
    sum.latency.merge(rows.latencies(i));
  }
  for (auto& [ends, sum] : sums) {
    sum.row.lat_max_ns = sum.latency.max();
    add_latencies(sum.row, sum.latency.buckets());
    maker.add(std::move(sum.row));
  }
}

}  // namespace

std::vector<StoreBatch> capture_batches(const Snapshot& snapshot, const PsnMarks* marks,
                                        const StoreIdentity& identity, const StoreRun& run) {
  const SnapshotRows rows(snapshot, identity, run);
  BatchMaker maker(identity.host, identity.device, run.number);
  maker.add(rows.run_row());
  for (FileStoreRow& row : rows.file_rows()) maker.add(std::move(row));
  for (FactStoreRow& row : rows.label_rows()) maker.add(std::move(row));
  for (NodeStoreRow& row : rows.node_rows()) maker.add(std::move(row));
  add_flows(maker, snapshot, rows, marks);
  add_pairs(maker, snapshot, rows);
  for (const Incident& incident : snapshot.incidents) {
    if (IncidentStoreRow row; rows.incident_row(incident, row)) maker.add(std::move(row));
  }
  for (const Finding& finding : snapshot.findings) {
    FindingStoreRow row = rows.finding_row(finding);
    for (EvidenceStoreRow& proof : rows.evidence_rows(finding, row)) maker.add(std::move(proof));
    maker.add(std::move(row));
  }
  for (const Diagnosis& diagnosis : snapshot.diagnoses) maker.add(rows.diagnosis_row(diagnosis));
  for (const ExportDropGroup& group : drop_groups(snapshot.exports)) maker.add(rows.drop_row(group));
  for (const PausePort& port : snapshot.pauses.ports) {
    for (unsigned lane = 0; lane < PausePort::lane_count; ++lane) {
      if (const PauseLane* counts = port.lanes[lane].get()) maker.add(rows.pause_row(port, lane, *counts));
    }
  }
  for (const Marking& marking : snapshot.markings.rows) maker.add(rows.marking_row(marking));
  return maker.take(rows.heartbeat());
}

}  // namespace roce::analyze
