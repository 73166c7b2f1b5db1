// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyze/base/deep_ptr.hpp"
#include "analyze/base/small_counts.hpp"
#include "analyze/flow/mark_counts.hpp"
#include "analyze/flow/marking.hpp"
#include "analyze/flow/path_shares.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/record/outer_marks.hpp"
#include "analyze/record/packet_record.hpp"
#include "dissect/opcode.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

/// Default for the number of flows that are followed at a time.
inline constexpr std::size_t default_flow_limit = 256 * 1024;

/// Counters of the sequence analysis for one flow; allocated only if one is not 0.
struct SequenceCounts {
  std::array<std::uint64_t, cause_count> retransmitted{};  ///< packets by Cause
  std::uint64_t retransmitted_bytes = 0;                   ///< on the wire
  std::uint64_t spurious = 0;
  std::uint64_t out_of_order = 0;
  std::uint64_t duplicate_captures = 0;  ///< not in any other count of the flow
  std::uint64_t duplicate_network = 0;
  LossCounts lost{};                 ///< transmissions
  std::uint64_t wasted_packets = 0;  ///< delivered out of sequence, discarded and retransmitted
  std::uint64_t wasted_bytes = 0;
  std::uint64_t gaps = 0;      ///< PSNs that were not captured in sequence
  std::uint64_t left_out = 0;  ///< packets rejected by the filter; in no other count
  // Of the flow's packets: in none of its counts by value, no row of marks().
  std::uint64_t damaged = 0;
  std::uint64_t trimmed = 0;  ///< by a switch, which also marked them anew
  /// Number of the first packet that was lost so, of flows without connections (UD); 0: none.
  std::uint64_t first_trimmed = 0;
  [[nodiscard]] std::uint64_t apart() const noexcept { return damaged + trimmed; }

  [[nodiscard]] std::uint64_t retransmitted_packets() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t packets : retransmitted) sum += packets;
    return sum;
  }
  /// Transmissions that are missing, but for those that may only not have been captured.
  [[nodiscard]] std::uint64_t lost_packets() const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t packets : lost) sum += packets;
    return sum - lost[static_cast<std::size_t>(Lost::undecided)];
  }
  void add(const SequenceCounts& other) noexcept;
};

/// Counters of one flow. Bytes are on the wire, times in nanoseconds since the epoch. Nearly all packets of a
/// flow have the same markings and opcodes, so the counts by value are updated only when those change: call
/// settle() before reading messages, clear_df, ecn, dscp, pcp, opcodes, udp_sports and marks().
struct alignas(64) Flow {
  // Written for every packet; two cache lines.
  FlowKey key;
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;
  std::uint64_t payload_bytes = 0;

  std::int64_t first_time_ns = 0;
  std::int64_t last_time_ns = 0;
  bool any_time = false;  ///< false: no packet had a timestamp, the two above are undefined
  bool service_known = false;
  dissect::Service service = dissect::Service::reserved;  ///< of its first packet that is not a CNP
  dissect::Ulp upper = dissect::Ulp::none;  ///< by the CM exchange, else by the headers of its payloads
  std::uint32_t last_psn = 0;
  std::uint32_t first_psn = 0;
  bool in_use = false;  ///< for FlowTable only

 private:
  bool any_look_ = false;  ///< look_word_ and look_flags_ are of a packet

 public:
  std::optional<std::uint16_t> vlan;  ///< of the first tagged packet

 private:
  std::array<std::uint8_t, 2> opcode_{};  ///< the last two
  std::uint8_t classes_ = 0;              ///< bits of TrafficClass seen with the current look
  std::uint8_t look_flags_ = 0;           ///< of look_word_
  std::uint64_t look_word_ = 0;
  std::array<std::uint32_t, 2> opcode_packets_{};  ///< packets of opcode_, not in `opcodes` yet
  std::uint32_t look_from_ = 0;                    ///< low half of `packets` when the current look began

 public:
  std::uint64_t icrc_mismatches = 0;

  std::uint64_t id = 0;                     ///< from 0, in order of first appearance
  std::uint64_t messages = 0;               ///< Only and Last packets, except ACKs and CNPs
  std::uint64_t source_mac = 0;             ///< of its first packet; 0 = none
  std::uint64_t clear_df = 0;               ///< IPv4 packets with DF = 0
  std::optional<std::uint32_t> connection;  ///< Connection::id

  std::array<std::uint64_t, 4> ecn{};  ///< by dissect::Ecn
  SmallCounts<std::uint8_t, 3, 256> opcodes;
  SmallCounts<std::uint8_t, 1, 64> dscp;
  SmallCounts<std::uint8_t, 1, 8> pcp;
  SmallCounts<std::uint16_t, 1, 64> udp_sports;

  static constexpr std::size_t hot_bytes = 128;  // `icrc_mismatches` begins there

  /// Counts frame `number`. True if its look differs from the packets before and is now the current one.
  bool count(const PacketRecord& r, std::uint64_t number) {
    const bool on_path = is_on_path(r);
    const bool differs = r.look() != look() || !any_look_ || !on_path || r.reserved != beside().reserved;
    if (differs) [[unlikely]] {
      if (stands_apart(r, on_path)) {
        count_apart(r, number);
        return false;
      }
      change_look(r, number);
    }
    count_alike(r, number);
    return differs;
  }
  /// Counts a packet of which only its size and time are the sender's for certain: it is in no count by
  /// value.
  void count_damaged(const PacketBrief& r) {
    count_size(r);
    if (r.trimmed()) payload_bytes -= r.payload;  // it was cut off
    ++(r.trimmed() ? sequence_to_change().trimmed : sequence_to_change().damaged);
    ++look_from_;
  }
  /// Counts a packet with the current look.
  void count_alike(const PacketBrief& r, std::uint64_t number) {
    constexpr std::uint32_t often_enough = 1U << 30U;  // for the counts since the last change
    if (packets % often_enough == 0) [[unlikely]]
      settle();
    // Two opcodes without a branch, because requests and acknowledgements alternate in a flow.
    const std::size_t i = r.opcode == opcode_[0] ? 0 : 1;
    if (r.opcode != opcode_[i]) [[unlikely]]
      change_opcode(r, number);
    ++opcode_packets_[i];
    count_sums(r);
  }
  /// Counts a packet that came late, whatever its path.
  void note_late(const PacketRecord& r);
  /// Updates the counts by value.
  void settle() {
    settle_look();
    settle_opcodes();
    settle_tally();
  }

  /// Markings of its packets by class, in the order of first packets. At most MarkCounts::limit rows; packets
  /// with further markings are in no row.
  [[nodiscard]] std::vector<MarkRow> marks() const { return marks_.rows(); }
  /// Whether a packet has the DSCP, VLAN and priority of the first packet of its class in this flow.
  [[nodiscard]] bool marked_as_first(const PacketRecord& r) const noexcept {
    return marks_.as_first(MarkCounts::key_of(r.look(), traffic_class(r.opcode, key.dst_qp)));
  }
  /// Frame number of the first counted packet; 0 if there is none.
  [[nodiscard]] std::uint64_t first_packet() const noexcept { return marks_.first_packet(); }

  /// Its packets by path, settled; CNPs, which have ports of their own, are with the packets around them. Not
  /// empty.
  [[nodiscard]] std::vector<PathShare> path_shares() const;
  /// Packets with reserved bits of the BTH that are set.
  [[nodiscard]] const ReservedBits& reserved_bits() const noexcept {
    static const ReservedBits nothing;
    return spread() != nullptr ? spread()->reserved : nothing;
  }

  /// All 0 if nothing happened.
  [[nodiscard]] const SequenceCounts& sequence() const noexcept {
    static const SequenceCounts nothing;
    return rare_ ? rare_->sequence : nothing;
  }
  /// The same counters for writing; allocates them.
  [[nodiscard]] SequenceCounts& sequence_to_change() { return rare().sequence; }

  /// When the capture has been judged.
  void read_losses_as(LossReading reading);

  /// Its packets that were captured in a tunnel, copies included, by the marks outside and inside; set at the
  /// end of the analysis. Empty if none were.
  [[nodiscard]] std::span<const OuterRow> outer() const noexcept {
    return rare_ ? std::span<const OuterRow>(rare_->outer) : std::span<const OuterRow>();
  }
  [[nodiscard]] std::vector<OuterRow>& outer_to_change() { return rare().outer; }

 private:
  /// Of the packets since the look changed last, and not part of it.
  struct Beside {
    std::uint64_t source_mac = 0;
    std::uint32_t flow_label = 0;
    std::uint16_t reserved = 0;  ///< PacketRecord::reserved
    [[nodiscard]] bool operator==(const Beside&) const noexcept = default;
  };
  /// What only those need that change their path, have flow labels or use reserved bits.
  struct Spread {
    Beside now;
    PathShares paths;
    ReservedBits reserved;
  };
  [[nodiscard]] PacketRecord::Look look() const noexcept { return {look_word_, look_flags_}; }
  [[nodiscard]] Beside beside() const noexcept {
    return spread() != nullptr ? spread()->now : Beside{source_mac, 0, 0};
  }
  [[nodiscard]] bool is_on_path(const PacketRecord& r) const noexcept {
    const Beside now = beside();
    return r.udp_source == static_cast<std::uint16_t>(look_word_) && r.source_mac == now.source_mac &&
           r.flow_label() == now.flow_label;
  }
  /// Of the current look.
  [[nodiscard]] FlowPath path() const noexcept {
    const Beside now = beside();
    return {now.source_mac, now.flow_label, static_cast<std::uint16_t>(look_word_),
            PacketRecord::of_look(look()).has(PacketRecord::has_ports)};
  }
  [[nodiscard]] PathShare counted() const noexcept;
  /// The counts that do not depend on the look.
  void count_sums(const PacketBrief& r) {
    if (!service_known) [[unlikely]]
      learn_service(r);
    if (r.upper != 0 && upper == dissect::Ulp::none) upper = static_cast<dissect::Ulp>(r.upper);
    last_psn = r.psn;
    count_size(r);
  }
  void count_size(const PacketBrief& r) {
    ++packets;
    bytes += r.wire;
    payload_bytes += r.payload;
    if (r.time_ns != capture::no_time) {
      if (!any_time) first_time_ns = last_time_ns = r.time_ns;
      any_time = true;
      first_time_ns = std::min(first_time_ns, r.time_ns);
      last_time_ns = std::max(last_time_ns, r.time_ns);
    }
    if (r.icrc_wrong()) ++icrc_mismatches;
  }

  /// A CE-marked packet or a CNP: counted without changing the current look, since packets with the former
  /// look follow.
  [[nodiscard]] bool stands_apart(const PacketRecord& r, bool on_path) const noexcept {
    const bool ce = (r.traffic_class & 3U) == static_cast<unsigned>(dissect::Ecn::ce);
    return any_look_ && ((ce && on_path) || r.opcode == dissect::opcode_cnp);
  }
  void count_apart(const PacketRecord& r, std::uint64_t number);
  void change_look(const PacketRecord& r, std::uint64_t number);
  void change_opcode(const PacketBrief& r, std::uint64_t number);
  void note_class(const PacketBrief& r, std::uint64_t number);
  void learn_service(const PacketBrief& r) noexcept;
  void settle_look();
  void settle_opcodes();
  void settle_tally();
  void add_opcodes(std::uint8_t opcode, std::uint32_t n);
  void add_look(const PacketRecord& r, std::uint32_t n);
  void add_opcode(std::uint8_t opcode, std::uint32_t n);

  /// Where opcodes alternate among more than two: packets of each of one service, by its low bits.
  struct Tally {
    static constexpr std::uint8_t of_service = 0xe0;
    static constexpr std::uint8_t none = 0xff;
    std::uint8_t service = none;
    std::array<std::uint32_t, 32> packets{};
  };
  /// What most flows do not need.
  struct Rare {
    SequenceCounts sequence;
    Tally tally;
    std::vector<OuterRow> outer;
    DeepPtr<Spread> spread;
  };
  [[nodiscard]] Rare& rare() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return *rare_;
  }

  [[nodiscard]] const Spread* spread() const noexcept { return rare_ ? rare_->spread.get() : nullptr; }
  [[nodiscard]] Spread& spread_to_change() {
    DeepPtr<Spread>& spread = rare().spread;
    if (!spread) {
      spread = std::make_unique<Spread>();
      spread->now.source_mac = source_mac;
    }
    return *spread;
  }

  MarkCounts marks_;
  DeepPtr<Rare> rare_;
};

/// Damaged packets (wrong ICRC) that belong to no flow: a flipped bit is in an address or the queue pair.
struct StrayPackets {
  dissect::IpAddress src;
  dissect::IpAddress dst;
  std::uint64_t packets = 0;
};

/// Sums over flows that are no longer listed, because they were evicted from the full table or were idle for
/// too long. Together with the listed flows they cover the whole capture.
struct Departed {
  std::uint64_t flows = 0;  ///< those with counted packets
  /// Including buffered packets of flows that waited for their other direction; they are in none of the
  /// counters below.
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< on the wire
  std::uint64_t payload_bytes = 0;
  std::uint64_t messages = 0;
  std::uint64_t icrc_mismatches = 0;
  std::array<std::uint64_t, 4> ecn{};  ///< by dissect::Ecn
  std::uint64_t cnps = 0;              ///< sent
  SequenceCounts sequence;
  std::uint64_t connections = 0;  ///< evicted with the flows
  std::uint64_t idle_flows = 0;   ///< of `flows`, those that were idle for too long

  void add(Flow& flow);
};

}  // namespace roce::analyze
