// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/path_shares.hpp"

#include <algorithm>

namespace roce::analyze {

PathShare& PathShares::of(const FlowPath& path) {
  const auto found = std::find_if(shares_.begin(), shares_.end(), [&](const PathShare& share) {
    return !share.others && share.path == path;
  });
  if (found != shares_.end()) return *found;
  if (shares_.size() < limit) {
    PathShare share;
    share.path = path;
    shares_.push_back(share);
    return shares_.back();
  }
  shares_.back().others = true;  // from now on of several
  return shares_.back();
}

void PathShares::leave(const FlowPath& path, const PathShare& counted) {
  const bool first = shares_.empty();
  PathShare& share = of(path);
  share.packets += counted.packets - before_.packets;
  share.bytes += counted.bytes - before_.bytes;
  share.ce += counted.ce - before_.ce;
  if (first) {
    share.lost = counted.lost;
    share.retransmitted = counted.retransmitted;
  }
  before_ = counted;
}

void PathShares::read_losses_as(LossReading reading) noexcept {
  for (PathShare& share : shares_) share.lost = read_losses(share.lost, reading);
  before_.lost = read_losses(before_.lost, reading);
}

std::vector<PathShare> PathShares::all(const FlowPath& path, const PathShare& counted) const {
  PathShares sum = *this;
  sum.leave(path, counted);
  std::vector<PathShare>& shares = sum.shares_;
  // Late packets of the first path were not told apart before the second one came.
  std::uint64_t told = 0;
  for (const PathShare& share : shares) told += share.late;
  shares.front().late += counted.late - std::min(told, counted.late);
  return std::move(shares);
}

}  // namespace roce::analyze
