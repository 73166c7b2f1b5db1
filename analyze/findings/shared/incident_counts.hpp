// SPDX-License-Identifier: Apache-2.0
// What findings say of the incidents behind them.
#pragma once

#include <functional>
#include <string>

#include "analyze/connection/incident.hpp"
#include "analyze/findings/shared/grouping.hpp"

namespace roce::analyze {

/// "22 incidents, median recovery 2.10 ms, longest 9.00 ms": those of a group that are meant; empty if there
/// are none. A case's side is that of the requester, or with `of_sender` of who sent what was lost.
[[nodiscard]] std::string incidents_text(const Snapshot& snapshot, const Group& group, bool of_sender,
                                         const std::function<bool(const Incident&)>& meant);

/// How often a timer of a requester of the group ran out because what had been sent again was lost, too.
[[nodiscard]] std::uint64_t lost_again(const Snapshot& snapshot, const Group& group);

}  // namespace roce::analyze
