// SPDX-License-Identifier: Apache-2.0
#include "analyze/marking_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analyze/flow_columns.hpp"
#include "analyze/flow_table.hpp"

namespace roce::analyze {
namespace {

using Directions = MarkingMatrix::Directions;

auto order_of(const Marking& m) noexcept {
  return std::tie(m.traffic_class, m.src, m.dst, m.dscp, m.pcp, m.ecn);
}

/// The row, with nothing counted.
Marking row_of(const Flow& flow, const MarkRow& row, Directions directions) {
  Marking marking;
  marking.traffic_class = row.traffic_class;
  if (directions != Directions::all) marking.src = flow.key.src;
  if (directions == Directions::pairs) marking.dst = flow.key.dst;
  marking.dscp = row.marks.dscp;
  marking.ecn = row.marks.ecn;
  marking.pcp = row.marks.pcp;
  return marking;
}

struct ByOrder {
  bool operator()(const Marking& a, const Marking& b) const noexcept { return order_of(a) < order_of(b); }
};

Directions directions_of(const std::vector<Flow>& flows) {
  std::set<std::pair<dissect::IpAddress, dissect::IpAddress>> pairs;
  std::set<dissect::IpAddress> senders;
  for (const Flow& flow : flows) {
    if (pairs.size() <= MarkingMatrix::pair_limit) pairs.emplace(flow.key.src, flow.key.dst);
    senders.insert(flow.key.src);
    if (senders.size() > MarkingMatrix::sender_limit) return Directions::all;
  }
  return pairs.size() <= MarkingMatrix::pair_limit ? Directions::pairs : Directions::senders;
}

/// False where the rows would be too many.
bool count(const std::vector<Flow>& flows, MarkingMatrix& matrix) {
  std::map<Marking, Marking, ByOrder> rows;
  matrix.others = 0;
  for (const Flow& flow : flows) {
    std::uint64_t counted = 0;
    std::vector<Marking*> of_flow;  // VLANs, TTLs and P_Keys are no rows of the matrix
    for (const MarkRow& row : flow.marks()) {
      Marking key = row_of(flow, row, matrix.directions);
      Marking& marking = rows.try_emplace(key, key).first->second;
      marking.packets += row.packets;
      counted += row.packets;
      if (marking.first_packet == 0 || row.first_packet < marking.first_packet)
        marking.first_packet = row.first_packet;
      if (std::find(of_flow.begin(), of_flow.end(), &marking) != of_flow.end()) continue;
      of_flow.push_back(&marking);
      ++marking.flows;
    }
    matrix.others += flow.packets - std::min(flow.packets, counted);
    if (rows.size() > MarkingMatrix::row_limit && matrix.directions != Directions::all) return false;
  }
  matrix.rows.reserve(rows.size());
  for (auto& [key, marking] : rows) matrix.rows.push_back(std::move(marking));
  return true;
}

}  // namespace

MarkingMatrix MarkingMatrix::of(const std::vector<Flow>& flows) {
  MarkingMatrix matrix;
  matrix.directions = directions_of(flows);
  while (!count(flows, matrix)) {
    matrix.directions = matrix.directions == Directions::pairs ? Directions::senders : Directions::all;
  }
  return matrix;
}

Marking* MarkingMatrix::find(const Flow& flow, const MarkRow& row) noexcept {
  const Marking key = row_of(flow, row, directions);
  const auto found = std::lower_bound(rows.begin(), rows.end(), key, ByOrder{});
  return found != rows.end() && order_of(*found) == order_of(key) ? &*found : nullptr;
}

std::string direction_text(const Marking& m) {
  return fmt::format("{} -> {}", m.src ? address_of(*m.src) : "any", m.dst ? address_of(*m.dst) : "any");
}

std::string marks_text(const Marking& m) {
  std::string text = fmt::format("DSCP {}, {}", m.dscp, ecn_text(m.ecn));
  if (m.pcp) text += fmt::format(", PCP {}", *m.pcp);
  return text;
}

std::string_view ecn_key(std::uint8_t ecn) noexcept {
  constexpr std::array<std::string_view, 4> names{"not_ect", "ect1", "ect0", "ce"};
  return names[ecn & 3U];
}

std::string_view ecn_text(std::uint8_t ecn) noexcept {
  constexpr std::array<std::string_view, 4> names{"Not-ECT", "ECT(1)", "ECT(0)", "CE"};
  return names[ecn & 3U];
}

}  // namespace roce::analyze
