// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/outer_counts.hpp"

#include <algorithm>
#include <tuple>

namespace roce::analyze {
namespace {

void widen(OuterRow& row, const OuterRow& other) noexcept {
  row.packets += other.packets;
  row.bytes += other.bytes;
  row.first_packet = std::min(row.first_packet, other.first_packet);
  if (other.first_time_ns == capture::no_time) return;
  const bool any = row.first_time_ns != capture::no_time;
  row.first_time_ns = any ? std::min(row.first_time_ns, other.first_time_ns) : other.first_time_ns;
  row.last_time_ns = any ? std::max(row.last_time_ns, other.last_time_ns) : other.last_time_ns;
}

}  // namespace

std::size_t OuterCounts::Hash::operator()(const Row& row) const noexcept {
  return row.flow.hash() + 31U * row.outer.traffic_class + 1009U * row.inner + 65'521U * row.point;
}

bool OuterCounts::Same::operator()(const Row& a, const Row& b) const noexcept {
  return a.flow == b.flow && std::tie(a.outer, a.inner, a.point) == std::tie(b.outer, b.inner, b.point);
}

void OuterCounts::count(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& d,
                        const PacketRecord& record) {
  const std::optional<OuterMarks> outer = outer_marks(frame.data, d);
  if (!outer) return;
  Row row;
  row.flow = record.key;
  row.outer = *outer;
  row.inner = record.traffic_class;
  row.point = frame.point;
  row.packets = 1;
  row.bytes = frame.wire;
  row.first_packet = number;
  row.first_time_ns = row.last_time_ns = frame.time_ns;
  add(row);
}

void OuterCounts::merge(const OuterCounts& other) {
  for (const Row& row : other.rows_) add(row);
}

void OuterCounts::add(const Row& row) {
  const auto found = places_.find(row);
  if (found != places_.end()) {
    widen(rows_[found->second], row);
  } else if (rows_.size() < limit) {
    places_.emplace(row, static_cast<std::uint32_t>(rows_.size()));
    rows_.push_back(row);
  }
}

}  // namespace roce::analyze
