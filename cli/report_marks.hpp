// SPDX-License-Identifier: Apache-2.0
// Internal: what the report says of marks and congestion.
#pragma once

#include "analyze/json_writer.hpp"
#include "analyze/snapshot.hpp"
#include "cli/page.hpp"

namespace roce::cli {

/// How the classes are marked, where not all packets of the capture are marked alike.
void write_classes(Page& page, const analyze::Snapshot& snapshot);
/// CE marks and CNPs; nothing where there are none.
void write_congestion(Page& page, const analyze::Snapshot& snapshot);

/// "markings": [...], "markings_others": ...
void write_markings(analyze::JsonWriter& json, const analyze::Snapshot& snapshot,
                    const Listing& listing = {});
/// "congestion": {...}
void write_congestion(analyze::JsonWriter& json, const analyze::Snapshot& snapshot);
/// "congestion": {"a": ..., "b": ...} of a connection; null for a side of which nothing is to be said.
void write_congestion(analyze::JsonWriter& json, const analyze::Connection& connection);
/// "marks": [...] of a flow
void write_marks(analyze::JsonWriter& json, const analyze::Flow& flow);
/// "points" of one flow: what each capture point shows of it; empty where there is but one.
void write_points(analyze::JsonWriter& json, const analyze::Snapshot& snapshot, const analyze::Flow& flow);

}  // namespace roce::cli
