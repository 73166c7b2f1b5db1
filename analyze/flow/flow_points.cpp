// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/flow_points.hpp"

#include <algorithm>
#include <utility>

#include "capture/core/frame.hpp"

namespace roce::analyze {
namespace {

constexpr std::int64_t before_ns = 1'000'000'000;  // how much earlier copies may come, at most

bool is_marked_alike(const MarkRow& a, const MarkRow& b) noexcept {
  return a.traffic_class == b.traffic_class && a.p_key == b.p_key && a.marks == b.marks;
}

/// Rows of a point that the flow's own rows do not have. Empty if the flow's own rows are incomplete.
std::vector<MarkRow> rows_beside(const std::vector<MarkRow>& own, std::vector<MarkRow> rows) {
  if (own.size() >= MarkCounts::limit) return {};
  std::erase_if(rows, [&](const MarkRow& row) {
    return std::any_of(own.begin(), own.end(),
                       [&](const MarkRow& known) { return is_marked_alike(row, known); });
  });
  return rows;
}

}  // namespace

std::size_t FlowPoints::Hash::operator()(const Key& key) const noexcept {
  constexpr std::uint64_t spread = 0x9e3779b97f4a7c15U;
  return key.flow.hash() ^ (key.point + 1) * spread;
}

std::uint32_t FlowPoints::entry_of(const FlowKey& flow, std::uint32_t point) {
  const Key key{flow, point};
  const auto known = places_.find(key);
  if (known != places_.end()) return known->second;
  if (entries_.size() >= limit_) return none;
  const auto place = static_cast<std::uint32_t>(entries_.size());
  places_.insert({key, place});
  Entry& entry = entries_.emplace_back();
  entry.flow = flow;
  entry.point = static_cast<std::uint16_t>(point);
  return place;
}

void FlowPoints::count(Entry& entry, const PacketRecord::Look& look, const PacketBrief& packet,
                       std::uint64_t number) {
  entry.right = entry.right || packet.icrc == static_cast<std::uint8_t>(dissect::CrcStatus::match);
  // Where all of a flow are wrong the capture made them so.
  if (entry.right && packet.damaged()) {
    ++entry.packets;
    return;
  }
  const std::uint64_t key = MarkCounts::key_of(look, traffic_class(packet.opcode, entry.flow.dst_qp));
  if (!entry.any || key != entry.last_key) entry.marks.note(key, number, packet.time_ns);
  entry.any = true;
  entry.last_key = key;
  entry.marks.add(key, 1);
  ++entry.packets;
}

void FlowPoints::see(const PacketRecord& record, std::uint64_t number) {
  if (!record.has(PacketRecord::selected) || record.has(PacketRecord::other_version)) return;
  const std::uint32_t place = entry_of(record.key, record.point);
  if (place == none) {
    ++dropped_;
  } else {
    count(entries_[place], record.look(), record, number);
  }
}

std::vector<FlowAtPoint> FlowPoints::finish(const std::vector<Flow>& flows, bool any_left) {
  const bool several = std::any_of(entries_.begin(), entries_.end(),
                                   [&](const Entry& entry) { return entry.point != entries_.front().point; });
  std::vector<FlowAtPoint> all;
  if (several) {
    // Of flows that had the same key one after the other, the last one stands for all.
    tsl::robin_map<Key, std::pair<const Flow*, std::vector<MarkRow>>, Hash> of_key;
    for (const Flow& flow : flows) {
      auto at = of_key.insert({Key{flow.key, 0}, {}}).first;
      at.value().first = &flow;
      const std::vector<MarkRow> rows = flow.marks();
      at.value().second.insert(at.value().second.end(), rows.begin(), rows.end());
    }
    // No copies: the points are pieces of one capture, or share its load.
    tsl::robin_map<Key, std::int64_t, Hash> copies;
    for (const Entry& entry : entries_)
      copies[Key{entry.flow, 0}] += static_cast<std::int64_t>(entry.packets);
    for (const Flow& flow : flows) copies[Key{flow.key, 0}] -= static_cast<std::int64_t>(flow.packets);
    for (const Entry& entry : entries_) {
      const auto found = of_key.find(Key{entry.flow, 0});
      if (found == of_key.end()) continue;  // evicted
      if (!any_left && copies[found->first] <= 0) continue;
      const Flow& flow = *found->second.first;
      FlowAtPoint& there = all.emplace_back();
      there.flow = flow.id;
      there.point = entry.point;
      there.packets = entry.packets;
      there.otherwise = rows_beside(found->second.second, entry.marks.rows());
      if (!any_left || !flow.any_time) continue;
      // Markings that the flow itself had before its eviction are no longer known.
      std::erase_if(there.otherwise, [&](const MarkRow& row) {
        return row.first_time_ns != capture::no_time && row.first_time_ns < flow.first_time_ns - before_ns;
      });
    }
    std::sort(all.begin(), all.end(), [](const FlowAtPoint& a, const FlowAtPoint& b) {
      return std::pair(a.flow, a.point) < std::pair(b.flow, b.point);
    });
  }
  entries_.clear();
  places_.clear();
  images_.clear();
  return all;
}

}  // namespace roce::analyze
