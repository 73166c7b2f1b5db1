// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyze/packet_record.hpp"
#include "analyze/small_counts.hpp"
#include "analyze/verdict.hpp"
#include "dissect/opcode.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

/// What the sequence analysis counted of one flow's packets; kept only where something is not 0.
struct SequenceCounts {
  std::array<std::uint64_t, cause_count> retransmitted{};  ///< packets by Cause
  std::uint64_t retransmitted_bytes = 0;                   ///< on the wire
  std::uint64_t spurious = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t duplicate_captures = 0;  ///< not in any other count of the flow
  std::uint64_t duplicate_network = 0;
  std::array<std::uint64_t, lost_count> lost{};  ///< transmissions by Lost
  std::uint64_t wasted_packets = 0;              ///< delivered, thrown away behind a loss and sent again
  std::uint64_t wasted_bytes = 0;
  std::uint64_t gaps = 0;  ///< PSNs that were not captured in their place

  [[nodiscard]] std::uint64_t retransmitted_packets() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t packets : retransmitted) sum += packets;
    return sum;
  }
};

/// Counters of one flow. Bytes are of the wire, times in nanoseconds since the epoch.
struct Flow {
  std::uint64_t id = 0;  ///< from 0, in order of first appearance
  bool in_use = false;   ///< of the table only
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

  std::optional<std::uint32_t> connection;  ///< Connection::id
  std::uint64_t source_mac = 0;             ///< of its first packet; 0 = none
  std::uint64_t clear_df = 0;               ///< IPv4 packets that routers may fragment

  std::array<std::uint64_t, 4> ecn{};  ///< by dissect::Ecn
  SmallCounts<std::uint8_t, 2, 64> dscp;
  SmallCounts<std::uint8_t, 1, 8> pcp;
  SmallCounts<std::uint8_t, 4, 256> opcodes;
  SmallCounts<std::uint16_t, 2, 64> udp_sports;

  /// All 0 where nothing happened.
  [[nodiscard]] const SequenceCounts& sequence() const noexcept {
    static const SequenceCounts nothing;
    return sequence_ ? *sequence_ : nothing;
  }
  /// To be changed.
  [[nodiscard]] SequenceCounts& sequence_to_change() {
    if (!sequence_) sequence_ = std::make_unique<SequenceCounts>();
    return *sequence_;
  }

 private:
  std::unique_ptr<SequenceCounts> sequence_;
};

/// Counts one packet of the flow.
void count_packet(Flow& flow, const PacketRecord& record);

/// Flows by key, bounded. Not thread-safe.
class FlowTable {
 public:
  static constexpr std::size_t default_limit = 256 * 1024;

  explicit FlowTable(std::size_t limit = default_limit);
  FlowTable(FlowTable&&) noexcept;
  FlowTable& operator=(FlowTable&&) noexcept;
  ~FlowTable();

  static constexpr std::uint32_t none = 0xffffffff;

  /// Place of a valid record's flow, a new one if its key is new. Places stay until evict().
  std::uint32_t place_of(const PacketRecord& record);
  /// Place of the flow that has the key now, or none.
  [[nodiscard]] std::uint32_t find(const FlowKey& key) const;
  [[nodiscard]] std::uint32_t find(const PacketRecord& record) const;
  [[nodiscard]] Flow& at(std::uint32_t place) noexcept;
  [[nodiscard]] const Flow& at(std::uint32_t place) const noexcept;
  /// The next packet with its key begins a new flow; this one stays listed.
  void retire(std::uint32_t place);
  [[nodiscard]] bool full() const noexcept;
  /// When a place was used last, in any rising measure; nullopt: it must stay.
  using LastUse = std::function<std::optional<std::uint64_t>(std::uint32_t place)>;
  /// Frees the sixteenth of the places that was idle longest. Calls `leaving` for each before.
  void evict(const LastUse& last_use, const std::function<void(std::uint32_t)>& leaving);
  /// Frees one place; its flow counts as evicted.
  void free(std::uint32_t place);
  /// Packets of flows in the table that were never counted in it are lost with an eviction.
  void count_evicted(std::uint64_t packets) noexcept;

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
