// SPDX-License-Identifier: Apache-2.0
// Two captures of one traffic, made by hand: a wire between two points with what may happen on it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "analyze/compare/compare.hpp"
#include "tests/analyze/pipeline/memory_source.hpp"
#include "tests/support/frame_builder.hpp"

namespace roce::analyze {

/// Host 10.0.0.1 behind A, 10.0.0.2 behind B, and what both captures get of their packets.
class TwoPoints {
 public:
  static constexpr std::int64_t start_ns = 1'700'000'000'000'000'000;
  static constexpr std::uint8_t write_only = 0x0a, acknowledge = 0x11;

  struct Way {
    std::int64_t delay_ns = 10'000;
    bool in_first = true;                               ///< captured at the point that it passes first
    bool in_second = true;                              ///< and at the other one
    unsigned copies = 1;                                ///< at the second
    std::function<void(support::RoceFrame&)> change{};  ///< of the frame between the points
    bool flip = false;                                  ///< a payload bit
    /// So many bytes a switch leaves of it, with DSCP 11; its IPv4 checksum stays that of the whole packet.
    std::size_t trimmed_to = 0;
    bool length_renewed = true;  ///< that of IPv4
  };

  MemorySource a, b;
  std::int64_t offset_ns = 0;  ///< of B's clock
  double drift = 0;            ///< of B's clock
  bool ipv6 = false;

  [[nodiscard]] support::RoceFrame frame(unsigned direction, std::uint32_t psn) {
    support::RoceFrame frame;
    frame.destination_mac = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(2 - direction)};
    frame.source_mac = {2, 0, 0, 0, 0, static_cast<std::uint8_t>(1 + direction)};
    const auto host = [](unsigned n) { return static_cast<std::uint8_t>(n); };
    if (ipv6) {
      support::Ipv6 network;
      network.source = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host(1 + direction)};
      network.destination = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, host(2 - direction)};
      network.traffic_class = 26 << 2 | 2;
      frame.network = network;
    } else {
      support::Ipv4 network;
      network.source = {10, 0, 0, host(1 + direction)};
      network.destination = {10, 0, 0, host(2 - direction)};
      network.tos = 26 << 2 | 2;
      network.id = next_id_++;
      frame.network = network;
    }
    frame.udp_source = 50000;
    frame.bth.dest_qp = direction == 0 ? 0x22 : 0x11;
    frame.bth.psn = psn;
    if (direction == 0) {
      frame.bth.opcode = write_only;
      frame.extended.reth(0x1000, 7, 64);
      frame.payload = payload_;
    } else {
      frame.bth.opcode = acknowledge;
      frame.extended.aeth(0x1f, psn);
    }
    return frame;
  }

  /// Sends it at `at_ns` behind the start, past both points.
  void send(unsigned direction, const support::RoceFrame& sent, std::int64_t at_ns, const Way& way) {
    add(direction, at_ns, way.in_first, support::build(sent));
    support::RoceFrame there = sent;
    if (way.change) way.change(there);
    std::vector<std::uint8_t> bytes = support::build(there);
    if (way.flip) bytes[bytes.size() - 8] ^= 0x10;
    if (way.trimmed_to != 0) trim(bytes, way);
    for (unsigned i = 0; i < way.copies; ++i)
      add(1 - direction, at_ns + way.delay_ns + 1000 * i, way.in_second, bytes);
  }
  void send(unsigned direction, std::uint32_t psn, std::int64_t at_ns) { send(direction, psn, at_ns, Way{}); }
  void send(unsigned direction, std::uint32_t psn, std::int64_t at_ns, const Way& way) {
    send(direction, frame(direction, psn), at_ns, way);
  }

  /// Requests and ACKs in turn, `count` of each, every 100 us.
  void talk(std::uint32_t count, std::int64_t from_ns = 0, std::uint32_t first_psn = 0) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::int64_t at = from_ns + std::int64_t{i} * 100'000;
      send(0, first_psn + i, at);
      send(1, first_psn + i, at + 50'000);
    }
  }

  [[nodiscard]] CompareResult result(const CompareOptions& options = {}) {
    fill();
    return compare({&a, {}}, {&b, {}}, options);
  }

  /// Puts the packets, by time, into both captures.
  void fill() {
    for (unsigned side = 0; side < 2; ++side) {
      auto& packets = packets_[side];
      std::stable_sort(packets.begin(), packets.end(),
                       [](const auto& x, const auto& y) { return x.first < y.first; });
      for (auto& [at, bytes] : packets) {
        std::int64_t time = start_ns + at;
        if (side == 1) time += offset_ns + static_cast<std::int64_t>(drift * static_cast<double>(at));
        (side == 0 ? a : b).add(std::move(bytes), time);
      }
      packets.clear();
    }
  }

 private:
  static void trim(std::vector<std::uint8_t>& bytes, const Way& way) {
    constexpr std::size_t ip = 14, tos = ip + 1, length = ip + 2;
    constexpr std::uint8_t dscp_11 = 11 << 2 | 2;
    bytes[tos] = dscp_11;
    if (way.length_renewed) {
      bytes[length] = static_cast<std::uint8_t>((way.trimmed_to - ip) >> 8U);
      bytes[length + 1] = static_cast<std::uint8_t>(way.trimmed_to - ip);
    }
    bytes.resize(way.trimmed_to);
  }
  void add(unsigned side, std::int64_t at_ns, bool captured, std::vector<std::uint8_t> bytes) {
    if (captured) packets_[side].emplace_back(at_ns, std::move(bytes));
  }

  std::vector<std::uint8_t> payload_ = std::vector<std::uint8_t>(64, 0x5a);
  std::uint16_t next_id_ = 1;
  std::vector<std::pair<std::int64_t, std::vector<std::uint8_t>>> packets_[2];
};

[[nodiscard]] inline const CompareFinding* find_finding(const CompareResult& result, std::string_view id) {
  for (const CompareFinding& finding : result.findings) {
    if (finding.id == id) return &finding;
  }
  return nullptr;
}

}  // namespace roce::analyze
