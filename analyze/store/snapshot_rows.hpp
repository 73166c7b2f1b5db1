// SPDX-License-Identifier: Apache-2.0
// Internal to the room: what a snapshot says, as rows of the store. Whole captures and live ones share it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/base/histogram.hpp"
#include "analyze/results/snapshot.hpp"
#include "analyze/store/row_types.hpp"
#include "analyze/store/rows.hpp"

namespace roce::analyze {

[[nodiscard]] StoreTime store_time(std::int64_t time_ns) noexcept;
/// Counts of rows are signed, for a later row may take back what an earlier one told.
[[nodiscard]] constexpr std::int64_t store_count(std::uint64_t count) noexcept {
  return static_cast<std::int64_t>(count);
}
[[nodiscard]] std::uint32_t milliseconds(std::int64_t first_ns, std::int64_t last_ns) noexcept;

/// Makes rows of a snapshot; counts are those of the whole capture so far. Borrows all that it is given.
class SnapshotRows {
 public:
  SnapshotRows(const Snapshot& snapshot, const StoreIdentity& identity, const StoreRun& run);

  [[nodiscard]] std::int64_t first_ns() const noexcept { return first_ns_; }
  [[nodiscard]] std::int64_t last_ns() const noexcept { return last_ns_; }

  [[nodiscard]] RunStoreRow run_row() const;
  [[nodiscard]] std::vector<FileStoreRow> file_rows() const;
  [[nodiscard]] std::vector<FactStoreRow> label_rows() const;
  /// Whose the host's addresses are, with the switch at its link where LLDP tells of one.
  [[nodiscard]] std::vector<NodeStoreRow> node_rows() const;
  /// Of the flow with that index in the snapshot.
  [[nodiscard]] IntervalRow interval_row(std::size_t flow) const;
  [[nodiscard]] StoreCounts counts(std::size_t flow) const;
  [[nodiscard]] Histogram latencies(std::size_t flow) const;
  /// Whether its packets were captured at one point, and once.
  [[nodiscard]] bool is_counted_once(std::size_t flow) const;
  [[nodiscard]] PairRow pair_row(const std::string& src, const std::string& dst) const;
  /// False if its connection is not known any more.
  [[nodiscard]] bool incident_row(const Incident& incident, IncidentStoreRow& row) const;
  [[nodiscard]] FindingStoreRow finding_row(const Finding& finding) const;
  [[nodiscard]] std::vector<EvidenceStoreRow> evidence_rows(const Finding& finding,
                                                            const FindingStoreRow& row) const;
  [[nodiscard]] DiagnosisStoreRow diagnosis_row(const Diagnosis& diagnosis) const;
  [[nodiscard]] DropStoreRow drop_row(const ExportDropGroup& group) const;
  [[nodiscard]] PauseStoreRow pause_row(const PausePort& port, unsigned lane, const PauseLane& counts) const;
  [[nodiscard]] MarkingStoreRow marking_row(const Marking& marking) const;
  [[nodiscard]] HeartbeatRow heartbeat() const;

 private:
  /// What a flow is in its connection: the side that sends it.
  struct Sender {
    const Connection* connection = nullptr;
    unsigned side = 0;
  };

  [[nodiscard]] const Flow* flow_of(std::uint64_t id) const;
  [[nodiscard]] const Connection* connection_of(std::uint32_t id) const;
  /// The port of the switch at the other end of the host's link; null: not known, or there are several.
  [[nodiscard]] const DcbxPort* uplink() const;
  [[nodiscard]] const DcbxPort* announced(const PausePort& port) const;
  [[nodiscard]] std::string place_of(const std::string& src, const std::string& dst) const;
  [[nodiscard]] std::uint64_t key_of_pair(const std::optional<dissect::IpAddress>& a,
                                          const std::optional<dissect::IpAddress>& b) const;
  [[nodiscard]] std::uint64_t key_of(const Connection& connection) const;
  [[nodiscard]] std::uint64_t key_of(const Flow& flow) const;
  [[nodiscard]] std::uint64_t key_of(const Finding& finding) const;
  [[nodiscard]] std::uint64_t key_in_run(std::string_view what, std::string_view which) const;
  [[nodiscard]] StoreTime begin() const { return store_time(first_ns_); }
  [[nodiscard]] std::uint32_t whole_span() const { return milliseconds(first_ns_, last_ns_); }

  const Snapshot& s_;
  const StoreIdentity& identity_;
  const StoreRun& run_;
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::vector<Sender> senders_;  ///< by index in Snapshot::flows
  std::set<std::uint64_t> points_of_flow_;
  std::map<std::uint64_t, std::string> own_macs_;  ///< the host's address by the MAC address it sends from
  std::map<std::pair<std::uint32_t, unsigned>, std::int64_t> lost_at_most_;  ///< by connection and sender
  std::string file_;  ///< with all packets; empty: there are several
};

/// Adds the buckets of a histogram, or what one has more than another, to those of a row of `pairs`.
void add_latencies(PairRow& row, const std::vector<Histogram::Bucket>& buckets);

}  // namespace roce::analyze
