// SPDX-License-Identifier: Apache-2.0
// What incidents and events of connections show, each taken for a trouble of its own pair of hosts.
#pragma once

#include <map>

#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

struct TroubleKey {
  RootCause cause{};
  Route way;
  Whereabouts seen{};
  auto operator<=>(const TroubleKey&) const = default;
};
using Troubles = std::map<TroubleKey, Trouble>;

[[nodiscard]] Troubles collect_signs(const Snapshot& snapshot);

}  // namespace roce::analyze::diagnosis
