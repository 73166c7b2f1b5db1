// SPDX-License-Identifier: Apache-2.0
// The rows of the store as values; schema.cpp has their columns. Times `_ns` are nanoseconds since the epoch,
// other `_ns` durations; 0: not known.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace roce::analyze {

/// Seconds since the epoch.
struct StoreTime {
  std::int64_t seconds = 0;
};

/// What all rows of a capture point begin with. Of `time` the rows' maker knows, of the rest the batch.
struct StoreRow {
  StoreTime time;
  std::string host;
  std::string device;
  std::uint64_t run = 0;
  std::uint32_t seq = 0;
  std::uint32_t row = 0;
};

/// Counts of what a source sent, as a capture point saw it. Negative where an interval takes back what
/// earlier ones had told: packets that later ones show to be copies of a mirror, repeats that were none.
struct StoreCounts {
  std::int64_t packets = 0;
  std::int64_t bytes = 0;
  std::int64_t goodput_bytes = 0;
  std::int64_t operations = 0;
  std::int64_t retransmitted = 0;
  std::int64_t retransmitted_nak = 0;
  std::int64_t retransmitted_timeout = 0;
  std::int64_t lost_before = 0;
  std::int64_t lost_after = 0;
  std::int64_t lost_capture = 0;
  std::int64_t lost_at_least = 0;
  std::int64_t lost_at_most = 0;
  std::int64_t out_of_order = 0;
  std::int64_t wasted_bytes = 0;
  std::int64_t naks = 0;
  std::int64_t rnr_naks = 0;
  std::int64_t acks = 0;
  std::int64_t cnps = 0;
  std::int64_t ce = 0;
  std::int64_t icrc_mismatches = 0;

  void add(const StoreCounts& more) noexcept;
  [[nodiscard]] StoreCounts since(const StoreCounts& before) const noexcept;
  [[nodiscard]] bool operator==(const StoreCounts&) const noexcept = default;
};

struct IntervalRow : StoreRow, StoreCounts {
  std::uint64_t pair_key = 0;
  std::uint64_t flow_key = 0;
  std::uint64_t conn_key = 0;
  std::string src;
  std::string dst;
  std::uint32_t src_qp = 0;
  std::uint32_t dst_qp = 0;
  std::string service;
  std::string state;
  std::string place;
  std::uint32_t epoch = 0;
  std::int64_t start_ns = 0;
  std::uint32_t span_ms = 0;
  std::uint32_t in_flight_max = 0;
  std::uint32_t psn_first = 0;
  std::uint32_t psn_next = 0;
  std::uint64_t psn_new = 0;
  std::uint32_t mark_psn = 0;
  std::int64_t mark_ns = 0;
  std::uint64_t mark_packets = 0;
  std::uint32_t rmark_psn = 0;
  std::int64_t rmark_ns = 0;
  std::uint64_t rmark_packets = 0;
  std::uint64_t lat_p50_ns = 0;
  std::uint64_t lat_p99_ns = 0;
  std::uint64_t lat_max_ns = 0;
};

struct PairRow : StoreRow, StoreCounts {
  std::uint64_t pair_key = 0;
  std::string src;
  std::string dst;
  std::string place;
  std::uint32_t span_ms = 0;
  std::uint32_t flows = 0;
  std::uint64_t lat_max_ns = 0;
  std::vector<std::uint16_t> lat_bucket;
  std::vector<std::uint32_t> lat_count;
};

struct FindingStoreRow : StoreRow {
  std::uint64_t finding = 0;
  std::string id;
  std::string severity;
  std::string news;
  std::string title;
  std::string subject;
  std::uint64_t count = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  double confidence = 0;
  std::string explanation;
  std::string advice;
  std::string src;
  std::string dst;
  std::uint64_t pair_key = 0;
  std::vector<std::uint64_t> flow_keys;
};

struct EvidenceStoreRow : StoreRow {
  std::uint64_t finding = 0;
  std::string id;
  std::string file;
  std::uint64_t packet = 0;
  std::int64_t packet_ns = 0;
  std::uint64_t flow_key = 0;
  std::uint32_t psn = 0;
};

struct IncidentStoreRow : StoreRow {
  std::uint64_t incident = 0;
  std::uint64_t pair_key = 0;
  std::uint64_t flow_key = 0;
  std::uint64_t conn_key = 0;
  std::string src;
  std::string dst;
  std::uint32_t src_qp = 0;
  std::uint32_t dst_qp = 0;
  std::string what;
  std::string place;
  std::string learned_by;
  std::string cause;
  std::string carried;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::uint64_t lost_at_least = 0;
  std::uint64_t lost_at_most = 0;
  std::uint64_t repeated_packets = 0;
  std::uint64_t repeated_bytes = 0;
  std::uint64_t discarded_packets = 0;
  std::int64_t stalled_ns = 0;
  std::int64_t recovery_ns = 0;
  std::uint8_t over = 0;
  double confidence = 0;
  std::string file;
  std::uint32_t number = 0;
  std::uint64_t first_packet = 0;
  std::uint64_t last_packet = 0;
};

struct DiagnosisStoreRow : StoreRow {
  std::uint64_t diagnosis = 0;
  std::string cause;
  std::string severity;
  std::string sentence;
  std::string level;
  std::string seen;
  std::string pattern;
  std::string subject;
  std::string src;
  std::string dst;
  std::uint64_t pair_key = 0;
  std::uint64_t at_least = 0;
  std::uint64_t at_most = 0;
  std::uint64_t of_packets = 0;
  std::int64_t since_ns = 0;
  std::int64_t until_ns = 0;
  std::uint64_t repeated_packets = 0;
  std::uint64_t discarded_packets = 0;
  std::int64_t stalled_ns = 0;
  std::uint64_t failed = 0;
  double confidence = 0;
  std::string not_excluded;
  std::string would_decide;
  std::string advice;
  std::vector<std::uint64_t> findings;
};

struct DropStoreRow : StoreRow {
  std::string agent;
  std::string port;
  std::string queue;
  std::string reason;
  std::uint32_t span_ms = 0;
  std::int64_t packets = 0;
  std::int64_t roce = 0;
  std::int64_t matched = 0;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};

struct PauseStoreRow : StoreRow {
  std::string port;
  std::string peer;
  std::string switch_name;
  std::string switch_port;
  std::string kind;
  std::uint8_t priority = 0;
  std::uint64_t link_bps = 0;
  std::uint32_t span_ms = 0;
  std::uint64_t xoff = 0;
  std::uint64_t xon = 0;
  std::uint64_t pauses = 0;
  std::uint64_t paused_ns = 0;
  std::uint64_t longest_ns = 0;
  std::int64_t first_ns = 0;
  std::int64_t longest_start_ns = 0;
  std::uint64_t storms = 0;
  std::int64_t storm_ns = 0;
  std::uint64_t while_paused = 0;
};

struct MarkingStoreRow : StoreRow {
  std::string traffic_class;
  std::string src;
  std::string dst;
  std::uint8_t dscp = 0;
  std::int16_t pcp = -1;
  std::string ecn;
  std::uint32_t span_ms = 0;
  std::int64_t packets = 0;
  std::uint32_t flows = 0;
  std::string policy;
  std::string expected;
  std::string verdict;
};

struct FactStoreRow : StoreRow {
  std::string place;
  std::string kind;
  std::string name;
  std::string value;
  double number = 0;
  std::int64_t moved = 0;
};

struct FileStoreRow : StoreRow {
  std::string file;
  std::string state;
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
};

struct HeartbeatRow : StoreRow {
  std::uint32_t span_ms = 0;
  std::int64_t clock_error_ns = 0;
  std::uint32_t rows = 0;
  std::uint32_t rows_folded = 0;
  std::uint32_t batches_lost = 0;
  std::int64_t packets = 0;
  std::int64_t bytes = 0;
  std::int64_t roce_packets = 0;
  std::int64_t roce_bytes = 0;
  std::uint64_t dropped = 0;
  std::uint32_t half_seen = 0;
  std::uint32_t open = 0;
  std::uint32_t closed = 0;
  std::uint32_t failed = 0;
};

struct RunStoreRow : StoreRow {
  std::string fabric;
  std::string site;
  std::string rack;
  std::string point;
  std::string program;
  std::string kernel;
  std::string driver;
  std::string firmware;
  std::uint64_t link_bps = 0;
  std::string clock;
  std::uint32_t interval_ms = 0;
  std::string policy;
  std::string recording;
  std::string options;
  std::uint8_t complete = 0;
};

struct NodeStoreRow {
  StoreTime time;
  std::string address;
  std::string host;
  std::string device;
  std::string rack;
  std::string tor;
  std::string tor_port;
};

struct SchemaStoreRow {
  StoreTime time;
  std::uint32_t version = 0;
  std::string program;
  std::string what;
};

}  // namespace roce::analyze
