// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/pause_facts.hpp"

#include <algorithm>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"

namespace roce::analyze {

std::string mac_text(std::uint64_t mac) {
  std::array<std::uint8_t, 6> bytes{};
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(mac >> (40U - 8U * i));
  std::string text;
  append_mac(text, bytes.data());
  return text;
}

bool is_speed_known(const PausePort& port) noexcept {
  return port.speed_known && port.speed_bps != 0;
}

std::uint64_t paused_quanta(const PausePort& port, const PauseLane& lane) noexcept {
  if (!is_speed_known(port)) return lane.asked_quanta;
  return lane.run_out_quanta + ns_to_quanta(lane.paused_ns - lane.run_out_ns, port.speed_bps);
}

std::optional<double> duty_of(const Snapshot& snapshot, const PausePort& port,
                              const PauseLane& lane) noexcept {
  if (!is_speed_known(port) || !snapshot.totals.any_time) return std::nullopt;
  const std::int64_t all = span_ns(snapshot.totals.first_time_ns, snapshot.totals.last_time_ns);
  if (all == 0) return std::nullopt;
  return static_cast<double>(lane.paused_ns) / static_cast<double>(all);
}

std::uint8_t PriorityUse::used() const noexcept {
  unsigned bits = 0;
  for (unsigned p = 0; p < rows.size(); ++p) {
    for (const Row& row : rows[p]) bits |= row.packets != 0 ? 1U << p : 0U;
  }
  return static_cast<std::uint8_t>(bits);
}

std::uint8_t PriorityUse::used_by_data() const noexcept {
  unsigned bits = 0;
  for (unsigned p = 0; p < rows.size(); ++p) {
    for (std::size_t c = 0; c < traffic_class_count; ++c) {
      if (fills_links(static_cast<TrafficClass>(c)) && rows[p][c].packets != 0) bits |= 1U << p;
    }
  }
  return static_cast<std::uint8_t>(bits);
}

std::uint8_t PriorityUse::guessed_for_data() const noexcept {
  unsigned bits = 0;
  for (unsigned p = 0; p < rows.size(); ++p) {
    std::uint64_t packets = 0;
    std::uint64_t guessed = 0;
    for (std::size_t c = 0; c < traffic_class_count; ++c) {
      if (!fills_links(static_cast<TrafficClass>(c))) continue;
      packets += rows[p][c].packets;
      guessed += rows[p][c].guessed;
    }
    if (packets != 0 && guessed == packets) bits |= 1U << p;
  }
  return static_cast<std::uint8_t>(bits);
}

namespace {

/// DSCPs whose priority is known.
std::array<bool, 64> told_dscps(const Snapshot& snapshot) {
  std::array<bool, 64> told{};
  told[0] = true;
  if (snapshot.policy) told.fill(true);
  for (const DcbxPort& port : snapshot.dcbx.ports) {
    for (const DcbxApplication& application : port.settings().applications) {
      if (application.selector == DcbxApplication::dscp && application.protocol < told.size())
        told[application.protocol] = true;
    }
  }
  return told;
}

}  // namespace

PriorityUse priority_use(const Snapshot& snapshot, const PriorityMap& map, PacketVersion version) {
  const std::array<bool, 64> told = told_dscps(snapshot);
  constexpr std::size_t named = 8;
  struct First {
    std::uint64_t packet;
    std::int64_t time_ns;
  };
  PriorityUse use;
  std::array<std::array<std::vector<First>, traffic_class_count>, 8> firsts;
  for (const Flow& flow : snapshot.flows) {
    const bool v2 = flow.key.transport == dissect::Transport::roce_v2_ipv4 ||
                    flow.key.transport == dissect::Transport::roce_v2_ipv6;
    if (version != PacketVersion::any && v2 != (version == PacketVersion::v2)) continue;
    if (flow.service == dissect::Service::mrc) continue;  // made for classes that lose
    for (const MarkRow& row : flow.marks()) {
      // No switch looks into the GRH of RoCE v1.
      const auto dscp = static_cast<std::uint8_t>(v2 ? row.marks.dscp & 63U : 0U);
      const std::uint8_t priority = map.priority_of(dscp, row.marks.pcp);
      const auto c = static_cast<std::size_t>(row.traffic_class);
      PriorityUse::Row& to = use.rows[priority][c];
      to.packets += row.packets;
      if (!row.marks.pcp && !told[dscp]) to.guessed += row.packets;
      if (flow.connection && to.connections.size() < named &&
          std::find(to.connections.begin(), to.connections.end(), *flow.connection) == to.connections.end()) {
        to.connections.push_back(*flow.connection);
      }
      // The first ones in capture order, over all flows.
      std::vector<First>& first = firsts[priority][c];
      const auto at =
          std::upper_bound(first.begin(), first.end(), row.first_packet,
                           [](std::uint64_t packet, const First& f) { return packet < f.packet; });
      first.insert(at, {row.first_packet, row.first_time_ns});
      if (first.size() > named) first.pop_back();
    }
  }
  for (unsigned p = 0; p < use.rows.size(); ++p) {
    for (std::size_t c = 0; c < traffic_class_count; ++c) {
      for (const First& first : firsts[p][c]) use.rows[p][c].first.add(first.packet, first.time_ns);
    }
  }
  return use;
}

PriorityMap announced_map(const Snapshot& snapshot) {
  PriorityMap map = snapshot.priorities;
  if (snapshot.policy) return map;
  for (const DcbxPort& port : snapshot.dcbx.ports) map = with_announced_dscps(map, port.settings());
  return map;
}

namespace {

/// The PFC priorities in effect at each port, as far as announcements show.
std::vector<std::uint8_t> pfc_in_force(const DcbxTable& table) {
  std::vector<std::uint8_t> in_force;
  for (const DcbxPort& port : table.ports) {
    const std::optional<DcbxPfc>& pfc = port.settings().pfc;
    in_force.push_back(pfc && pfc->in_use ? pfc->enabled : std::uint8_t{0});
  }
  // A willing end that heard the peer and goes on announcing its own settings has not adopted the peer's.
  const auto heard = [](const DcbxPort& port, const DcbxPort& other) {
    return port.last_packet > std::max(other.frames.frames[0], other.last_change_packet);
  };
  for (const DcbxLink& link : links_of(table)) {
    const DcbxPort& a = table.ports[link.a];
    const DcbxPort& b = table.ports[link.b];
    const bool ieee = a.ieee.any() && b.ieee.any();
    const std::optional<DcbxPfc>& x = ieee ? a.ieee.pfc : a.cee.pfc;
    const std::optional<DcbxPfc>& y = ieee ? b.ieee.pfc : b.cee.pfc;
    if (!x || !y || !x->in_use || !y->in_use) continue;
    const DcbxWinner winner = pfc_winner(*x, a.mac, *y, b.mac);
    if (winner == DcbxWinner::a && !heard(b, a)) in_force[link.b] = in_force[link.a] = x->enabled;
    if (winner == DcbxWinner::b && !heard(a, b)) in_force[link.a] = in_force[link.b] = y->enabled;
  }
  return in_force;
}

}  // namespace

Lossless lossless_priorities(const Snapshot& snapshot, std::optional<std::uint16_t> point) {
  Lossless lossless;
  unsigned paused = 0;
  unsigned announced = 0;
  for (const PausePort& port : snapshot.pauses.ports) {
    if (point && port.point != *point) continue;
    for (unsigned p = 0; p < PausePort::priorities; ++p) {
      if (port.lanes[p] && port.lanes[p]->xoff.count != 0) paused |= 1U << p;
    }
    const std::unique_ptr<PauseLane>& global = port.lanes[PausePort::global];
    lossless.global = lossless.global || (global && global->xoff.count != 0);
  }
  const std::vector<std::uint8_t> in_force = pfc_in_force(snapshot.dcbx);
  for (std::size_t i = 0; i < in_force.size(); ++i) {
    if (!point || snapshot.dcbx.ports[i].point == *point) announced |= in_force[i];
  }
  lossless.paused = static_cast<std::uint8_t>(paused);
  lossless.announced = static_cast<std::uint8_t>(announced);
  lossless.any_pfc = announced != 0;
  return lossless;
}

bool is_lossless_alike_everywhere(const Snapshot& snapshot) {
  const std::uint8_t all = lossless_priorities(snapshot).all();
  std::vector<std::uint16_t> points;
  for (const capture::InterfaceInfo& interface : snapshot.interfaces) points.push_back(interface.point);
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points.size() < 2 || std::all_of(points.begin(), points.end(), [&](std::uint16_t point) {
           return lossless_priorities(snapshot, point).all() == all;
         });
}

}  // namespace roce::analyze
