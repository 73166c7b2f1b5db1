// SPDX-License-Identifier: Apache-2.0
// Internal to the text report: its sections. A section without content is omitted.
#pragma once

#include "analyze/results/snapshot.hpp"
#include "cli/core/page.hpp"

namespace roce::cli {

/// All findings in full: the evidence of diagnoses.
void write_findings(Page& page, const analyze::Snapshot& snapshot);
/// Markings by traffic class, unless all packets of the capture have the same markings.
void write_classes(Page& page, const analyze::Snapshot& snapshot);
/// CE marks and CNPs.
void write_congestion(Page& page, const analyze::Snapshot& snapshot);
/// PAUSE and PFC by port and priority.
void write_pauses(Page& page, const analyze::Snapshot& snapshot);
/// What ports announce by LLDP.
void write_dcbx(Page& page, const analyze::Snapshot& snapshot);
/// Streams of MRC, and their paths.
void write_mrc(Page& page, const analyze::Snapshot& snapshot);
/// Shells, mirrors, and packets that are only named.
void write_numbered(Page& page, const analyze::Snapshot& snapshot);
/// What switches exported by sFlow, IPFIX or NetFlow.
void write_exports(Page& page, const analyze::Snapshot& snapshot);

}  // namespace roce::cli
