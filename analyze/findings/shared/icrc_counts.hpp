// SPDX-License-Identifier: Apache-2.0
// Wrong ICRCs, split into packets corrupted on the wire and those that are only wrong in the capture.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analyze/findings/shared/proof.hpp"
#include "analyze/results/snapshot.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Packets of flows with at least one wrong ICRC, or of all flows of a host.
struct IcrcCounts {
  std::uint64_t packets = 0;
  std::uint64_t wrong = 0;
  std::uint64_t stray = 0;   ///< of `wrong`: of no flow, or the only packet of one: its address or QP was hit
  std::uint64_t between = 0;  ///< of `wrong`: whole at the capture point before
  std::uint64_t folded = 0;  ///< of `wrong`: packets counted here although of another address pair
  Proof proof;               ///< frames and times of those of connections
  std::vector<std::uint32_t> connections;  ///< the first few, ascending
};

struct IcrcView {
  using Pair = std::pair<dissect::IpAddress, dissect::IpAddress>;
  std::map<Pair, IcrcCounts> corrupted;               ///< by direction; artefacts left out
  std::map<dissect::IpAddress, IcrcCounts> artefact;  ///< by sender: all of its packets are wrong
  bool any_host_well = false;  ///< some host's packets are not all wrong: checking works
};

[[nodiscard]] IcrcView look_at_icrc(const Snapshot& snapshot);

}  // namespace roce::analyze
