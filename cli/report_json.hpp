// SPDX-License-Identifier: Apache-2.0
// Internal: the parts of the report's JSON. Each writes one key with its value.
#pragma once

#include <string_view>

#include "analyze/connection_columns.hpp"
#include "analyze/histogram.hpp"
#include "analyze/json_writer.hpp"
#include "analyze/snapshot.hpp"
#include "cli/report.hpp"

namespace roce::cli {

/// {packets, bytes, nak, timeout, ...}, spurious, out_of_order ...: the keys of sequence analysis that flows
/// and connections share.
void write_sequence(analyze::JsonWriter& json, const analyze::SequenceCounts& counts);
/// {count, min, p50, p90, p99, max}, all 0 when empty.
void write_quantiles(analyze::JsonWriter& json, std::string_view key, const analyze::Histogram& histogram);

/// One object of `connections`.
void write_connection(analyze::JsonWriter& json, const analyze::ConnectionRow& row);
void write_cm_exchanges(analyze::JsonWriter& json, const analyze::Snapshot& snapshot, const JsonSink& sink);
void write_findings(analyze::JsonWriter& json, const analyze::Snapshot& snapshot);
/// `pause`, `pause_ports`, `pause_mutual`, `pause_storm_ns`: of `congestion`.
void write_pauses(analyze::JsonWriter& json, const analyze::Snapshot& snapshot, const Listing& listing = {});
void write_dcbx(analyze::JsonWriter& json, const analyze::Snapshot& snapshot);
void write_series(analyze::JsonWriter& json, const analyze::Snapshot& snapshot);

/// A time in nanoseconds since the epoch, null where there is none.
void write_time(analyze::JsonWriter& json, std::string_view key, std::optional<std::int64_t> time_ns);
template <class T>
void write_optional(analyze::JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  value ? json.field(key, *value) : json.null_field(key);
}

}  // namespace roce::cli
