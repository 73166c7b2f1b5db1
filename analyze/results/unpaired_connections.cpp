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

const UnpairedConnections::Held* UnpairedConnections::opposite_of(const Connection& half) const {
  const unsigned side = seen_side(half);
  const auto back = held_.find({half.ends[1 - side].address, half.ends[side].address});
  return back == held_.end() ? nullptr : &back->second;
}

bool UnpairedConnections::other_may_be_there(const Connection& connection) const {
  if (!is_half(connection)) return false;
  if (may_be_answered(connection)) return true;
  const Held* const back = opposite_of(connection);
  return back != nullptr && back->requests && connection.requester[1 - seen_side(connection)].seen;
}

bool UnpairedConnections::may_be_answered(const Connection& connection) const {
  if (!is_half(connection)) return false;
  if (connection.pairing.ambiguous) return true;
  const Held* const back = opposite_of(connection);
  return back != nullptr && back->answers && connection.requester[seen_side(connection)].seen;
}

bool UnpairedConnections::reached(const Connection& connection) const {
  const Endpoint& end = connection.ends[seen_side(connection)];
  return end.qp && reached_.contains({end.address, *end.qp});
}

void leave_ends_open(Snapshot& snapshot) {
  const UnpairedConnections unpaired(snapshot);
  for (Connection& connection : snapshot.connections) {
    if (!unpaired.may_be_answered(connection)) continue;
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
