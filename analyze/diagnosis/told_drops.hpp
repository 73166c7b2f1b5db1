// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

/// Where switches say that they dropped what a trouble lost.
struct ToldDrops {
  std::string place;  ///< ", at switch 10.0.0.7 port 12, queue 3: no buffer (tail drop)": nearly all of it
  std::string_view remedy;  ///< against nearly all of it
  std::string fact;         ///< how much is told, and where else; a sentence
};
/// Empty where no notification is joined with a loss of it.
[[nodiscard]] ToldDrops told_drops(const Snapshot& snapshot, const Trouble& trouble);

}  // namespace roce::analyze::diagnosis
