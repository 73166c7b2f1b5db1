// SPDX-License-Identifier: Apache-2.0
// What incidents and events of connections show, each taken for a trouble of its own pair of hosts.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

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

/// What the answers to one requester usually take, at the capture point; 0: not known.
[[nodiscard]] std::uint64_t usual_answer_ns(const Requester& requester);

/// A port that pauses its link for a millisecond and more.
struct HeldLink {
  std::uint64_t mac = 0;
  std::uint64_t pauses = 0;
  std::int64_t longest_ns = 0;
  std::int64_t first_ns = capture::no_time;
  std::int64_t last_ns = capture::no_time;
};
/// Those whose MAC address is no host's: which hosts they hold up, the capture does not tell.
[[nodiscard]] std::vector<HeldLink> links_held_by_switches(const Snapshot& snapshot);

}  // namespace roce::analyze::diagnosis
