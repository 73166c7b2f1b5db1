// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/degraded_scope.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace roce::analyze {
namespace {

using Address = dissect::IpAddress;
using Pair = std::pair<Address, Address>;

// Fewer are reported one by one anyway.
constexpr std::size_t many = 5;

struct HostTally {
  std::size_t connections = 0;
  std::size_t sick = 0;
  std::set<Address> sick_peers;
};
struct PairTally {
  std::size_t connections = 0;
  std::size_t sick = 0;
};

struct Tally {
  std::map<Address, HostTally> hosts;
  std::map<Pair, PairTally> pairs;
  std::vector<std::pair<const Connection*, ConnectionTrouble>> sick;
};

Pair pair_of(const Connection& c) {
  return std::minmax(c.ends[0].address, c.ends[1].address);
}

Tally tally_of(const Snapshot& snapshot) {
  Tally tally;
  for (const Connection& c : snapshot.connections) {
    if (!snapshot.completeness.bears(Need::directions, c)) continue;
    ConnectionTrouble sickness = sickness_of(c);
    const bool sick = sickness.any();
    PairTally& pair = tally.pairs[pair_of(c)];
    ++pair.connections;
    pair.sick += sick ? 1 : 0;
    for (unsigned side = 0; side < 2; ++side) {
      if (side == 1 && c.ends[0].address == c.ends[1].address) break;
      HostTally& host = tally.hosts[c.ends[side].address];
      ++host.connections;
      if (!sick) continue;
      ++host.sick;
      host.sick_peers.insert(c.ends[1 - side].address);
    }
    if (sick) tally.sick.emplace_back(&c, std::move(sickness));
  }
  return tally;
}

/// At most one: four fifths of all degraded connections have an end there, with several peers.
std::optional<DegradedHost> sick_host(const Tally& tally, std::size_t all) {
  const std::pair<const Address, HostTally>* found = nullptr;
  for (const auto& entry : tally.hosts) {
    const HostTally& host = entry.second;
    if (host.sick < many || host.sick_peers.size() < 3) continue;
    if (2 * host.sick < host.connections || 5 * host.sick < 4 * tally.sick.size()) continue;
    if (found == nullptr || host.sick > found->second.sick) found = &entry;
  }
  if (found == nullptr) return std::nullopt;
  DegradedHost result;
  result.address = found->first;
  result.connections = found->second.connections;
  result.sick_peers = found->second.sick_peers.size();
  result.others = all - found->second.connections;
  for (const auto& [connection, sickness] : tally.sick) {
    const auto& ends = connection->ends;
    if (ends[0].address != result.address && ends[1].address != result.address) continue;
    result.sum.add(*connection, sickness, ends[0].address == result.address ? 0 : 1);
  }
  return result;
}

/// Most connections of the pair are degraded, those of its hosts with others are not.
std::vector<DegradedLink> sick_links(const Tally& tally, const std::optional<DegradedHost>& host) {
  std::map<Pair, DegradedLink> links;
  for (const auto& [hosts, pair] : tally.pairs) {
    if (pair.sick < many || 2 * pair.sick < pair.connections) continue;
    if (host && (hosts.first == host->address || hosts.second == host->address)) continue;
    DegradedLink link;
    link.hosts = hosts;
    link.connections = pair.connections;
    for (const Address& end : std::set<Address>{hosts.first, hosts.second}) {
      const HostTally& all = tally.hosts.at(end);
      link.others += all.connections - pair.connections;
      link.others_sick += all.sick - pair.sick;
      if (all.connections == pair.connections) link.without_others = end;
    }
    if (link.others == 0) link.without_others.reset();
    if (5 * link.others_sick > link.others) continue;
    links.emplace(hosts, std::move(link));
  }
  for (const auto& [connection, sickness] : tally.sick) {
    const auto link = links.find(pair_of(*connection));
    if (link == links.end()) continue;
    link->second.sum.add(*connection, sickness,
                         connection->ends[0].address == link->second.hosts.second ? 0 : 1);
  }
  std::vector<DegradedLink> result;
  for (auto& [hosts, link] : links) result.push_back(std::move(link));
  std::stable_sort(result.begin(), result.end(), [](const DegradedLink& a, const DegradedLink& b) {
    return a.sum.connections > b.sum.connections;
  });
  if (result.size() > told_apart) result.resize(told_apart);
  return result;
}

}  // namespace

SickPlaces look_for_sick_places(const Snapshot& snapshot) {
  const Tally tally = tally_of(snapshot);
  SickPlaces places;
  places.sick = tally.sick.size();
  if (places.sick < many) return places;
  places.host = sick_host(tally, snapshot.connections.size());
  places.links = sick_links(tally, places.host);
  return places;
}

}  // namespace roce::analyze
