// SPDX-License-Identifier: Apache-2.0
// Packets of reliable connections made by hand, and what the tracker says of them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyze/tracker/pairing.hpp"
#include "analyze/tracker/tracker.hpp"
#include "dissect/icrc.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

inline constexpr std::uint8_t send_only = 0x04;
inline constexpr std::uint8_t write_only = 0x0a;
inline constexpr std::uint8_t read_request = 0x0c;
inline constexpr std::uint8_t read_response_only = 0x10;
inline constexpr std::uint8_t acknowledge = 0x11;
inline constexpr std::uint8_t uc_send_only = 0x24;
inline constexpr std::uint8_t ud_send_only = 0x64;

inline constexpr std::uint8_t nak_sequence = 0x60;
inline constexpr std::uint8_t nak_access = 0x62;
inline constexpr std::uint8_t rnr_code_14 = 0x2e;  ///< 1.28 ms

/// One end of a connection.
struct End {
  unsigned host = 0;
  std::uint32_t qpn = 0;
};

[[nodiscard]] inline dissect::IpAddress tracker_host(unsigned n) {
  const std::uint8_t bytes[] = {10, 0, 0, static_cast<std::uint8_t>(n)};
  return dissect::IpAddress::v4(bytes);
}

/// Feeds a tracker packet by packet. Each packet comes a microsecond after the one before, with the
/// sending host's next IP ID; what it passes over was sent, though not captured.
class Wire {
 public:
  explicit Wire(std::size_t flow_limit = FlowTable::default_limit, bool copies_expected = false,
                std::uint64_t trimmed_dscps = 0)
      : tracker_(TrackerOptions{flow_limit, &verdicts_, true, copies_expected, trimmed_dscps}) {}

  /// The packet that `from` would send to `to`, not yet sent.
  [[nodiscard]] PacketRecord make(End from, End to, std::uint8_t opcode, std::uint32_t psn) {
    PacketRecord r;
    r.key.src = tracker_host(from.host);
    r.key.dst = tracker_host(to.host);
    r.key.dst_qp = to.qpn;
    r.key.transport = dissect::Transport::roce_v2_ipv4;
    r.key_hash = r.key.hash();
    r.opcode = opcode;
    r.psn = psn & 0xffffffU;
    r.flags = PacketRecord::valid | PacketRecord::selected | PacketRecord::has_ports;
    r.more = PacketRecord::has_ip_id | PacketRecord::dont_fragment;
    const dissect::OpcodeInfo& info = dissect::opcode_info(opcode);
    if (opcode != acknowledge) pass_over({from.host, from.qpn, to.qpn, info.request}, psn);
    r.ip_id = ++ip_ids_.at(from.host);
    r.udp_source = port ? *port : source_port_of(from.qpn, to.qpn);
    r.icrc = static_cast<std::uint8_t>(dissect::CrcStatus::match);
    r.source_mac = 0x020000000000U + from.host;
    r.payload = info.has_payload ? 64 : 0;
    r.wire = 62 + r.payload;
    if (info.remote_offset != dissect::OpcodeInfo::absent) {
      r.more |= PacketRecord::has_reth;
      r.dma_length = 64;
      r.r_key = 0xabc;
      r.virtual_address = 0x7f0000000000U + psn;
    }
    r.time_ns = now_ns += 1000;
    return r;
  }

  /// Frame number of the packet as it was sent.
  std::uint32_t send(const PacketRecord& record) {
    ++sent_;
    tracker_.track_one(record, sent_);
    return static_cast<std::uint32_t>(sent_);
  }
  std::uint32_t request(End from, End to, std::uint32_t psn, std::uint8_t opcode = write_only) {
    PacketRecord r = make(from, to, opcode, psn);
    r.flags |= PacketRecord::ack_requested;
    return send(r);
  }
  /// An ACK, or with another syndrome a NAK, of `from`.
  std::uint32_t answer(End from, End to, std::uint32_t psn, std::uint8_t syndrome = 0x1f) {
    PacketRecord r = make(from, to, acknowledge, psn);
    r.flags |= PacketRecord::has_aeth;
    auto& [msn, acknowledged] = counts_[{from.host, from.qpn, to.host, to.qpn}];
    // Each request is a message. A NAK names the first that was not executed, and counts those before it.
    const std::uint32_t executed = syndrome == 0x1f ? psn : psn - 1;
    const std::uint32_t more = (executed - acknowledged) & 0xffffffU;
    const bool first = msn == 0;
    if (syndrome == 0x1f || (!first && more <= 0x7fffffU)) {
      msn = (msn + (first || more > 0x7fffffU ? 1U : more)) & 0xffffffU;
      acknowledged = executed;
    }
    r.aeth = std::uint32_t{syndrome} << 24U | msn;
    return send(r);
  }
  /// Responders count their messages from the first again.
  void forget_counts() { counts_.clear(); }
  /// So many requests from `psn` on, each with its ACK.
  void talk(End a, End b, std::uint32_t psn, std::uint32_t times) {
    for (std::uint32_t i = 0; i < times; ++i) {
      request(a, b, psn + i);
      answer(b, a, psn + i);
    }
  }
  void connect(End client, End server, std::uint32_t exchange = 0, std::uint16_t pmtu = 0,
               std::optional<std::uint8_t> retry_count = std::nullopt) {
    CmExchange cm;
    cm.transport = dissect::Transport::roce_v2_ipv4;
    cm.client = tracker_host(client.host);
    cm.server = tracker_host(server.host);
    cm.client_qpn = client.qpn;
    cm.server_qpn = server.qpn;
    cm.pmtu = pmtu;
    cm.retry_count = retry_count;
    tracker_.connected(cm, exchange);
  }

  /// Flows without a packet since that frame are idle.
  void retire_idle(std::uint64_t frame) { tracker_.retire_idle(frame); }

  /// Ends the capture after some silence.
  void finish(std::int64_t silence_ns = 0) {
    result = read_as_lost(tracker_.finish(now_ns + silence_ns));
    verdicts_.read_losses_as(LossReading::lost, {});
    finished_ = true;
  }

  /// What would be said if the capture ended here, as for a snapshot.
  [[nodiscard]] Tracker::Result so_far() const { return read_as_lost(Tracker(tracker_).finish(now_ns)); }

  /// What is said of a packet, at the end of the capture: what comes after it may decide.
  [[nodiscard]] Verdict verdict(std::uint32_t number) {
    EXPECT_TRUE(finished_) << "not yet known";
    return kept(number);
  }
  /// Whether the connection of a packet is known already.
  [[nodiscard]] bool is_followed(std::uint32_t number) {
    return kept(number).connection != Verdict::no_connection;
  }
  [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }

  // --- of the result ---
  [[nodiscard]] const Connection& connection(std::size_t i = 0) const { return result.connections.at(i); }
  [[nodiscard]] const Flow& flow(End from, End to, std::size_t nth = 0) const {
    for (const Flow& f : result.flows) {
      if (f.key.src == tracker_host(from.host) && f.key.dst == tracker_host(to.host) &&
          f.key.dst_qp == to.qpn && nth-- == 0) {
        return f;
      }
    }
    static const Flow none;
    ADD_FAILURE() << "no such flow";
    return none;
  }
  [[nodiscard]] static std::uint64_t lost(const Flow& flow, Lost where) {
    return flow.sequence().lost[static_cast<std::size_t>(where)];
  }
  [[nodiscard]] static std::uint64_t resent(const Flow& flow, Cause cause) {
    return flow.sequence().retransmitted[static_cast<std::size_t>(cause)];
  }
  /// Every selected packet must be somewhere.
  void expect_all_counted() const {
    std::uint64_t counted = result.departed.packets;
    counted += result.not_roce.roce_packets;
    for (const StrayPackets& strays : result.strays) counted += strays.packets;
    for (const Flow& f : result.flows) counted += f.packets + f.sequence().duplicate_captures;
    EXPECT_EQ(counted, sent_);
  }

  std::int64_t now_ns = 1'795'171'301'000'000'000;
  std::optional<std::uint16_t> port;  ///< instead of the one that follows from the queue pairs
  Tracker::Result result;

  /// As of a capture that misses nothing.
  [[nodiscard]] static Tracker::Result read_as_lost(Tracker::Result all) {
    for (Flow& f : all.flows) f.read_losses_as(LossReading::lost);
    for (Connection& c : all.connections) {
      for (Events& events : c.sent)
        events = events.counted_as(Event::lost_undecided, Event::lost_before_capture);
    }
    all.series.count_undecided_as_lost();
    return all;
  }

 private:
  /// What is missing before that PSN was sent, too, and had IDs.
  void pass_over(const std::array<std::uint32_t, 4>& stream, std::uint32_t psn) {
    constexpr std::uint32_t looked_at = 4096;
    const auto [next, fresh] = next_.try_emplace(stream, psn);
    const std::uint32_t missing = (psn - next->second) & 0xffffffU;
    if (missing >= looked_at) return;  // sent before
    ip_ids_.at(stream[0]) += static_cast<std::uint16_t>(missing);
    next->second = (psn + 1) & 0xffffffU;
  }
  [[nodiscard]] Verdict kept(std::uint32_t number) {
    const Verdict* verdict = verdicts_.find(number);
    return verdict != nullptr ? *verdict : Verdict{};
  }

  VerdictStore verdicts_;
  Tracker tracker_;
  std::vector<std::uint16_t> ip_ids_ = std::vector<std::uint16_t>(256, 1);
  std::uint64_t sent_ = 0;
  bool finished_ = false;
  struct Count {
    std::uint32_t msn = 0;
    std::uint32_t acknowledged = 0;
  };
  std::map<std::array<std::uint32_t, 4>, Count> counts_;        ///< by sender and receiver
  std::map<std::array<std::uint32_t, 4>, std::uint32_t> next_;  ///< PSN: by sender, receiver and kind
};

}  // namespace roce::analyze
