// SPDX-License-Identifier: Apache-2.0
// A snapshot as JSON: schema "roceanalyze/1" (docs/output.md). Each function writes one object with a newline
// at its end; the same snapshot gives the same bytes.
#pragma once

#include "analyze/report/report_sink.hpp"
#include "analyze/results/listing.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

class JsonWriter;

/// One finding, as the report has it.
void write_finding(JsonWriter& json, const Finding& finding);

/// The whole report.
void report_json(const Snapshot& snapshot, bool pretty, const ReportSink& sink);

/// The report's `flows` and `diagnostics`.
void flows_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// The report's `markings` and `diagnostics`.
void markings_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// The report's `connections`, `cm_exchanges` and `diagnostics`.
void connections_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// What the report's `congestion` has of pauses, and `diagnostics`.
void pauses_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// The report's `dcbx` and `diagnostics`. Its links count the ports, so all of them are there, in order of
/// first appearance, whatever the listing.
void dcbx_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);

}  // namespace roce::analyze
