// SPDX-License-Identifier: Apache-2.0
#include "analyze/flow/marking_matrix.hpp"

#include <fmt/format.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>

#include "analyze/base/address_text.hpp"
#include "analyze/flow/flow.hpp"

namespace roce::analyze {
namespace {

using Directions = MarkingMatrix::Directions;

auto order_of(const Marking& m) noexcept {
  return std::tie(m.traffic_class, m.src, m.dst, m.dscp, m.pcp, m.ecn);
}

/// A row for these packets, without counts.
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

/// Numbers directions in the order of first appearance. There may be a hundred thousand flows.
class Numbers {
 public:
  std::uint32_t of(const Flow& flow, Directions directions) {
    FlowKey key;
    if (directions != Directions::all) key.src = flow.key.src;
    if (directions == Directions::pairs) key.dst = flow.key.dst;
    if (!known_.empty() && last_ == key) return last_number_;  // often equal for consecutive flows
    last_ = key;
    last_number_ = known_.try_emplace(key, static_cast<std::uint32_t>(known_.size())).first->second;
    return last_number_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return known_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const FlowKey& key) const noexcept { return key.hash(); }
  };
  tsl::robin_map<FlowKey, std::uint32_t, Hash> known_;
  FlowKey last_;
  std::uint32_t last_number_ = 0;
};

Directions directions_of(const std::vector<Flow>& flows) {
  Numbers pairs, senders;
  for (const Flow& flow : flows) {
    if (pairs.size() <= MarkingMatrix::pair_limit) pairs.of(flow, Directions::pairs);
    senders.of(flow, Directions::senders);
    if (senders.size() > MarkingMatrix::sender_limit) return Directions::all;
  }
  return pairs.size() <= MarkingMatrix::pair_limit ? Directions::pairs : Directions::senders;
}

/// Key of a row within one direction.
std::uint32_t cell_of(const MarkRow& row) noexcept {
  const std::uint32_t tag = row.marks.pcp ? 1U + *row.marks.pcp : 0U;
  return static_cast<std::uint32_t>(row.traffic_class) << 16U | tag << 8U |
         static_cast<std::uint32_t>(row.marks.dscp) << 2U | row.marks.ecn;
}

/// Without mixing, a number would be its own hash, and the same cell of all directions would collide.
struct Mixed {
  std::size_t operator()(std::uint64_t key) const noexcept {
    key *= 0x9e3779b97f4a7c15U;
    return key ^ key >> 32U;
  }
};

/// False if there would be too many rows.
bool count(const std::vector<Flow>& flows, MarkingMatrix& matrix) {
  Numbers directions;
  tsl::robin_map<std::uint64_t, std::uint32_t, Mixed> places;
  matrix.rows.clear();
  matrix.others = 0;
  std::vector<std::uint32_t> of_flow;
  for (const Flow& flow : flows) {
    const std::uint64_t direction = directions.of(flow, matrix.directions);
    std::uint64_t counted = 0;
    of_flow.clear();  // VLANs, TTLs and P_Keys do not make rows of the matrix
    for (const MarkRow& row : flow.marks()) {
      const std::uint32_t next = static_cast<std::uint32_t>(matrix.rows.size());
      const std::uint32_t place = places.try_emplace(direction << 32U | cell_of(row), next).first->second;
      if (place == next) matrix.rows.push_back(row_of(flow, row, matrix.directions));
      Marking& marking = matrix.rows[place];
      marking.packets += row.packets;
      counted += row.packets;
      if (marking.first_packet == 0 || row.first_packet < marking.first_packet)
        marking.first_packet = row.first_packet;
      if (std::find(of_flow.begin(), of_flow.end(), place) != of_flow.end()) continue;
      of_flow.push_back(place);
      ++marking.flows;
    }
    counted += flow.sequence().apart();
    matrix.others += flow.packets - std::min(flow.packets, counted);
    if (matrix.rows.size() > MarkingMatrix::row_limit && matrix.directions != Directions::all) return false;
  }
  std::sort(matrix.rows.begin(), matrix.rows.end(), ByOrder{});
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

namespace {

template <class Rows>
auto* find_in(Rows& rows, const Marking& key) noexcept {
  const auto found = std::lower_bound(rows.begin(), rows.end(), key, ByOrder{});
  return found != rows.end() && order_of(*found) == order_of(key) ? &*found : nullptr;
}

}  // namespace

Marking* MarkingMatrix::find(const Flow& flow, const MarkRow& row) noexcept {
  return find_in(rows, row_of(flow, row, directions));
}

const Marking* MarkingMatrix::find(const Flow& flow, const MarkRow& row) const noexcept {
  return find_in(rows, row_of(flow, row, directions));
}

std::string direction_text(const Marking& m) {
  return fmt::format("{} -> {}", m.src ? address_text(*m.src) : "any", m.dst ? address_text(*m.dst) : "any");
}

std::string marks_text(const Marking& m) {
  std::string text = fmt::format("DSCP {}, {}", m.dscp, ecn_text(m.ecn));
  if (m.pcp) text += fmt::format(", PCP {}", *m.pcp);
  return text;
}

}  // namespace roce::analyze
