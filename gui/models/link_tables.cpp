// SPDX-License-Identifier: Apache-2.0
#include "gui/models/link_tables.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "analyze/base/address_text.hpp"

namespace roce::gui {
namespace {

using analyze::Column;
using analyze::Flow;
using P = const PortSpread&;

/// A bar of ten characters, readable without colour and when copied.
std::string bar(std::uint64_t part, std::uint64_t all) {
  constexpr std::uint64_t width = 10;
  const std::uint64_t filled = all == 0 ? 0 : (part * width + all / 2) / all;
  std::string text;
  for (std::uint64_t i = 0; i < width; ++i) text += i < filled ? "█" : "░";
  return text;
}
double share(P r) {
  return r.packets == 0 ? 0 : static_cast<double>(r.busiest_packets) / static_cast<double>(r.packets);
}

constexpr Column<PortSpread> link_columns_[] = {
    {"src", "from", "source address", false, 0, nullptr, [](P r) { return r.src; }, nullptr},
    {"dst", "to", "destination address", false, 0, nullptr, [](P r) { return r.dst; }, nullptr},
    {"flows", "flows", "destination queue pairs that data is sent to", true, 0,
     [](P r) { return static_cast<double>(r.flows); }, [](P r) { return std::to_string(r.flows); }, nullptr},
    {"ports", "source ports", "distinct UDP source ports; flows with the same port take the same path", true,
     0, [](P r) { return static_cast<double>(r.ports); },
     [](P r) { return (r.more ? "at least " : "") + std::to_string(r.ports); },
     [](P r) { return std::to_string(r.ports); }},
    {"busiest", "busiest port", "the UDP source port with the most packets", true, 0,
     [](P r) { return static_cast<double>(r.busiest); }, [](P r) { return std::to_string(r.busiest); },
     nullptr},
    {"share", "its share", "share of the busiest port in the packets between these addresses", false, 0,
     share,
     [](P r) {
       const auto percent = static_cast<int>(share(r) * 100 + 0.5);
       return bar(r.busiest_packets, r.packets) + ' ' + std::to_string(percent) + " %";
     },
     [](P r) { return std::to_string(share(r)); }},
    {"packets", "packets", "packets of flows with payload", true, 0,
     [](P r) { return static_cast<double>(r.packets); }, [](P r) { return std::to_string(r.packets); },
     nullptr},
    {"zero", "from port 0", "packets with UDP source port 0, which some hashes treat as fragments", true, 0,
     [](P r) { return static_cast<double>(r.zero); },
     [](P r) { return r.zero != 0 ? std::to_string(r.zero) : std::string(); },
     [](P r) { return std::to_string(r.zero); }},
};

}  // namespace

std::string DcbxTableRows::key(std::size_t i) const {
  const analyze::DcbxPort& port = *rows_[i].port;
  return std::to_string(port.point) + ' ' + std::to_string(port.mac) + ' ' + port.chassis + ' ' + port.port +
         ' ' + std::to_string(static_cast<int>(rows_[i].version));
}

std::string PauseTable::key(std::size_t i) const {
  const analyze::PausePort& port = *rows_[i].port;
  return std::to_string(port.point) + ' ' + std::to_string(port.mac) + ' ' + std::to_string(rows_[i].lane);
}

std::optional<analyze::Severity> PauseTable::severity(std::size_t i) const {
  const analyze::PauseLane& lane = rows_[i].counts();
  if (lane.storms.count != 0) return analyze::Severity::warning;
  return lane.overrun.count != 0 ? std::optional(analyze::Severity::notice) : std::nullopt;
}

std::vector<PortSpread> port_spreads(const analyze::Snapshot& snapshot) {
  struct Pair {
    PortSpread row;
    std::map<std::uint16_t, std::uint64_t> of_port;
  };
  std::map<std::pair<dissect::IpAddress, dissect::IpAddress>, Pair> pairs;
  for (const Flow& flow : snapshot.flows) {
    const auto used = flow.udp_sports.sorted();
    // QP0 and QP1 are for management.
    if (flow.payload_bytes == 0 || flow.key.dst_qp <= 1 || used.empty()) continue;
    Pair& pair = pairs[{flow.key.src, flow.key.dst}];
    ++pair.row.flows;
    pair.row.more = pair.row.more || flow.udp_sports.others() != 0;
    pair.row.packets += flow.udp_sports.others();
    for (const auto& entry : used) {
      pair.of_port[entry.key] += entry.count;
      pair.row.packets += entry.count;
    }
  }
  std::vector<PortSpread> rows;
  for (auto& [ends, pair] : pairs) {
    PortSpread& row = pair.row;
    row.src = analyze::address_text(ends.first);
    row.dst = analyze::address_text(ends.second);
    row.ports = pair.of_port.size();
    const auto most = std::max_element(pair.of_port.begin(), pair.of_port.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    row.busiest = most->first;
    row.busiest_packets = most->second;
    if (const auto zero = pair.of_port.find(0); zero != pair.of_port.end()) row.zero = zero->second;
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const PortSpread& a, const PortSpread& b) { return a.flows > b.flows; });
  return rows;
}

std::span<const Column<PortSpread>> PortSpreadTable::columns() {
  return link_columns_;
}

}  // namespace roce::gui
