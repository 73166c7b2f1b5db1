// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include "analyze/record/diagnostics.hpp"
#include "analyze/record/packet_record.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"
#include "dissect/icrc.hpp"
#include "dissect/types.hpp"

namespace roce::analyze {

/// Kinds of frames without an RDMA transport.
enum class OtherTraffic : std::uint8_t {
  tcp,
  udp,
  icmp,
  other_ip,
  arp,
  lldp,
  mac_control,
  llc,
  other_ethertype,
  infiniband_link,
  unreadable,
  esp,
  psp,
  macsec,  ///< encrypted
  uet,
  falcon,                  ///< on the port that the user named
  veroce,                  ///< likewise
  udp_port_4791_not_roce,  ///< datagrams to the port of RoCE v2 of which nothing shows that they are RoCE
  count_
};
inline constexpr std::size_t other_traffic_count = static_cast<std::size_t>(OtherTraffic::count_);
[[nodiscard]] std::string_view other_traffic_name(OtherTraffic kind) noexcept;

/// Packets of a flow that a switch has sent Fast CNPs for: see dissect/fast_cnp.hpp.
struct FastCnpFlow {
  dissect::IpAddress by;  ///< the switch
  dissect::IpAddress src, dst;
  std::uint32_t dst_qp = 0;
  [[nodiscard]] auto operator<=>(const FastCnpFlow&) const noexcept = default;
};
struct FastCnps {
  std::uint64_t packets = 0;
  std::uint64_t first_packet = 0;
};

/// Sums over all packets; one object per thread, merged at the end. Order does not matter.
struct Totals {
  static constexpr std::size_t kept_mismatches = 10;

  std::uint64_t packets = 0;  ///< frames of any kind
  std::uint64_t bytes = 0;    ///< on the wire
  std::uint64_t captured_bytes = 0;
  bool any_time = false;
  std::int64_t first_time_ns = 0;
  std::int64_t last_time_ns = 0;
  std::uint64_t equal_stamps = 0;  ///< frames with the timestamp of the one before, selected or not
  std::uint64_t stepped_back = 0;  ///< more than a second before the one before, at one capture point

  std::uint64_t roce_packets = 0;
  std::uint64_t roce_bytes = 0;
  std::array<std::uint64_t, 5> by_transport{};  ///< by dissect::Transport
  std::array<std::uint64_t, dissect::tunnel_count> by_tunnel{};
  std::array<std::uint64_t, 256> opcodes{};
  std::array<std::uint64_t, 3> icrc{};  ///< by dissect::CrcStatus
  std::array<std::uint64_t, 64> dscp{};
  std::array<std::uint64_t, 4> ecn{};  ///< by dissect::Ecn
  std::array<std::uint64_t, 8> pcp{};
  std::uint64_t untagged = 0;
  std::array<std::uint64_t, other_traffic_count> others{};
  std::array<std::uint64_t, 32> uet{};           ///< by type of UET
  std::array<std::uint64_t, 16> falcon{};        ///< by packet type
  std::array<std::uint64_t, 256> veroce{};       ///< by opcode
  std::uint64_t ifa = 0;                         ///< RoCE packets with metadata of IFA
  std::array<std::uint64_t, 64> trimmed_dscp{};  ///< of RoCE packets that a switch trimmed, part of `dscp`
  std::uint64_t trimmed_bytes = 0;               ///< that were cut off of these
  static constexpr std::size_t fast_cnps_at_most = 1024;
  std::map<FastCnpFlow, FastCnps> fast_cnps;
  DiagnosticCounts diagnostics;
  /// Numbers of the first packets with a wrong ICRC, ascending; at most `kept_mismatches`.
  std::vector<std::uint64_t> icrc_mismatches;
  /// Numbers of the first IP fragments of UDP datagrams, ascending.
  std::vector<std::uint64_t> fragments;

  /// Counts one dissected frame, of which make_record() made `record`. `icrc` is null when ICRCs are
  /// not checked.
  void count(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& dissection,
             const PacketRecord& record, const dissect::IcrcResult* icrc);
  /// The properties, beside the opcode, by which a packet is counted.
  struct Marks {
    std::uint8_t traffic_class = 0;
    std::uint8_t transport = 0;  ///< dissect::Transport
    std::uint8_t priority = 0;   ///< PCP, or `untagged_priority`
    std::uint8_t icrc = 0;       ///< dissect::CrcStatus, or `unchecked`
    static constexpr std::uint8_t untagged_priority = 8, unchecked = 0xff;
    [[nodiscard]] bool operator==(const Marks& other) const noexcept {  // all at once
      return std::bit_cast<std::uint32_t>(*this) == std::bit_cast<std::uint32_t>(other);
    }
  };
  /// Counts one frame of the fast path. `cut`: truncated; `icrc`: as in count(), its status need not be in
  /// `marks`. Frames with equal marks are counted together: call settle() before reading.
  void count_fast(std::uint64_t number, const capture::Frame& frame, std::uint8_t opcode, Marks marks,
                  bool cut, const dissect::IcrcResult* icrc);
  /// Sums over consecutive RDMA frames that have a time. A local object, so that the sums stay in registers.
  class Run {
   public:
    /// `time_ns`: of the first frame.
    explicit Run(std::int64_t time_ns) noexcept : first_time_ns_(time_ns), last_time_ns_(time_ns) {}
    [[gnu::always_inline]] void add(const capture::Frame& frame) noexcept {
      bytes_ += frame.wire;
      captured_bytes_ += frame.captured;
      if (frame.time_ns >= last_time_ns_) [[likely]] {
        last_time_ns_ = frame.time_ns;
      } else {
        first_time_ns_ = std::min(first_time_ns_, frame.time_ns);
      }
    }

   private:
    friend struct Totals;
    std::uint64_t bytes_ = 0;
    std::uint64_t captured_bytes_ = 0;
    std::int64_t first_time_ns_;
    std::int64_t last_time_ns_;
  };
  void count_run(std::uint64_t frames, const Run& run) noexcept;
  /// Counts of a frame what count_run() does not: as count_fast(), with the ICRC, not a mismatch, in `marks`.
  void count_known(std::uint8_t opcode, Marks marks, bool cut) noexcept;
  /// Adds the frames with equal marks that are not counted yet.
  void settle() noexcept;
  void merge(const Totals& other);
  /// Counts an RDMA packet of which only the record is left, as count() does, but not its frame.
  void count_record(std::uint64_t number, const PacketRecord& record);
  /// Packets that were counted as RDMA turned out to be none: count_record() of each made `strange`.
  void take_out(const Totals& strange);
  /// Packets, by DSCP, that were counted as cut on the way turned out to be trimmed.
  void take_as_trimmed(const std::array<std::uint64_t, 64>& packets);
  [[nodiscard]] std::uint64_t trimmed_packets() const noexcept;
  /// Packets with one of these DSCPs, as bits, that are whole: short ones, which a switch had no need to cut.
  [[nodiscard]] std::uint64_t remarked_packets(std::uint64_t dscps) const noexcept;

 private:
  void count_frame(const capture::Frame& frame);
  void count_fast_cnp(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& d);
  void add_fast_cnps(const FastCnpFlow& flow, const FastCnps& more);
  void count_named(const capture::Frame& frame, const dissect::Dissection& dissection);
  void note_times(std::int64_t first_ns, std::int64_t last_ns) noexcept;
  void note_icrc(std::uint64_t number, const dissect::IcrcResult& result);
  void count_transport(std::uint64_t number, const capture::Frame& frame, const PacketRecord& record,
                       const dissect::IcrcResult* icrc);

  Marks alike_;                      ///< marks of the last frames in a row
  std::uint32_t alike_packets_ = 0;  ///< their number, not counted yet
};

inline void Totals::count_frame(const capture::Frame& frame) {
  ++packets;
  bytes += frame.wire;
  captured_bytes += frame.captured;
  if (frame.time_ns != capture::no_time) note_times(frame.time_ns, frame.time_ns);
}

inline void Totals::note_times(std::int64_t first_ns, std::int64_t last_ns) noexcept {
  first_time_ns = any_time ? std::min(first_time_ns, first_ns) : first_ns;
  last_time_ns = any_time ? std::max(last_time_ns, last_ns) : last_ns;
  any_time = true;
}

inline void Totals::count_transport(std::uint64_t number, const capture::Frame& frame,
                                    const PacketRecord& record, const dissect::IcrcResult* result) {
  ++roce_packets;
  roce_bytes += frame.wire;
  ++by_transport[static_cast<std::size_t>(record.key.transport)];
  ++dscp[record.traffic_class >> 2U];
  ++ecn[record.traffic_class & 3U];
  if (record.has(PacketRecord::tagged)) {
    ++pcp[record.pcp()];
  } else {
    ++untagged;
  }
  ++opcodes[record.opcode];
  if (result == nullptr) return;
  ++icrc[static_cast<std::size_t>(result->status)];
  note_icrc(number, *result);
}

inline void Totals::note_icrc(std::uint64_t number, const dissect::IcrcResult& result) {
  if (result.soft_roce_flush) diagnostics.add(DiagnosticId::icrc_soft_roce_flush);
  if (result.status == dissect::CrcStatus::mismatch && icrc_mismatches.size() < kept_mismatches)
    icrc_mismatches.push_back(number);
}

inline void Totals::count_fast(std::uint64_t number, const capture::Frame& frame, std::uint8_t opcode,
                               Marks marks, bool cut, const dissect::IcrcResult* result) {
  count_frame(frame);
  roce_bytes += frame.wire;
  marks.icrc = result == nullptr ? Marks::unchecked : static_cast<std::uint8_t>(result->status);
  count_known(opcode, marks, cut);
  if (result != nullptr) note_icrc(number, *result);
}

inline void Totals::count_known(std::uint8_t opcode, Marks marks, bool cut) noexcept {
  ++opcodes[opcode];
  if (marks != alike_) [[unlikely]] {
    settle();
    alike_ = marks;
  }
  ++alike_packets_;  // of one batch
  if (cut) [[unlikely]]
    diagnostics.add(DiagnosticId::cut_by_capture);
}

}  // namespace roce::analyze
