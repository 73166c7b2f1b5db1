// SPDX-License-Identifier: Apache-2.0
#include "analyze/diagnosis/size_hole.hpp"

#include <algorithm>
#include <limits>

namespace roce::analyze::diagnosis {
namespace {

constexpr std::uint32_t sent_in_vain = 3;
}  // namespace

std::optional<SizeHole> size_hole(const Snapshot& snapshot, const std::set<Route>& ways) {
  SizeHole hole;
  hole.lost_bytes = std::numeric_limits<std::uint64_t>::max();
  std::int64_t asked_ns =
      capture::no_time;  // whoever's: without other answers it is not known whose NAK it is
  std::int64_t stuck_ns = 0;
  for (const Connection& c : snapshot.connections) {
    for (unsigned side = 0; side < 2; ++side) {
      const EventLog* const naks = c.sent[side].find(Event::nak_sequence_error);
      if (naks != nullptr && ways.contains({c.ends[1 - side].address, c.ends[side].address}))
        asked_ns = std::max(asked_ns, naks->last_time_ns);
      if (!ways.contains({c.ends[side].address, c.ends[1 - side].address})) continue;
      const RetryChain& chain = c.requester[side].trouble->worst_chain;
      if (chain.resends >= sent_in_vain && !chain.answered && chain.bytes != 0) {
        hole.stuck.emplace_back(&c, side);
        hole.lost_bytes = std::min<std::uint64_t>(hole.lost_bytes, chain.bytes);
        hole.pmtu = std::max(hole.pmtu, c.pmtu);
        hole.transport = c.transport;
        // Asked for, it was sent again, and from then on the timer did.
        const std::int64_t from_ns = chain.first_time_ns - static_cast<std::int64_t>(chain.min_spacing_ns);
        stuck_ns = hole.stuck.size() == 1 ? from_ns : std::min(stuck_ns, from_ns);
      }
      // Of what it reads the capture shows that it came here, not that it got there.
      for (const OperationStats& operation : c.requester[side].operations) {
        if (operation.kind == OperationKind::read) continue;
        hole.passed += operation.answered;
        hole.passed_bytes = std::max(hole.passed_bytes, operation.largest_answered);
      }
    }
  }
  // So something behind it did get there.
  const bool asked_for = asked_ns != capture::no_time && asked_ns >= stuck_ns;
  const bool found = asked_for && !hole.stuck.empty() && hole.passed_bytes < hole.lost_bytes;
  return found ? std::optional(std::move(hole)) : std::nullopt;
}

}  // namespace roce::analyze::diagnosis
