// SPDX-License-Identifier: Apache-2.0
// Sentences on what is known beyond the first one; empty where there is nothing to say.
#pragma once

#include <string>

#include "analyze/diagnosis/pattern.hpp"
#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

/// How losses are spread.
[[nodiscard]] std::string pattern_words(const LossPattern& pattern);
/// What waited for the timer though a NAK had asked for it.
[[nodiscard]] std::string lost_again_words(const Trouble& trouble);

}  // namespace roce::analyze::diagnosis
