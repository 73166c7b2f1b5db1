// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

/// What to do about a trouble where no finding of the cause itself tells: those of symptoms would say
/// something else. Empty where they know best.
[[nodiscard]] std::string own_advice(const Snapshot& snapshot, const Trouble& trouble);

}  // namespace roce::analyze::diagnosis
