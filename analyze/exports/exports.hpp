// SPDX-License-Identifier: Apache-2.0
// What switches exported by sFlow, IPFIX or NetFlow, as plain values. None of it is traffic of this capture.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/base/histogram.hpp"
#include "analyze/base/small_counts.hpp"
#include "analyze/record/lost_transmission.hpp"
#include "analyze/record/packet_record.hpp"
#include "capture/core/frame.hpp"
#include "dissect/sflow.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

enum class ExportProtocol : std::uint8_t { sflow, ipfix, netflow9, count_ };

/// A switch, or a part of it that numbers its datagrams on its own.
struct ExportAgent {
  dissect::IpAddress address;   ///< of IPFIX and NetFlow: where its datagrams come from
  std::uint32_t sub_agent = 0;  ///< or observation domain, or source ID
  ExportProtocol protocol = ExportProtocol::sflow;
  std::uint64_t datagrams = 0;
  /// What did not reach the collector, by its sequence: datagrams, of IPFIX records.
  std::uint64_t missing = 0;
  std::uint64_t duplicates = 0;  ///< captured twice, and counted once
  std::uint64_t restarts = 0;
  std::int64_t first_ns = capture::no_time;
  std::int64_t last_ns = capture::no_time;
};

/// A figure estimated from samples. The error is that of 95 in 100 cases (sflow.org, "Packet Sampling
/// Basics").
struct Estimate {
  static constexpr std::uint64_t least_samples = 10;  ///< below, nothing but "seen" can be said

  std::uint64_t samples = 0;
  double value = 0;
  double error = 0;  ///< absolute
  /// Without a sampling rate there is no value either.
  [[nodiscard]] bool told() const noexcept { return samples >= least_samples && value > 0; }
};

/// A data source of an agent at one sampling rate. Where the rate is changed, what follows is another one.
struct ExportSource {
  std::uint32_t agent = 0;  ///< index in Exports::agents
  /// Of IPFIX: the element that names the sampler, and its value; 0 where the exporter names none.
  std::uint32_t source_class = 0, index = 0;
  /// 1 packet in so many, as the agent says; 0: samples of counters or drops only, or it does not say.
  std::uint32_t rate = 0;
  std::uint32_t per = 1;      ///< as many as this are sampled of `rate` packets
  std::uint64_t samples = 0;  ///< of packets
  std::uint64_t roce = 0;     ///< those of RoCE
  std::uint64_t unread = 0;   ///< without a header that can be dissected
  std::uint64_t missing = 0;  ///< samples that did not reach the collector, by their sequence
  std::uint64_t dropped = 0;  ///< samples that the agent had no resources for, as it says
  std::uint64_t pool = 0;     ///< packets that passed between the samples, by the agent's own count,
  std::uint64_t pooled = 0;   ///< and the samples behind which that is known
  std::uint64_t ingress = 0;  ///< samples of packets that came in at the source
  std::uint64_t egress = 0;   ///< and that went out

  /// Packets that one sample stands for: by the pool; by the rate, where the agent does not count.
  [[nodiscard]] double one_in() const noexcept {
    return pool != 0 && pooled != 0 ? static_cast<double>(pool) / static_cast<double>(pooled)
                                    : static_cast<double>(rate) / static_cast<double>(per);
  }
  [[nodiscard]] Estimate packets() const noexcept;
};

/// What is counted of samples of RoCE.
struct SampleCounts {
  std::uint64_t samples = 0;
  std::uint64_t bytes = 0;             ///< of the whole frames, with FCS where the agent counts it
  double squares = 0;                  ///< sum of their squares
  std::array<std::uint64_t, 4> ecn{};  ///< by dissect::Ecn
  std::uint64_t cnps = 0;
  std::uint64_t naks = 0;  ///< sequence errors and refusals
  std::uint64_t rnr_naks = 0;
};

/// A flow as one switch samples it.
struct ExportFlow {
  std::uint32_t agent = 0;
  FlowKey key;
  SampleCounts counts;  ///< of the direction that packets() is of
  Estimate packets, bytes;
  bool egress =
      false;  ///< sampled where it leaves the switch; else where it enters, or the agent does not say
  SmallCounts<std::uint8_t, 3, 256> opcodes;
  SmallCounts<std::uint8_t, 1, 64> dscp;
  std::int64_t first_ns = capture::no_time;
  std::int64_t last_ns = capture::no_time;
  std::uint64_t first_packet = 0;  ///< number of the datagram that has the first sample
};

/// A queue of a port, by records 1036, 1039 and 1040 of the samples that passed it.
struct ExportQueue {
  std::uint32_t agent = 0;
  std::uint32_t port = 0;  ///< ifIndex where the packets went out
  std::optional<std::uint32_t> queue;
  std::uint64_t samples = 0;
  Histogram depth;           ///< bytes
  Histogram delay_ns;        ///< from the way in to the way out
  std::uint64_t longer = 0;  ///< delays beyond what the record can say
};

/// Counters of a port: what was added between its first and its last sample.
struct ExportPort {
  std::uint32_t agent = 0;
  std::uint32_t index = 0;
  std::uint64_t samples = 0;
  std::uint64_t speed_bps = 0;
  std::uint64_t in_octets = 0, out_octets = 0;
  std::uint64_t in_discards = 0, out_discards = 0, in_errors = 0, out_errors = 0;
  bool pfc = false;
  std::uint64_t pfc_requests = 0, pfc_indications = 0, pause_us = 0, storms = 0;
};

/// Why a switch dropped a packet: a number of one of these lists.
struct DropReason {
  enum class List : std::uint8_t {
    sflow,              ///< see dissect::sflow::drop_reason_name()
    forwarding_status,  ///< of IPFIX and NetFlow
    mirror_on_drop,     ///< see dissect::ipfix::DropMirror::reason()
    count_
  };
  /// What helps against it.
  enum class Kind : std::uint8_t { other, no_buffer, early, too_big };

  List list = List::sflow;
  std::uint32_t code = 0;
  [[nodiscard]] auto operator<=>(const DropReason&) const noexcept = default;
  [[nodiscard]] Kind kind() const noexcept;
};

/// A packet that a switch says it dropped.
struct ExportDrop {
  std::uint32_t agent = 0;
  std::uint32_t source = 0;             ///< ifIndex of the data source
  std::uint32_t input = 0, output = 0;  ///< ifIndex, 0: not known
  DropReason reason;
  std::optional<std::uint32_t> queue;
  std::uint64_t packet = 0;  ///< number of the datagram
  std::int64_t time_ns = capture::no_time;
  bool roce = false;  ///< the rest is known
  FlowKey key;
  std::uint32_t psn = 0;
  std::uint8_t opcode = 0;
  /// The packet of this capture that shows the same loss; 0: nobody missed it, as far as the capture goes.
  std::uint64_t loss_shown_by = 0;
  bool proved = false;  ///< by the capture alone, too: else it is missing in a pass that had no need of it
  std::uint32_t connection = 0;  ///< of that loss
};

struct Exports {
  std::uint64_t datagrams = 0;
  std::uint64_t unreadable = 0;        ///< datagrams and samples that contradict themselves or were cut
  std::uint64_t other_formats = 0;     ///< samples of formats that are not read
  std::uint64_t flows_dropped = 0;     ///< samples of flows beyond the limit
  std::uint64_t others_dropped = 0;    ///< agents, sources, queues and ports beyond theirs
  std::uint64_t drops_dropped = 0;     ///< notifications beyond the limit
  std::uint64_t drops_suppressed = 0;  ///< that the switches did not send, as they say
  // Of IPFIX and NetFlow:
  std::uint64_t sets_without_template = 0;  ///< data that came before it: what is in them cannot be told
  std::uint64_t flow_records = 0;           ///< that tell of flows, and have no packet
  std::uint64_t roce_flow_records = 0;      ///< those of UDP port 4791
  std::uint64_t templates_changed = 0;      ///< learned anew with other elements, or withdrawn
  std::vector<ExportAgent> agents;
  std::vector<ExportSource> sources;
  std::vector<ExportFlow> flows;  ///< most samples first
  std::vector<ExportQueue> queues;
  std::vector<ExportPort> ports;
  std::vector<ExportDrop> drops;  ///< as they came

  [[nodiscard]] bool any() const noexcept { return datagrams != 0; }
  [[nodiscard]] std::uint64_t beyond_limits() const noexcept {
    return flows_dropped + others_dropped + drops_dropped;
  }
  [[nodiscard]] std::uint64_t samples() const noexcept;
  [[nodiscard]] std::uint64_t matched_drops() const noexcept;
  /// Distinct addresses of agents.
  [[nodiscard]] std::uint64_t switches() const noexcept;
  /// The mean over all samples; 0 without.
  [[nodiscard]] double one_in() const noexcept;
};

/// Finds for each drop the loss of the same packet: equal addresses, queue pair and PSN, the nearest in time.
void join_drops(Exports& exports, std::vector<LostTransmission> losses, bool proved);

/// Drops of one reason at one place.
struct ExportDropGroup {
  std::uint32_t agent = 0;
  std::uint32_t input = 0, output = 0;  ///< input: only where the output is not known
  std::optional<std::uint32_t> queue;
  DropReason reason;
  std::uint64_t packets = 0;
  std::uint64_t roce = 0;
  std::uint64_t matched = 0;       ///< losses of the captured traffic that they are
  std::vector<std::size_t> drops;  ///< indices in Exports::drops
};
/// Most packets first.
[[nodiscard]] std::vector<ExportDropGroup> drop_groups(const Exports& exports);

/// A share of samples with its 95 % error, e.g. of CE marks.
[[nodiscard]] Estimate sampled_share(std::uint64_t part, std::uint64_t whole) noexcept;

/// "sFlow samples of 3 switches, about 1 in 1024"; empty without exports.
[[nodiscard]] std::string exports_text(const Exports& exports);
/// "sFlow", "sFlow and IPFIX".
[[nodiscard]] std::string export_protocols_text(const Exports& exports);
[[nodiscard]] std::string_view protocol_name(ExportProtocol protocol) noexcept;
/// "port 9", "2:1", "selector 4".
[[nodiscard]] std::string export_source_text(const Exports& exports, const ExportSource& source);
/// "no buffer (tail drop)", "reason 400".
[[nodiscard]] std::string drop_reason_text(const DropReason& reason);
[[nodiscard]] std::string_view drop_reasons_name(DropReason::List list) noexcept;
/// "10.0.0.7 port 12, queue 3".
[[nodiscard]] std::string drop_place_text(const Exports& exports, const ExportDropGroup& group);
/// "12300 ± 6.2 %"; "seen" where there are too few samples for a figure, empty without any.
[[nodiscard]] std::string estimate_text(const Estimate& estimate);
/// The shares of marks and answers in the samples of RoCE: "CE on 1.2 % ± 0.4 % of the data that may be
/// marked ...".
[[nodiscard]] std::string sample_shares_text(const Exports& exports);
/// What did not arrive of the exports: "3 datagrams and 20 samples were lost on the way to the collector".
[[nodiscard]] std::string export_gaps_text(const Exports& exports);
/// What IPFIX and NetFlow have besides packets: "12 sets of data came before their template ...".
[[nodiscard]] std::string export_records_text(const Exports& exports);

}  // namespace roce::analyze
