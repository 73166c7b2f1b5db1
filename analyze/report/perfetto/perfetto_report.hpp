// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "analyze/report/report_sink.hpp"
#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// The course of a capture as a trace in the JSON format of Chrome's trace viewer, which Perfetto reads:
/// rates, repeats, losses, CE, CNPs and pauses as counters; diagnoses, connections and incidents as slices;
/// findings as instants. `ts` and `dur` are microseconds of the wall clock with nanoseconds behind the point,
/// so that the trace lies beside others of the same hosts. A process for each host, a thread for each of its
/// connections; process 1 is the fabric. What has no time is left out.
void perfetto_report(const Snapshot& snapshot, const ReportSink& sink);

/// What every such trace begins with, white space aside.
inline constexpr std::string_view perfetto_begin =
    R"({"displayTimeUnit":"ns","otherData":{"program":"roceanalyze")";

}  // namespace roce::analyze
