// SPDX-License-Identifier: Apache-2.0
#include "analyze/compare/black_holes.hpp"

#include <map>
#include <optional>
#include <utility>

namespace roce::analyze {
namespace {

/// The point to which a host is nearer, by the packets of other pairs: those that pass A first come from A's
/// side.
struct Side {
  std::uint64_t at[2]{};
  [[nodiscard]] std::optional<unsigned> known() const noexcept {
    if ((at[0] == 0) == (at[1] == 0)) return std::nullopt;
    return at[0] != 0 ? 0U : 1U;
  }
};
/// Hosts with packets at both points.
using Hosts = std::map<dissect::IpAddress, Side>;

Hosts hosts_of(const std::vector<AddressPair>& pairs) {
  Hosts hosts;
  for (const AddressPair& pair : pairs) {
    if (pair.matched == 0) continue;
    Side& src = hosts[pair.src];
    Side& dst = hosts[pair.dst];
    if (!pair.direction || pair.either) continue;
    src.at[*pair.direction] += pair.matched;
    dst.at[1 - *pair.direction] += pair.matched;
  }
  return hosts;
}

/// Whether packets of this pair at `side` were on their way to the other point, as far as it is known.
bool passes_first(const Hosts& hosts, const AddressPair& pair, unsigned side) {
  const auto src = hosts.find(pair.src);
  const auto dst = hosts.find(pair.dst);
  if (src == hosts.end() && dst == hosts.end()) return false;
  const std::optional<unsigned> from = src != hosts.end() ? src->second.known() : std::nullopt;
  const std::optional<unsigned> to = dst != hosts.end() ? dst->second.known() : std::nullopt;
  return from.value_or(side) == side && to.value_or(1 - side) == 1 - side;
}

}  // namespace

std::vector<BlackHole> find_black_holes(const std::vector<AddressPair>& pairs) {
  std::vector<BlackHole> found;
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, std::uint64_t> answers;
  Hosts hosts;
  bool asked = false;
  for (const AddressPair& pair : pairs) {
    for (unsigned side = 0; side < 2; ++side) {
      if (pair.matched != 0 || pair.requests == 0 || pair.alone[side] == 0 || pair.alone[1 - side] != 0)
        continue;
      if (!asked) {
        asked = true;
        hosts = hosts_of(pairs);
        for (const AddressPair& each : pairs) answers[{each.src, each.dst}] += each.answers;
      }
      if (!passes_first(hosts, pair, side)) continue;
      // A response shows that the packets arrived on another path.
      const auto back = answers.find({pair.dst, pair.src});
      if (back != answers.end() && back->second != 0) continue;
      found.push_back({pair.src, pair.dst, side, pair.alone_first[side]});
    }
  }
  return found;
}

}  // namespace roce::analyze
