// SPDX-License-Identifier: Apache-2.0
// Peers that answer nothing any more, up to the end of the capture.
#pragma once

#include <cstdint>
#include <set>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze::diagnosis {

/// Requesters of which none repeats often enough to tell alone that its peer is gone, but several together
/// do: each repeats in vain what it sent last, and nothing comes from there on any connection. Refers to the
/// snapshot.
class SilentPeers {
 public:
  explicit SilentPeers(const Snapshot& snapshot);
  /// Whether the request of that incident, which is not over, is one of those.
  [[nodiscard]] bool leave_unanswered(const Incident& incident) const {
    return unanswered_.contains(incident.id);
  }

 private:
  std::set<std::uint32_t> unanswered_;  ///< Incident::id
};

}  // namespace roce::analyze::diagnosis
