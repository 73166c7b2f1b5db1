// SPDX-License-Identifier: Apache-2.0
// How long a requester takes to go back for a NAK, and which NAKs it ignores.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "analyze/episode/thresholds.hpp"
#include "analyze/episode/triggers.hpp"

namespace roce::analyze::episode {
namespace {

/// Takes in the median of what was seen now: most reactions are some, though not all.
void learn_typical(TimeFact& fact, std::vector<std::int64_t>& seen) {
  if (seen.empty()) return;
  const auto middle = seen.begin() + static_cast<std::ptrdiff_t>((seen.size() - 1) / 2);
  std::nth_element(seen.begin(), middle, seen.end());
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(seen.size(), witnesses_at_most));
  const float share = static_cast<float>(count) / static_cast<float>(count + fact.witnesses);
  const float moved = fact.witnesses == 0 ? 0 : octaves(*middle, fact.typical_ns) * share;
  fact.typical_ns = fact.witnesses == 0
                        ? *middle
                        : static_cast<std::int64_t>(static_cast<float>(fact.typical_ns) * std::exp2(moved));
  fact.witnesses = std::min(fact.witnesses + count, witnesses_at_most);
}

}  // namespace

/// The first step back to what a NAK asked for, or to what comes behind it if that is missing: where the pass
/// goes on, the reaction, else perhaps one that only came late.
void Triggers::learn_reactions() {
  std::vector<std::int64_t> sure;
  std::vector<std::int64_t> likely;
  std::vector<std::int64_t> deaf;
  std::vector<std::int64_t> others;
  const Asked* last = nullptr;
  for (const Asked& asked : scene_.answers.asked()) {
    const bool again = last != nullptr && last->psn == asked.psn;
    last = &asked;
    if (asked.rnr || again) continue;
    std::int64_t first = 0;
    const auto behind = std::partition_point(steps_back_.begin(), steps_back_.end(),
                                             [&](std::size_t i) { return stream_.by_then[i] < asked.note; });
    for (const std::size_t i : std::span(behind, steps_back_.end())) {
      const Sent& sent = stream_.sent[i];
      const std::int32_t at = stream_.by_then[i];
      if (sent.psn < asked.psn || sent.psn >= sent_to_[static_cast<std::size_t>(asked.note)]) continue;
      if (sent.psn > asked.psn && scene_.answers.acked_before(at) > asked.psn) break;
      const std::int64_t took = since(asked.note, at);
      if (took <= 0 || stream_.note_of(sent).before) continue;
      if (first == 0) first = took;
      if (i + 1 < stream_.sent.size() && stream_.sent[i + 1].psn == sent.end) {
        (asked.deaf ? deaf : sure).push_back(took);
        first = 0;
        break;
      }
    }
    if (first > 0) (asked.deaf ? others : likely).push_back(first);
  }
  TimeFact& fact = scene_.facts.nak_reaction;
  others.insert(others.end(), deaf.begin(), deaf.end());
  learn_typical(fact, !sure.empty() ? sure : !likely.empty() || fact.witnesses != 0 ? likely : others);
  constexpr int most = 4;
  int& ignores = scene_.facts.ignores;
  for (const std::int64_t took : deaf) {
    const bool long_after = took >= 2 * fact.typical_ns && took >= shortest_timer_ns;
    ignores = std::clamp(ignores + (long_after ? 1 : -1), -most, most);
  }
}

}  // namespace roce::analyze::episode
