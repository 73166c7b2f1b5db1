// SPDX-License-Identifier: Apache-2.0
// A snapshot as JSON: schema "roceanalyze/1" (docs/output.md). Each *_json function writes one object and a
// newline. Equal snapshots give equal bytes.
#pragma once

#include <string_view>

#include "analyze/base/json_object.hpp"
#include "analyze/report/report_sink.hpp"
#include "analyze/results/listing.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

inline constexpr std::string_view report_schema = "roceanalyze/1";

/// What a document is written of.
struct ReportPage {
  const Snapshot& s;
  const Listing& listing;
  const ReportSink& sink;

  void step() const { sink.step(); }
};

// The tables that the documents are written from, for their schemas.
const JsonObject<ReportPage>& report_object();
const JsonObject<ReportPage>& flows_object();
const JsonObject<ReportPage>& incidents_object();
const JsonObject<ReportPage>& markings_object();
const JsonObject<ReportPage>& connections_object();
const JsonObject<ReportPage>& pairs_object();
const JsonObject<ReportPage>& paths_object();
const JsonObject<ReportPage>& pauses_object();
const JsonObject<ReportPage>& dcbx_page_object();
/// One object of the report's `findings`.
const JsonObject<Finding>& finding_object();

/// The whole report.
void report_json(const Snapshot& snapshot, bool pretty, const ReportSink& sink);

/// The report's `flows` and `diagnostics`.
void flows_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// The report's `incidents` and `diagnostics`.
void incidents_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// The report's `markings` and `diagnostics`.
void markings_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// The report's `connections`, `cm_exchanges` and `diagnostics`.
void connections_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// "paths" and `diagnostics`; the report has none: they are sums of its flows.
void paths_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// "pairs" and `diagnostics`; the report has none: they are sums of its flows.
void pairs_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// The pauses of the report's `congestion`, and `diagnostics`.
void pauses_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);
/// The report's `dcbx` and `diagnostics`. Its links refer to ports by index, so all ports are written, in the
/// order of first appearance; the listing is ignored.
void dcbx_json(const Snapshot& snapshot, const Listing& listing, bool pretty, const ReportSink& sink);

}  // namespace roce::analyze
