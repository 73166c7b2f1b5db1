// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/common.hpp"

#include <algorithm>
#include <utility>

namespace roce::analyze {

Severity severity_of(std::uint64_t part, std::uint64_t whole, const Scale& scale) noexcept {
  const double share = whole == 0 ? 1 : static_cast<double>(part) / static_cast<double>(whole);
  if (share >= scale.error_from && part >= scale.error_at_least) return Severity::error;
  return share >= scale.warning_from && part >= scale.warning_at_least ? Severity::warning : Severity::notice;
}

bool add_case(const Snapshot& snapshot, std::vector<Case>& cases, const Connection& connection,
              const EventCase& what) {
  const EventLog* log = connection.sent[what.sender].find(what.event);
  if (log == nullptr) return false;
  Case found;
  found.connection = &connection;
  found.side = what.side;
  found.of = what.of;
  found.proof.add(log);
  // Revoked verdicts leave no packet numbers.
  if (found.proof.frames.empty()) found.proof.add_frame(connection.first_frame);
  found.confidence = confidence_in(snapshot, connection);
  cases.push_back(std::move(found));
  return true;
}

const Flow* flow_of(const Snapshot& snapshot, const Connection& connection, unsigned side) noexcept {
  const auto& id = connection.flow[side];
  if (!id) return nullptr;
  // Ids are ascending, but evicted flows leave holes.
  const auto found = std::lower_bound(snapshot.flows.begin(), snapshot.flows.end(), *id,
                                      [](const Flow& f, std::uint64_t wanted) { return f.id < wanted; });
  return found == snapshot.flows.end() || found->id != *id ? nullptr : &*found;
}

void for_each_side(const Snapshot& snapshot,
                   const std::function<void(const Connection& connection, unsigned side)>& look) {
  for (const Connection& connection : snapshot.connections) {
    for (unsigned side = 0; side < 2; ++side) look(connection, side);
  }
}

}  // namespace roce::analyze
