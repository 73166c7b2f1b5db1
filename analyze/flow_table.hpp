// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyze/packet_record.hpp"
#include "analyze/small_counts.hpp"
#include "dissect/opcode.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

/// Counters of one flow. Bytes are of the wire, times in nanoseconds since the epoch.
struct Flow {
  std::uint64_t id = 0;  ///< from 0, in order of first appearance
  FlowKey key;
  dissect::Service service = dissect::Service::reserved;  ///< of its first packet that is no CNP
  bool service_known = false;
  dissect::Ulp upper = dissect::Ulp::none;  ///< by the CM exchange, else by its payloads' own headers
  std::optional<std::uint16_t> vlan;        ///< of the first tagged packet

  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t messages = 0;  ///< whole ones that ended here: Only and Last packets but ACKs and CNPs
  bool any_time = false;       ///< false: no packet had a time, and the two below mean nothing
  std::int64_t first_time_ns = 0;
  std::int64_t last_time_ns = 0;
  std::uint32_t first_psn = 0;
  std::uint32_t last_psn = 0;
  std::uint64_t icrc_mismatches = 0;

  std::array<std::uint64_t, 4> ecn{};  ///< by dissect::Ecn
  SmallCounts<std::uint8_t, 2, 64> dscp;
  SmallCounts<std::uint8_t, 1, 8> pcp;
  SmallCounts<std::uint8_t, 4, 256> opcodes;
  SmallCounts<std::uint16_t, 2, 64> udp_sports;
};

/// Flows by key, bounded. Not thread-safe.
class FlowTable {
 public:
  static constexpr std::size_t default_limit = 256 * 1024;

  explicit FlowTable(std::size_t limit = default_limit);
  FlowTable(FlowTable&&) noexcept;
  FlowTable& operator=(FlowTable&&) noexcept;
  ~FlowTable();

  /// The number of a valid record's flow; a new flow gets the next one.
  std::uint64_t id_of(const PacketRecord& record);

  /// Counts one valid record if it is selected. Returns the flow's id either way.
  std::uint64_t add(const PacketRecord& record);

  /// add() for the valid ones of `records`, in order. Faster than add() one by one: the flows of some
  /// records are looked up before the first of them is touched, so their cache misses overlap.
  void add_all(std::span<const PacketRecord> records);

  /// Flows in the table with packets that count, by id.
  [[nodiscard]] std::vector<Flow> take_sorted();

  /// When the table is full, the longest idle sixteenth leaves it; these count what left.
  [[nodiscard]] std::uint64_t evicted_flows() const noexcept;
  [[nodiscard]] std::uint64_t evicted_packets() const noexcept;
  [[nodiscard]] std::size_t size() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
