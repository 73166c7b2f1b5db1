// SPDX-License-Identifier: Apache-2.0
// What is said of a trouble: its sentence, what is known beyond it, and what the capture leaves open.
#pragma once

#include <cstdint>
#include <map>

#include "analyze/diagnosis/pattern.hpp"
#include "analyze/diagnosis/troubles.hpp"

namespace roce::analyze::diagnosis {

/// Figures of the connections that show a trouble.
struct HitShare {
  std::uint64_t sent =
      0;  ///< packets of all connections in its directions, and what was lost before the capture
  std::uint64_t repeated = 0;    ///< those of its connections that were sent again for it, by whoever had to
  std::uint64_t repeatable = 0;  ///< packets that `repeated` is a part of
  std::int64_t time_ns = 0;      ///< the longest of its connections
  std::int64_t stalled_ns = 0;   ///< most of one connection
  bool among_others = false;     ///< more was sent again there, for something else

  [[nodiscard]] double of_repeats() const noexcept {
    return repeatable == 0 ? 0 : static_cast<double>(repeated) / static_cast<double>(repeatable);
  }
};
/// By connection: packets that all its incidents had sent again.
using RepeatsOfConnections = std::map<std::uint32_t, std::uint64_t>;
[[nodiscard]] RepeatsOfConnections repeats_of_connections(const Snapshot& snapshot);
[[nodiscard]] HitShare hit_share(const Snapshot& snapshot, const Trouble& trouble,
                                 const RepeatsOfConnections& repeats);

/// Fills subject, sentence, facts, alternatives, would_decide of a diagnosis whose place and figures are
/// known.
void put_in_words(const Snapshot& snapshot, const Trouble& trouble, const HitShare& share,
                  Diagnosis& diagnosis);

}  // namespace roce::analyze::diagnosis
