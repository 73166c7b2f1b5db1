// SPDX-License-Identifier: Apache-2.0
// What passed on each path, at the end of a comparison.
#include <algorithm>
#include <map>
#include <tuple>

#include "analyze/compare/comparison.hpp"

namespace roce::analyze {

void Comparison::note_matched_path(std::uint32_t flow, unsigned direction, const PacketSeen& a,
                                   const PacketSeen& b) {
  PathBook::Path* path = paths_.at(book_.pair_place(flow), a.has(PointPacket::damaged) ? b.port : a.port);
  if (path == nullptr) return;
  constexpr unsigned ecn_bits = 3;
  constexpr unsigned ce = 3;
  const auto marked = [](const PacketSeen& seen) { return (seen.traffic_class & ecn_bits) == ce; };
  const PacketSeen& first = direction == 0 ? a : b;
  const PacketSeen& second = direction == 0 ? b : a;
  ++path->matched;
  if (is_trimmed_between(first, second)) ++path->trimmed;
  if (!marked(first) && marked(second) && !second.has(PointPacket::damaged)) ++path->ce_added;
  path->delays[direction].add(direction == 0 ? a.time_ns : b.time_ns - alignment_.shift_ns,
                              b.time_ns - a.time_ns);
}

void Comparison::finish_paths(const std::vector<LostPacket>& missed) {
  using Key = std::tuple<dissect::IpAddress, dissect::IpAddress, std::uint16_t, unsigned>;
  std::map<Key, std::uint64_t> arrived;  // which the second capture missed
  for (const LostPacket& packet : missed)
    ++arrived[{packet.key.src, packet.key.dst, packet.port, packet.direction}];
  result_.paths_omitted = paths_.omitted();
  for (const PathBook::Path& path : paths_.paths()) {
    const AddressPair& pair = book_.pairs()[path.pair];
    if (pair.matched == 0) continue;  // the other point may not see it at all
    const unsigned usual = pair.direction.value_or(0);
    for (const unsigned direction : {usual, 1 - usual}) {
      // Where the order is not known, what either point lacks is lost, as in the figures of both directions.
      if (direction != usual && !pair.either) continue;
      ComparePath row;
      row.src = pair.src;
      row.dst = pair.dst;
      row.port = path.port;
      row.direction = direction;
      row.lost = path.alone[direction];
      if (const auto found = arrived.find({row.src, row.dst, row.port, direction}); found != arrived.end())
        row.lost -= std::min(row.lost, found->second);
      row.packets = row.lost;
      if (direction == usual) {
        row.trimmed = path.trimmed;
        row.lost += path.trimmed;
        row.packets += path.matched;
        row.ce_added = path.ce_added;
      }
      const std::optional<std::int64_t> base = delay_base(direction);
      if (base && path.delays[direction].any())
        row.delay = path.delays[direction].stats(direction == 0 ? 1 : -1, *base, result_.clocks.drift,
                                                 result_.clocks.since_ns);
      if (row.packets != 0) result_.paths.push_back(row);
    }
  }
  std::stable_sort(result_.paths.begin(), result_.paths.end(),
                   [](const ComparePath& a, const ComparePath& b) {
                     return a.lost != b.lost ? a.lost > b.lost : a.packets > b.packets;
                   });
}

}  // namespace roce::analyze
