// SPDX-License-Identifier: Apache-2.0
#include "analyze/results/flow_columns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyze/base/address_text.hpp"
#include "analyze/base/units.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/results/loss_columns.hpp"

namespace roce::analyze {
namespace {

template <class Counts>
std::string list_counts(const Counts& counts) {
  std::string text;
  const auto entries = counts.sorted();
  for (const auto& entry : entries) {
    if (!text.empty()) text += ' ';
    text += fmt::format("{}", entry.key);
    if (entries.size() > 1) text += fmt::format(":{}", entry.count);
  }
  return text;
}

std::string flow_ecn_text(const Flow& flow) {
  std::string text;
  const auto kinds = std::count_if(flow.ecn.begin(), flow.ecn.end(), [](std::uint64_t n) { return n != 0; });
  for (std::size_t i = 0; i < flow.ecn.size(); ++i) {
    if (flow.ecn[i] == 0) continue;
    if (!text.empty()) text += ' ';
    text += ecn_text(static_cast<std::uint8_t>(i));
    if (kinds > 1) text += fmt::format(":{}", flow.ecn[i]);
  }
  return text;
}

std::string opcode_list(const Flow& flow) {
  auto entries = flow.opcodes.sorted();
  std::stable_sort(entries.begin(), entries.end(),
                   [](const auto& a, const auto& b) { return a.count > b.count; });
  std::string text;
  for (const auto& entry : entries) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", dissect::opcode_name(entry.key), entry.count);
  }
  return text;
}

/// The text of a time or duration; empty for a flow whose packets have no timestamps.
template <class Text>
std::string if_timed(const Flow& flow, Text text) {
  return flow.any_time ? text(flow) : std::string();
}

double rate(const Flow& flow) {
  if (!flow.any_time) return 0;
  return mean_rate_bps(flow.bytes, flow.first_time_ns, flow.last_time_ns);
}

std::uint64_t flow_retransmitted(const Flow& f) {
  return f.sequence().retransmitted_packets();
}
std::uint64_t lost_packets(const Flow& f) {
  return f.sequence().lost_packets();
}
template <Lost where>
std::uint64_t flow_lost_at(const Flow& f) {
  return f.sequence().lost[static_cast<std::size_t>(where)];
}
template <Cause cause>
std::uint64_t flow_repeated_after(const Flow& f) {
  return f.sequence().retransmitted[static_cast<std::size_t>(cause)];
}
template <std::uint64_t SequenceCounts::*member>
std::uint64_t flow_sequence_count(const Flow& f) {
  return f.sequence().*member;
}

template <std::uint64_t ReservedBits::*member>
std::uint64_t flow_reserved(const Flow& f) {
  return f.reserved_bits().*member;
}

using F = const Flow&;

constexpr FlowColumn columns_of_flows[] = {
    {"id", "flow", "number of the flow", true, 0, [](F f) { return -static_cast<double>(f.id); },
     [](F f) { return std::to_string(f.id); }, nullptr},
    {"connection", "conn", "connection to which the flow belongs", true, 4,
     [](F f) { return f.connection ? static_cast<double>(*f.connection) : -1; },
     [](F f) { return f.connection ? std::to_string(*f.connection) : std::string(); }, nullptr},
    {"src", "source", "source address", false, 0, nullptr, [](F f) { return address_text(f.key.src); },
     nullptr},
    {"dst", "destination", "destination address", false, 0, nullptr,
     [](F f) { return address_text(f.key.dst); }, nullptr},
    {"dst_qp", "QP", "destination queue pair", true, 0, [](F f) { return static_cast<double>(f.key.dst_qp); },
     [](F f) { return fmt::format("0x{:06x}", f.key.dst_qp); },
     [](F f) { return std::to_string(f.key.dst_qp); }},
    {"service", "type", "transport service", false, 1, nullptr,
     [](F f) { return f.service_known ? std::string(dissect::service_name(f.service)) : std::string("CNP"); },
     nullptr},
    {"upper", "ULP", "upper-layer protocol, by the CM exchange or by its own header", false, 1, nullptr,
     [](F f) { return std::string(dissect::ulp_name(f.upper)); }, nullptr},
    {"version", "version", "RoCE version, or native InfiniBand", false, hidden_column, nullptr,
     [](F f) { return std::string(version_name(f.key.transport)); }, nullptr},
    {"vlan", "VLAN", "VLAN of the first tagged packet", true, 6,
     [](F f) { return f.vlan ? static_cast<double>(*f.vlan) : -1; },
     [](F f) { return f.vlan ? std::to_string(*f.vlan) : std::string(); }, nullptr},
    {"udp_sports", "UDP source ports", "UDP source ports with packets", false, hidden_column, nullptr,
     [](F f) { return list_counts(f.udp_sports); }, nullptr},
    {"packets", "packets", "packets", true, 0, [](F f) { return static_cast<double>(f.packets); },
     [](F f) { return std::to_string(f.packets); }, nullptr},
    {"bytes", "bytes", "bytes on the wire", true, 3, [](F f) { return static_cast<double>(f.bytes); },
     [](F f) { return bytes_text(f.bytes); }, [](F f) { return std::to_string(f.bytes); }},
    {"payload_bytes", "payload", "message bytes, without headers and pad bytes", true, 1,
     [](F f) { return static_cast<double>(f.payload_bytes); },
     [](F f) { return bytes_text(f.payload_bytes); }, [](F f) { return std::to_string(f.payload_bytes); }},
    {"messages", "messages", "messages that ended in the capture", true, 2,
     [](F f) { return static_cast<double>(f.messages); }, [](F f) { return std::to_string(f.messages); },
     nullptr},
    {"rate_bps", "rate", "mean rate from first to last packet", true, 2, rate,
     [](F f) { return f.packets > 1 && f.any_time ? rate_text(rate(f)) : std::string(); },
     [](F f) { return fmt::format("{:.0f}", rate(f)); }},
    count_column<Flow, flow_retransmitted>("retransmitted", "retrans", "retransmitted packets", 1),
    count_column<Flow, flow_repeated_after<Cause::nak>>(
        "retransmitted_nak", "after NAK", "packets retransmitted after a PSN sequence NAK", hidden_column),
    count_column<Flow, flow_repeated_after<Cause::timeout>>("retransmitted_timeout", "after timeout",
                                                            "packets retransmitted after an ACK timeout",
                                                            hidden_column),
    count_column<Flow, flow_repeated_after<Cause::rnr>>(
        "retransmitted_rnr", "after RNR", "packets retransmitted after an RNR NAK", hidden_column),
    count_column<Flow, flow_repeated_after<Cause::read_retry>>(
        "retransmitted_read_retry", "READ retries", "retransmitted READ requests and the responses to them",
        hidden_column),
    count_column<Flow, flow_repeated_after<Cause::unknown>>(
        "retransmitted_unknown", "unknown cause", "packets retransmitted for a cause that was not captured",
        hidden_column),
    count_column<Flow, flow_sequence_count<&SequenceCounts::spurious>>(
        "spurious", "spurious", "retransmissions of what had already been acknowledged", 4),
    count_column<Flow, lost_packets>("lost", "lost", "lost transmissions", 1),
    loss_column<Flow, flow_lost_at<Lost::before_capture>>(Lost::before_capture),
    loss_column<Flow, flow_lost_at<Lost::after_capture>>(Lost::after_capture),
    loss_column<Flow, flow_lost_at<Lost::by_capture>>(Lost::by_capture),
    loss_column<Flow, flow_lost_at<Lost::trimmed>>(Lost::trimmed),
    loss_column<Flow, flow_lost_at<Lost::undecided>>(Lost::undecided),
    count_column<Flow, flow_sequence_count<&SequenceCounts::out_of_order>>(
        "out_of_order", "reordered", "packets out of order that are not retransmissions", 4),
    count_column<Flow, flow_sequence_count<&SequenceCounts::duplicate_captures>>(
        "duplicate_captures", "copies", "transmissions captured more than once; in no other count", 5),
    count_column<Flow, flow_sequence_count<&SequenceCounts::duplicate_network>>(
        "duplicate_network", "duplicated", "transmissions duplicated by the network", hidden_column),
    count_column<Flow, flow_sequence_count<&SequenceCounts::gaps>>(
        "gaps", "gaps", "PSNs that were not captured in sequence", hidden_column),
    count_column<Flow, flow_sequence_count<&SequenceCounts::wasted_packets>>(
        "wasted_packets", "wasted", "packets delivered out of sequence, discarded and retransmitted",
        hidden_column),
    count_column<Flow, flow_sequence_count<&SequenceCounts::wasted_bytes>>(
        "wasted_bytes", "wasted bytes", "bytes of these packets on the wire", hidden_column),
    {"first_psn", "first PSN", "PSN of its first packet", true, 4,
     [](F f) { return static_cast<double>(f.first_psn); }, [](F f) { return std::to_string(f.first_psn); },
     nullptr},
    {"last_psn", "last PSN", "PSN of its last packet", true, 4,
     [](F f) { return static_cast<double>(f.last_psn); }, [](F f) { return std::to_string(f.last_psn); },
     nullptr},
    {"dscp", "DSCP", "DSCP values with packets", false, 3, nullptr, [](F f) { return list_counts(f.dscp); },
     nullptr},
    {"ecn", "ECN", "ECN codepoints with packets", false, 3, nullptr, flow_ecn_text, nullptr},
    {"pcp", "PCP", "VLAN priorities with packets", false, 5, nullptr, [](F f) { return list_counts(f.pcp); },
     nullptr},
    {"first_time", "first", "time of the first packet, ns since the epoch", true, hidden_column,
     [](F f) { return static_cast<double>(f.first_time_ns); },
     [](F f) { return if_timed(f, [](F g) { return time_text(g.first_time_ns); }); },
     [](F f) { return if_timed(f, [](F g) { return std::to_string(g.first_time_ns); }); }},
    {"last_time", "last", "time of the last packet, ns since the epoch", true, hidden_column,
     [](F f) { return static_cast<double>(f.last_time_ns); },
     [](F f) { return if_timed(f, [](F g) { return time_text(g.last_time_ns); }); },
     [](F f) { return if_timed(f, [](F g) { return std::to_string(g.last_time_ns); }); }},
    {"duration_ns", "duration", "from first to last packet", true, 5,
     [](F f) { return static_cast<double>(span_ns(f.first_time_ns, f.last_time_ns)); },
     [](F f) {
       return if_timed(f, [](F g) { return duration_text(span_ns(g.first_time_ns, g.last_time_ns)); });
     },
     [](F f) {
       return if_timed(f, [](F g) { return std::to_string(span_ns(g.first_time_ns, g.last_time_ns)); });
     }},
    {"icrc_mismatches", "bad ICRC", "packets with a wrong ICRC", true, 1,
     [](F f) { return static_cast<double>(f.icrc_mismatches); },
     [](F f) { return f.icrc_mismatches != 0 ? std::to_string(f.icrc_mismatches) : std::string(); },
     [](F f) { return std::to_string(f.icrc_mismatches); }},
    {"opcodes", "opcodes", "opcodes with packets", false, hidden_column, nullptr, opcode_list, nullptr},
    count_column<Flow, flow_reserved<&ReservedBits::packets_7>>(
        "reserved7", "reserved 7", "packets with reserved bits set in byte 8 of the BTH, beside AckReq",
        hidden_column),
    count_column<Flow, flow_reserved<&ReservedBits::packets_6>>(
        "reserved6", "reserved 6",
        "packets with reserved bits set in byte 4 of the BTH, beside FECN and BECN", hidden_column),
    count_column<Flow, flow_reserved<&ReservedBits::late>>(
        "reserved_out_of_order", "reserved late", "packets with any of these bits that came out of order",
        hidden_column),
};

}  // namespace

std::span<const FlowColumn> flow_columns() noexcept {
  return columns_of_flows;
}

}  // namespace roce::analyze
