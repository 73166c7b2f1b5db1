// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>

#include "analyze/results/snapshot.hpp"

namespace roce::analyze {

/// The connections of a snapshot of which one direction only was followed: whether the other one was not
/// captured, or may be there and was left unpaired, because too few answers or several flows that would do
/// prove nothing.
class Halves {
 public:
  explicit Halves(const Snapshot& snapshot);

  /// Whether another half between the same two hosts, the other way, holds the answers or the requests that
  /// this one lacks. False for a connection with both directions.
  [[nodiscard]] bool other_may_be_there(const Connection& connection) const;

 private:
  /// What the halves from one address to another hold.
  struct Held {
    bool requests = false;
    bool answers = false;
  };
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, Held> held_;
};

/// The side of a half connection whose packets were captured.
[[nodiscard]] unsigned seen_side(const Connection& half) noexcept;

}  // namespace roce::analyze
