// SPDX-License-Identifier: Apache-2.0
// Internal to the text report: its sections. Each writes nothing where there is nothing to say.
#pragma once

#include "analyze/results/snapshot.hpp"
#include "cli/core/page.hpp"

namespace roce::cli {

/// How the classes are marked, where not all packets of the capture are marked alike.
void write_classes(Page& page, const analyze::Snapshot& snapshot);
/// CE marks and CNPs.
void write_congestion(Page& page, const analyze::Snapshot& snapshot);
void write_pauses(Page& page, const analyze::Snapshot& snapshot);
void write_dcbx(Page& page, const analyze::Snapshot& snapshot);

}  // namespace roce::cli
