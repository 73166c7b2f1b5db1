// SPDX-License-Identifier: Apache-2.0
// What the capture can bear decides how counted losses are read: what a mirror sampled, a filter left out or
// two points in one interface show must not be told as lost by the network.
#pragma once

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

class VerdictStore;

/// Of a snapshot whose completeness is known, before findings: counts, incidents, the series, and `verdicts`
/// (null: there are none). Where losses cannot be judged, all are left open; where the capture is known to
/// miss packets, those that it may have missed are; elsewhere these were lost.
void settle_losses(Snapshot& snapshot, VerdictStore* verdicts);

}  // namespace roce::analyze
