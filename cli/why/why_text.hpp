// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyze/results/snapshot.hpp"
#include "analyze/story/story_json.hpp"
#include "cli/core/page.hpp"

namespace roce::cli {

/// What `why` tells, as text. `untold`: stories beyond style.top.
[[nodiscard]] std::string why_text(const analyze::Snapshot& snapshot, const analyze::Stories& stories,
                                   std::size_t untold, const ReportStyle& style);

}  // namespace roce::cli
