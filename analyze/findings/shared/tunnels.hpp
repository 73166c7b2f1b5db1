// SPDX-License-Identifier: Apache-2.0
// What the rules on tunnels share: the marks that a fabric queues by beside those of the packets inside, by
// tunnel and direction.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyze/findings/shared/common.hpp"
#include "analyze/flow/flow.hpp"

namespace roce::analyze {

/// From one end of a tunnel to the other, e.g. between two VTEPs.
struct TunnelWay {
  dissect::IpAddress from;
  dissect::IpAddress to;
  dissect::Tunnel tunnel{};
  std::vector<std::pair<const Flow*, const OuterRow*>> rows;  ///< never empty
  std::set<std::pair<dissect::IpAddress, dissect::IpAddress>> hosts;
};

/// Whether nothing of the outer header tells a switch that the packet is not best effort.
[[nodiscard]] inline bool best_effort(const OuterMarks& outer) noexcept {
  return outer.dscp() == 0 && outer.pcp.value_or(0) == 0;
}

/// All ways through tunnels. A mirror is no tunnel: it sends both directions of the traffic the same way.
[[nodiscard]] std::vector<TunnelWay> tunnel_ways(const Snapshot& snapshot);

/// Packets of a way that show what a rule looks for.
struct TunnelCase {
  const TunnelWay* way = nullptr;
  std::uint64_t of = 0;          ///< packets that could have shown it
  std::set<std::uint8_t> inner;  ///< for the rule's own use: DSCP of the packets inside
  std::set<std::uint8_t> outer;  ///< for the rule's own use
  std::vector<const Flow*> flows;
  Proof proof;
  std::string test;  ///< the display filter for marks of such packets

  void add(const Flow& flow, const OuterRow& row);
  [[nodiscard]] std::string ends() const;  ///< "10.0.0.1 to 10.0.0.2 (VXLAN)"
};

/// One finding per case while there are few, else one that describes the case with most packets. The command
/// is added to the advice that `describe` returns.
void report_tunnels(FindingSink& sink, const Snapshot& snapshot, const std::vector<TunnelCase>& cases,
                    const std::function<Words(const TunnelCase&)>& describe);

/// "VXLAN", "Geneve", "GRE", "IP in IP".
[[nodiscard]] std::string_view tunnel_title(dissect::Tunnel tunnel) noexcept;

}  // namespace roce::analyze
