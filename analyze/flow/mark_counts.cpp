// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/mark_counts.hpp"

#include <algorithm>

namespace roce::analyze {

MarkCounts::Row* MarkCounts::find(std::uint64_t key) noexcept {
  if (first_.key == key) return &first_;
  const auto found =
      std::find_if(more_.begin(), more_.end(), [key](const Row& row) { return row.key == key; });
  return found != more_.end() ? &*found : nullptr;
}

void MarkCounts::note(std::uint64_t key, std::uint64_t number, std::int64_t time_ns) {
  if (Row* row = find(key)) {
    // Packets that were buffered for their other direction may come after later ones.
    if (number >= row->first_packet) return;
    row->first_packet = number;
    row->first_time_ns = time_ns;
    return;
  }
  if (first_.key == none) {
    first_ = {key, 0, number, time_ns};
  } else if (more_.size() + 1 < limit) {
    if (more_.empty()) more_.reserve(1);  // two-way traffic has data and acknowledgements
    more_.push_back({key, 0, number, time_ns});
  }
}

bool MarkCounts::as_first(std::uint64_t key) const noexcept {
  constexpr std::uint64_t of_class = 0xff;
  // Class, tagged or not, the tag, and DSCP without ECN; see key_of().
  constexpr std::uint64_t compared = 0xffff | std::uint64_t{0xffff} << 16U | std::uint64_t{0xfc} << 32U;
  const auto same_class = [key](const Row& row) { return ((row.key ^ key) & of_class) == 0; };
  if (same_class(first_)) return ((first_.key ^ key) & compared) == 0;
  const auto found = std::find_if(more_.begin(), more_.end(), same_class);
  return found == more_.end() || ((found->key ^ key) & compared) == 0;
}

MarkRow MarkCounts::read(const Row& row) noexcept {
  PacketRecord::Look look;
  look.word = row.key & ~std::uint64_t{0xffff};
  look.flags = static_cast<std::uint8_t>(row.key >> 8U & 0xffU);
  const PacketRecord marked = PacketRecord::of_look(look);
  MarkRow result;
  result.traffic_class = static_cast<TrafficClass>(row.key & 0xffU);
  result.marks.dscp = static_cast<std::uint8_t>(marked.traffic_class >> 2U);
  result.marks.ecn = marked.traffic_class & 3U;
  if (marked.has(PacketRecord::tagged)) {
    result.marks.pcp = marked.pcp();
    result.marks.vlan = marked.vlan_id();
  }
  result.marks.ttl = marked.ttl;
  result.p_key = marked.p_key;
  result.packets = row.packets;
  result.first_packet = row.first_packet;
  result.first_time_ns = row.first_time_ns;
  return result;
}

std::vector<MarkRow> MarkCounts::rows() const {
  std::vector<MarkRow> all;
  if (first_.key == none) return all;
  all.reserve(1 + more_.size());
  all.push_back(read(first_));
  for (const Row& row : more_) all.push_back(read(row));
  std::sort(all.begin(), all.end(),
            [](const MarkRow& a, const MarkRow& b) { return a.first_packet < b.first_packet; });
  return all;
}

}  // namespace roce::analyze
