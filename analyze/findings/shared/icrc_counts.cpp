// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/icrc_counts.hpp"
#include "analyze/connection/find_connection.hpp"

#include <algorithm>

namespace roce::analyze {
namespace {

constexpr std::uint64_t enough = 8;
constexpr std::uint64_t few = 3;  // as many as the tracker accepts as proof, if none is right

/// Nearly all: corruption on a wire that bad would leave no connection alive.
bool all_wrong(const IcrcCounts& counts) noexcept {
  if (counts.packets < enough) return counts.packets >= few && counts.wrong == counts.packets;
  return counts.wrong >= counts.packets - counts.packets / 20;
}

const Connection* connection_of(const Snapshot& snapshot, const Flow& flow) noexcept {
  return flow.connection ? find_connection(snapshot.connections, *flow.connection) : nullptr;
}

void add(const Snapshot& snapshot, const Flow& flow, IcrcCounts& counts) {
  counts.packets += flow.packets + flow.sequence().left_out;
  counts.wrong += flow.icrc_mismatches;
  if (flow.icrc_mismatches == 0) return;
  if (flow.packets + flow.sequence().left_out == 1) ++counts.stray;
  const Connection* connection = connection_of(snapshot, flow);
  if (connection == nullptr) return;
  constexpr std::size_t named = 8;
  if (counts.connections.size() < named) counts.connections.push_back(connection->id);
  const unsigned side = connection->flow[0] && *connection->flow[0] == flow.id ? 0 : 1;
  counts.proof.add(connection->sent[side].find(Event::icrc_mismatch));
  counts.between += connection->sent[side].count(Event::damaged_between_points);
}

void add(const StrayPackets& strays, IcrcCounts& counts) {
  counts.packets += strays.packets;
  counts.wrong += strays.packets;
  counts.stray += strays.packets;
}

/// Pairs with nothing but corrupted packets do not exist: an address was hit. They are added to the worst
/// pair that shares the other address.
void fold_strays(IcrcView& view) {
  std::map<dissect::IpAddress, IcrcCounts*> by_source;
  std::map<dissect::IpAddress, IcrcCounts*> by_destination;
  const auto keep_worst = [](IcrcCounts*& worst, IcrcCounts& counts) {
    if (worst == nullptr || counts.wrong > worst->wrong) worst = &counts;
  };
  for (auto& [pair, counts] : view.corrupted) {
    if (counts.stray == counts.packets) continue;
    keep_worst(by_source[pair.first], counts);
    keep_worst(by_destination[pair.second], counts);
  }
  std::erase_if(view.corrupted, [&](const auto& entry) {
    const auto& [pair, counts] = entry;
    if (counts.stray != counts.packets) return false;
    const auto source = by_source.find(pair.first);
    const auto destination = by_destination.find(pair.second);
    if (source == by_source.end() && destination == by_destination.end()) return false;
    IcrcCounts& home = source != by_source.end() ? *source->second : *destination->second;
    home.packets += counts.packets;
    home.wrong += counts.wrong;
    home.stray += counts.stray;
    home.between += counts.between;
    home.folded += counts.wrong;
    home.proof.add(counts.proof);
    return true;
  });
}

}  // namespace

IcrcView look_at_icrc(const Snapshot& snapshot) {
  IcrcView view;
  if (snapshot.totals.icrc[static_cast<std::size_t>(dissect::CrcStatus::mismatch)] == 0) return view;
  std::map<dissect::IpAddress, IcrcCounts> senders;
  for (const Flow& flow : snapshot.flows) add(snapshot, flow, senders[flow.key.src]);
  for (const StrayPackets& strays : snapshot.strays) add(strays, senders[strays.src]);
  for (auto& [address, counts] : senders) {
    if (all_wrong(counts)) {
      view.artefact.emplace(address, std::move(counts));
    } else {
      view.any_host_well |= counts.packets >= enough;
    }
  }
  for (const Flow& flow : snapshot.flows) {
    if (flow.icrc_mismatches == 0 || view.artefact.count(flow.key.src) != 0) continue;
    add(snapshot, flow, view.corrupted[{flow.key.src, flow.key.dst}]);
  }
  for (const StrayPackets& strays : snapshot.strays) {
    if (view.artefact.count(strays.src) == 0) add(strays, view.corrupted[{strays.src, strays.dst}]);
  }
  fold_strays(view);
  return view;
}

}  // namespace roce::analyze
