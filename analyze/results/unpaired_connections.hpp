// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <set>
#include <utility>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// The connections of a snapshot with one direction only: whether the other direction was not captured, or
/// may be there and was left unpaired because too few answers, or several candidate flows, prove nothing.
/// Keeps no reference to the snapshot.
class UnpairedConnections {
 public:
  explicit UnpairedConnections(const Snapshot& snapshot);

  /// Whether another unpaired connection between the same two hosts, in the opposite direction, has the
  /// answers or requests that this one lacks. False for a connection with both directions.
  [[nodiscard]] bool other_may_be_there(const Connection& connection) const;
  /// Whether one of those may hold answers to the requests that this one has.
  [[nodiscard]] bool may_be_answered(const Connection& connection) const;
  /// Whether something was captured on its way to the queue pair whose packets the connection has: of one
  /// that is used twice the answers to one use may be with the other.
  [[nodiscard]] bool reached(const Connection& connection) const;

 private:
  /// What the unpaired connections from one address to another contain.
  struct Held {
    bool requests = false;
    bool answers = false;
  };
  /// Of those in the opposite direction; null: there is none.
  [[nodiscard]] const Held* opposite_of(const Connection& half) const;
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, Held> held_;
  std::set<std::pair<dissect::IpAddress, std::uint32_t>> reached_;  ///< queue pairs
};

/// The side (0 or 1) of an unpaired connection whose packets were captured.
[[nodiscard]] unsigned seen_side(const Connection& half) noexcept;

/// Requesters of which some unpaired flow may be the answers have not given up, whatever their own direction
/// shows.
void leave_ends_open(Snapshot& snapshot);

}  // namespace roce::analyze
