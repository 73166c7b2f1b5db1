// SPDX-License-Identifier: Apache-2.0
// sFlow version 5: what switches export of the packets that they pass or drop (sflow.org: "sFlow Version 5",
// "sFlow Dropped Packet Notification Structures", "sFlow Transit", draft_sflow_pfc,
// draft_sflow_infiniband_2). Everything is XDR: words of four bytes, and opaque data whose length is filled
// up to a whole word.
//
// Readers borrow the datagram's bytes, allocate nothing, and take no length field's word for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dissect/bytes.hpp"
#include "dissect/part.hpp"
#include "dissect/types.hpp"

namespace roce::dissect::sflow {

inline constexpr std::uint32_t version = 5;
inline constexpr std::uint32_t address_ipv4 = 1, address_ipv6 = 2;

using dissect::End;
using dissect::Part;

/// A sample of a datagram or a record of a sample: an enterprise (20 bits), its format (12 bits) and a body.
struct Item {
  static constexpr std::size_t head = 8;  ///< bytes before the body

  std::uint32_t format = 0;
  Part body;

  /// The number of a format of sflow.org itself; nothing for those of other enterprises.
  [[nodiscard]] std::optional<std::uint32_t> standard() const noexcept {
    return format >> 12U == 0 ? std::optional(format) : std::nullopt;
  }
  /// The n-th word of the body, if it was captured.
  [[nodiscard]] std::optional<std::uint32_t> word(std::size_t n) const noexcept {
    if (body.holds(4 * (n + 1)) != End::complete) return std::nullopt;
    return load_be32(body.captured.data() + 4 * n);
  }
  [[nodiscard]] std::optional<std::uint64_t> long_word(std::size_t n) const noexcept {
    if (body.holds(4 * (n + 2)) != End::complete) return std::nullopt;
    return load_be<8>(body.captured.data() + 4 * n);
  }
};

/// The items of a list, one after the other: an unknown one is passed by its length.
class Items {
 public:
  Items(Part list, std::uint32_t count) noexcept : rest_(list), count_(count) {}

  /// False at the end, of which end() says what it was.
  [[nodiscard]] bool next(Item& item) noexcept;
  [[nodiscard]] End end() const noexcept { return end_; }

 private:
  Part rest_;
  std::uint32_t count_;
  End end_ = End::complete;
};

struct Datagram {
  IpAddress agent;
  bool agent_is_ipv6 = false;
  std::uint32_t sub_agent = 0;
  std::uint32_t sequence = 0;  ///< counts the datagrams of (agent, sub-agent)
  std::uint32_t uptime_ms = 0;
  std::uint32_t sample_count = 0;
  std::size_t size = 0;  ///< bytes before the first sample
  Part list;

  [[nodiscard]] Items samples() const noexcept { return {list, sample_count}; }
};

/// `payload`: of the UDP datagram.
[[nodiscard]] End read_datagram(Part payload, Datagram& out) noexcept;

enum class SampleKind : std::uint8_t { other, flow, counters, flow_expanded, counters_expanded, discarded };

/// The port that a packet came from or went to.
struct Port {
  static constexpr std::uint32_t index = 0, dropped = 1, several = 2;  ///< values of `format`
  static constexpr std::uint32_t unknown = 0, own = 0x3fff'ffff;  ///< ifIndex: not known; the switch itself

  std::uint32_t format = index;
  std::uint32_t value = 0;  ///< an ifIndex, a reason, or a number of ports
  [[nodiscard]] bool is_index() const noexcept { return format == index && value != unknown; }
  [[nodiscard]] bool operator==(const Port&) const noexcept = default;
};

/// A sample of any of the five formats; what its format does not have is 0.
struct Sample {
  SampleKind kind = SampleKind::other;
  std::uint32_t sequence = 0;  ///< counts the samples of the data source, of each kind apart
  std::uint32_t source_class = 0, source_index = 0;
  std::uint32_t rate = 0;   ///< one packet in so many
  std::uint32_t pool = 0;   ///< packets that could have been sampled; wraps
  std::uint32_t drops = 0;  ///< samples (discarded: notifications) that the agent could not send
  Port input, output;
  std::uint32_t reason = 0;  ///< discarded: a number of drop_reasons
  std::uint32_t record_count = 0;
  std::size_t size = 0;  ///< bytes of the item before the first record, its head included
  Part list;

  [[nodiscard]] Items records() const noexcept { return {list, record_count}; }
  [[nodiscard]] bool is_flow() const noexcept {
    return kind == SampleKind::flow || kind == SampleKind::flow_expanded;
  }
  [[nodiscard]] bool is_counters() const noexcept {
    return kind == SampleKind::counters || kind == SampleKind::counters_expanded;
  }
};

[[nodiscard]] SampleKind kind_of(const Item& sample) noexcept;
/// Not of SampleKind::other, which is passed by.
[[nodiscard]] End read_sample(const Item& item, Sample& out) noexcept;

/// Formats of records in flow and discarded samples.
namespace flow_record {
inline constexpr std::uint32_t sampled_header = 1, extended_switch = 1001, ib_lrh = 1031, ib_grh = 1032,
                               ib_bth = 1033, egress_queue = 1036, acl = 1037, function = 1038,
                               transit_delay = 1039, queue_depth = 1040, hardware_trap = 1041,
                               linux_reason = 1042, timestamp = 1043;
}  // namespace flow_record

/// Formats of records in counter samples.
namespace counter_record {
inline constexpr std::uint32_t interface = 1, ethernet = 2, pfc = 11;
}  // namespace counter_record

/// Record 1: the first bytes of a packet.
struct SampledHeader {
  static constexpr std::uint32_t ethernet = 1, ipv4 = 11, ipv6 = 12,
                                 infiniband = 18;  ///< values of `protocol`
  static constexpr std::size_t size = 16;          ///< bytes before `header`

  std::uint32_t protocol = 0;
  std::uint32_t frame_length = 0;  ///< of the packet on the wire; of Ethernet with the FCS
  std::uint32_t stripped = 0;      ///< bytes that were taken off before
  std::uint32_t header_length = 0;
  Part header;  ///< cut where the record itself has less than header_length
};
/// True if the fixed part is there. A header_length beyond the record is bounded by the record.
[[nodiscard]] bool read_sampled_header(const Item& record, SampledHeader& out) noexcept;

/// Record 1: counters of an interface (RFC 2233). All count from the start of the agent.
struct InterfaceCounters {
  std::uint32_t index = 0, type = 0;
  std::uint64_t speed_bps = 0;
  std::uint64_t in_octets = 0;
  std::uint32_t in_packets = 0, in_discards = 0, in_errors = 0;  ///< packets: unicast
  std::uint64_t out_octets = 0;
  std::uint32_t out_packets = 0, out_discards = 0, out_errors = 0;
};
[[nodiscard]] bool read_interface_counters(const Item& record, InterfaceCounters& out) noexcept;

/// Record 11, draft_sflow_pfc. Which of the first two counts what was sent is disputed: the draft names them
/// after the counters of 802.1Qbb (requests: sent), the reference agent fills them the other way round.
struct PfcCounters {
  static constexpr std::uint32_t unknown = 0xffff'ffff;
  std::uint32_t requests = 0, indications = 0;
  std::uint32_t pause_us = 0;
  std::uint32_t storms_detected = 0, storms_restored = 0;
};
[[nodiscard]] bool read_pfc_counters(const Item& record, PfcCounters& out) noexcept;

/// The text of an XDR string that begins at the n-th word of the body, as far as it was captured.
[[nodiscard]] std::optional<std::string_view> text_at(const Item& record, std::size_t word) noexcept;

/// Record 1039: the delay is so long or longer.
inline constexpr std::uint32_t longest_delay = 0xffff'ffff;

/// The name of a reason of discarded samples; empty for those that no document names. 0 to 15 are the codes
/// of ICMP "destination unreachable".
[[nodiscard]] std::string_view drop_reason_name(std::uint32_t reason) noexcept;
/// Names above this are those of one implementation; the document of 2020 ends here.
inline constexpr std::uint32_t last_published_reason = 303;
inline constexpr std::uint32_t reason_no_buffer = 259, reason_red = 260, reason_too_big = 262;

}  // namespace roce::dissect::sflow
