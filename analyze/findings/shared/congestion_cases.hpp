// SPDX-License-Identifier: Apache-2.0
// What the rules on ECN and CNPs have in common.
#pragma once

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

/// Packets of a side that are marked CE.
[[nodiscard]] Shown shown_by_ce();
/// CNPs to a side.
[[nodiscard]] Shown shown_by_cnps();
/// How fast the side sent before, between and after CNPs: "18.2 Gb/s before the first CNP, ...".
[[nodiscard]] std::string rates_text(const CongestionSide& side);

}  // namespace roce::analyze
