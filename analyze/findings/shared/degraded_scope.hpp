// SPDX-License-Identifier: Apache-2.0
// The host or pair of hosts that many degraded connections have in common.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "analyze/findings/shared/degraded_connections.hpp"

namespace roce::analyze {

struct DegradedHost {
  dissect::IpAddress address;
  SicknessSum sum;
  std::size_t connections = 0;  ///< of the host, healthy or degraded
  std::size_t sick_peers = 0;
  std::size_t others = 0;  ///< connections of other hosts only
};

struct DegradedLink {
  std::pair<dissect::IpAddress, dissect::IpAddress> hosts;  ///< the smaller address first
  SicknessSum sum;                                          ///< towards: to the second
  std::size_t connections = 0;
  std::size_t others = 0;  ///< connections of either host with third hosts
  std::size_t others_sick = 0;
  std::optional<dissect::IpAddress> without_others;  ///< the host that has none of them, if one has
};

struct SickPlaces {
  std::size_t sick = 0;  ///< connections
  std::optional<DegradedHost> host;
  std::vector<DegradedLink> links;  ///< none of them with `host`; the three with most connections
};

[[nodiscard]] SickPlaces look_for_sick_places(const Snapshot& snapshot);

}  // namespace roce::analyze
