// SPDX-License-Identifier: Apache-2.0
#include "analyze/pause_facts.hpp"

#include <algorithm>

#include "analyze/address_text.hpp"
#include "analyze/units.hpp"

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
  return is_speed_known(port) ? ns_to_quanta(lane.paused_ns, port.speed_bps) : lane.asked_quanta;
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

/// DSCPs whose priority somebody tells.
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

PriorityUse priority_use(const Snapshot& snapshot, const PriorityMap& map) {
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
      // The first ones in the order of the capture, of however many flows.
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

Lossless lossless_priorities(const Snapshot& snapshot) noexcept {
  Lossless lossless;
  unsigned paused = 0;
  unsigned announced = 0;
  for (const PausePort& port : snapshot.pauses.ports) {
    for (unsigned p = 0; p < PausePort::priorities; ++p) {
      if (port.lanes[p] && port.lanes[p]->xoff.count != 0) paused |= 1U << p;
    }
    const std::unique_ptr<PauseLane>& global = port.lanes[PausePort::global];
    lossless.global = lossless.global || (global && global->xoff.count != 0);
  }
  for (const DcbxPort& port : snapshot.dcbx.ports) {
    if (port.settings().pfc && port.settings().pfc->in_use) announced |= port.settings().pfc->enabled;
  }
  lossless.paused = static_cast<std::uint8_t>(paused);
  lossless.announced = static_cast<std::uint8_t>(announced);
  lossless.any_pfc = announced != 0;
  return lossless;
}

}  // namespace roce::analyze
