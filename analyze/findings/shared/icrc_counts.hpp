// SPDX-License-Identifier: Apache-2.0
// Wrong ICRCs, split into what was corrupted on the wire and what only the capture shows.
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
  std::uint64_t stray = 0;   ///< of them, packets that are a flow of their own: their addresses were hit
  std::uint64_t folded = 0;  ///< of them, those between other addresses
  Proof proof;               ///< frames and times of those that belong to connections
  std::vector<std::uint32_t> connections;  ///< the first few, ascending
};

struct IcrcView {
  using Pair = std::pair<dissect::IpAddress, dissect::IpAddress>;
  std::map<Pair, IcrcCounts> corrupted;               ///< by direction; artefacts left out
  std::map<dissect::IpAddress, IcrcCounts> artefact;  ///< by sender: all of its packets are wrong
  bool any_host_well = false;  ///< some host's packets are not all wrong: ICRCs are checked rightly
};

[[nodiscard]] IcrcView look_at_icrc(const Snapshot& snapshot);

}  // namespace roce::analyze
