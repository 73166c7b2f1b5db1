// SPDX-License-Identifier: Apache-2.0
// Snapshots of packets with given marks, for the rules on marks, ECN and CNPs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tests/analyze/findings/findings_support.hpp"

namespace roce::analyze {

inline constexpr std::uint8_t write_only = 0x0a, ud_send = 0x64, uc_send = 0x24, acknowledge = 0x11,
                              cnp = 0x81;
inline constexpr std::uint8_t not_ect = 0, ect0 = 2, ce = 3;

/// What a packet looks like.
struct Look {
  std::uint8_t opcode = write_only;
  std::uint8_t dscp = 0;
  std::uint8_t ecn = not_ect;
  std::optional<std::uint8_t> pcp = std::nullopt;
  std::uint16_t port = 50'000;
  std::uint16_t vlan = 100;  ///< where there is a priority
};

/// Snapshots whose flows are counted packet by packet.
struct MarkMaker : SnapshotMaker {
  std::uint64_t number = 0;

  MarkMaker() { snapshot.icrc_checked = true; }
  /// A connection whose flows have no packets yet.
  Connection& join(unsigned a, unsigned b) {
    Connection& connection = connect(a, b);
    for (unsigned side = 0; side < 2; ++side) {
      Flow& flow = of(connection, side);
      flow.packets = flow.bytes = 0;
      flow.any_time = false;
      connection.packets[side] = 0;
    }
    return connection;
  }
  Flow& of(const Connection& connection, unsigned side) { return snapshot.flows[*connection.flow[side]]; }
  void send(const Connection& connection, unsigned side, const Look& look, unsigned times = 1) {
    send(of(connection, side), look, times);
    snapshot.connections[connection.id].packets[side] += times;
  }
  void send(Flow& flow, const Look& look, unsigned times = 1) {
    PacketRecord r;
    r.key = flow.key;
    r.flags = PacketRecord::valid | PacketRecord::selected | PacketRecord::has_ports;
    r.opcode = look.opcode;
    r.traffic_class = static_cast<std::uint8_t>(look.dscp << 2U | look.ecn);
    r.udp_source = look.port;
    r.ttl = 64;
    r.wire = 200;
    r.payload = look.opcode == write_only ? 100 : 0;
    if (look.pcp) {
      r.flags |= PacketRecord::tagged;
      r.tag = static_cast<std::uint16_t>(*look.pcp << 13U | look.vlan);
    }
    for (unsigned i = 0; i < times; ++i) {
      r.time_ns = static_cast<std::int64_t>(++number) * 1000;
      flow.count(r, number);
    }
    flow.settle();
  }
  [[nodiscard]] std::vector<Finding> look(std::string_view id) {
    snapshot.markings = MarkingMatrix::of(snapshot.flows);
    Congestion& all = snapshot.congestion;
    all.cnp_packets = all.ce_packets = all.ect_packets = 0;
    for (const Flow& flow : snapshot.flows) {
      all.cnp_packets += flow.opcodes.of(cnp);
      all.ce_packets += flow.ecn[ce];
      all.ect_packets += flow.ecn[1] + flow.ecn[ect0] + flow.ecn[ce];
    }
    return run(id);
  }
};

}  // namespace roce::analyze
