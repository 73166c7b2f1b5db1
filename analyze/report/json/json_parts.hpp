// SPDX-License-Identifier: Apache-2.0
// The parts of the report's JSON. Each function writes keys with their values into an open object.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyze/base/histogram.hpp"
#include "analyze/base/json_writer.hpp"
#include "analyze/report/json/json_report.hpp"
#include "analyze/results/connection_columns.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// {packets, bytes, nak, timeout, ...}, spurious, out_of_order ...: the keys of the sequence analysis that
/// flows and connections share.
void write_sequence(JsonWriter& json, const SequenceCounts& counts);
/// {count, min, p50, p90, p99, max}, all 0 when empty.
void write_quantiles(JsonWriter& json, std::string_view key, const Histogram& histogram);

/// One object of `connections`.
void write_connection(JsonWriter& json, const ConnectionRow& row);
void write_cm_exchanges(JsonWriter& json, const Snapshot& snapshot, const ReportSink& sink);
void write_diagnoses(JsonWriter& json, const Snapshot& snapshot);
/// "mrc": {...}; null without MRC
void write_mrc(JsonWriter& json, const Snapshot& snapshot, const ReportSink& sink);
/// "exports": {...}, "drops": [...]
void write_exports(JsonWriter& json, const Snapshot& snapshot, const ReportSink& sink);
/// "shells": [...], "mirrors": [...], "named": {...}
void write_numbered(JsonWriter& json, const Snapshot& snapshot);
void write_findings(JsonWriter& json, const Snapshot& snapshot);
/// "incidents": [...], "incidents_dropped"
void write_incidents(JsonWriter& json, const Snapshot& snapshot, const Listing& listing = {});
/// "completeness": {...} of the capture
void write_completeness(JsonWriter& json, const Snapshot& snapshot);
void write_diagnostics(JsonWriter& json, const std::vector<Diagnostic>& diagnostics);
/// `pause`, `pause_ports`, `pause_mutual`, `pause_storm_ns`: of `congestion`.
void write_pauses(JsonWriter& json, const Snapshot& snapshot, const Listing& listing = {});
void write_dcbx(JsonWriter& json, const Snapshot& snapshot);
void write_series(JsonWriter& json, const Snapshot& snapshot);

/// "markings": [...], "markings_others", "not_judged"
void write_markings(JsonWriter& json, const Snapshot& snapshot, const Listing& listing = {});
/// "congestion": {...}
void write_congestion(JsonWriter& json, const Snapshot& snapshot);
/// "congestion": {"a": ..., "b": ...} of a connection; null for a side without CE marks and CNPs.
void write_congestion(JsonWriter& json, const Connection& connection);
/// "marks": [...] of a flow
void write_marks(JsonWriter& json, const Flow& flow);
/// "outer": [...] of a flow: its packets in tunnels
void write_outer(JsonWriter& json, const Flow& flow);
/// "points" of one flow: its packets at each capture point; empty if there is only one.
void write_points(JsonWriter& json, const Snapshot& snapshot, const Flow& flow);

/// A time in nanoseconds since the epoch, or null.
void write_time(JsonWriter& json, std::string_view key, std::optional<std::int64_t> time_ns);
template <class T>
void write_optional(JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  value ? json.field(key, *value) : json.null_field(key);
}

}  // namespace roce::analyze
