// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/unpaired_connections.hpp"

namespace roce::analyze {
namespace {

/// UC and the like have no reverse direction that could be missing.
bool is_half(const Connection& connection) noexcept {
  const bool acknowledged =
      connection.service == dissect::Service::rc || connection.service == dissect::Service::xrc;
  return acknowledged && !connection.paired();
}

}  // namespace

unsigned seen_side(const Connection& half) noexcept {
  return half.flow[0] ? 0 : 1;
}

UnpairedConnections::UnpairedConnections(const Snapshot& snapshot) {
  for (const Connection& connection : snapshot.connections) {
    if (!is_half(connection)) continue;
    const unsigned side = seen_side(connection);
    Held& held = held_[{connection.ends[side].address, connection.ends[1 - side].address}];
    held.requests |= connection.requester[side].seen;
    held.answers |= connection.requester[1 - side].seen;
  }
  if (held_.empty()) return;  // and nobody asks
  for (const Flow& flow : snapshot.flows) reached_.emplace(flow.key.dst, flow.key.dst_qp);
}

bool UnpairedConnections::other_may_be_there(const Connection& connection) const {
  if (!is_half(connection)) return false;
  if (connection.pairing.ambiguous) return true;
  const unsigned side = seen_side(connection);
  const auto back = held_.find({connection.ends[1 - side].address, connection.ends[side].address});
  if (back == held_.end()) return false;
  return (connection.requester[side].seen && back->second.answers) ||
         (connection.requester[1 - side].seen && back->second.requests);
}

bool UnpairedConnections::reached(const Connection& connection) const {
  const Endpoint& end = connection.ends[seen_side(connection)];
  return end.qp && reached_.contains({end.address, *end.qp});
}

void leave_ends_open(Snapshot& snapshot) {
  const UnpairedConnections unpaired(snapshot);
  for (Connection& connection : snapshot.connections) {
    if (!unpaired.other_may_be_there(connection)) continue;
    bool failed = false;
    for (Requester& requester : connection.requester) {
      requester.retries_exhausted = false;
      failed = failed || requester.refused_fatally || requester.rnr_exhausted;
    }
    if (connection.state == Connection::State::failed && !failed)
      connection.state = Connection::State::half_seen;
  }
}

}  // namespace roce::analyze
