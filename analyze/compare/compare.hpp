// SPDX-License-Identifier: Apache-2.0
// Compares captures of the same traffic at two points: packets lost, delayed, reordered or changed between
// them. docs/compare.md describes how packets are matched and what the result covers.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "analyze/base/time_bound.hpp"
#include "analyze/compare/delay_track.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/record/diagnostics.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/results/finding.hpp"
#include "capture/core/source.hpp"
#include "dissect/dissect.hpp"

namespace roce::analyze {

/// One of the two captures.
struct ComparePoint {
  capture::CaptureSource* source = nullptr;
  /// Opens it again, to search beyond its beginning; empty for a pipe.
  std::function<std::unique_ptr<capture::CaptureSource>()> again;
};

/// Options of compare(). Pointers are not owned.
struct CompareOptions {
  bool check_icrc = true;
  dissect::Options dissecting;
  std::size_t window_packets = std::size_t{1} << 19U;  ///< of both points together; a power of two
  std::int64_t window_ns = 2'000'000'000;              ///< maximum time between the two points
  std::size_t lost_limit = 10'000;                     ///< lost packets listed; all are counted
  std::size_t repeats_limit = 10'000;                  ///< runs of retransmissions listed; all are counted
  /// Only matching packets are compared; nullptr: all. Must not depend on other packets (needs_history()).
  const Filter* filter = nullptr;
  TimeRange times;  ///< by the clock of each file; packets outside count as not captured
  /// Called from time to time with the source that is being read.
  std::function<void(const capture::CaptureSource&, std::uint64_t frames)> progress;
};

enum class MarkField : std::uint8_t { dscp, pcp, ecn, ttl, vlan, count_ };
inline constexpr std::size_t mark_fields = static_cast<std::size_t>(MarkField::count_);
[[nodiscard]] std::string_view mark_field_name(MarkField field) noexcept;

/// One change of a marking between the points.
struct MarkChange {
  MarkField field = MarkField::dscp;
  unsigned direction = 0;
  std::optional<std::uint16_t> from, to;  ///< in the packet's direction; absent: no VLAN tag
  std::uint64_t packets = 0;
  std::array<std::uint64_t, 2> first{};  ///< number of the first such packet in A and in B
};

/// A packet that was seen at the first point, but not at the second one.
struct LostPacket {
  FlowKey key;
  unsigned direction = 0;    ///< 0: seen in A, missing in B
  std::uint64_t packet = 0;  ///< frame number in the file that has it
  std::int64_t time_ns = 0;
  std::uint32_t psn = 0;
  std::uint16_t port = 0;  ///< UDP source port; 0: none
  std::uint8_t opcode = 0;
  /// Its retransmission that arrived, or for an acknowledgement a later one that covers it; in the same file.
  std::optional<std::uint64_t> repaired_by;
  bool sent_again = false;                  ///< retransmitted, whether or not that arrived
  bool arrived_before = false;              ///< an earlier transmission of it had arrived
  std::optional<std::uint64_t> connection;  ///< number in that file's report, after name_connections()
};

/// Why packets were sent again, as far as the two points show it. *First* and *second* point: in the order in
/// which the packets sent again pass them.
enum class RepeatCause : std::uint8_t {
  lost_before,            ///< lost or damaged upstream of the first point, which did not show it whole
  lost_between,           ///< shown by the first point only
  damaged_between,        ///< it, or its answer, whole at one point and damaged at the other
  trimmed_between,        ///< it, or its answer, whole at one point and trimmed by a switch at the other
  overtaken_between,      ///< others overtook it between the points, which receivers take for a loss
  ack_lost_between,       ///< its acknowledgement, on the way back
  nak_lost_between,       ///< the NAK or RNR NAK that told of it
  response_lost_between,  ///< a response to a READ or an ATOMIC
  answer_late,            ///< it was answered, but later than its sender waited
  receiver_not_ready,     ///< answered by an RNR NAK
  lost_behind,            ///< downstream of the second point, which showed it
  answer_passed,          ///< its answer had passed both points in time: lost behind them, or heard too late
  unknown,
  count_
};
/// As in JSON and CSV: "ack_lost_between".
[[nodiscard]] std::string_view repeat_cause_name(RepeatCause cause) noexcept;

/// Retransmitted packets by cause.
struct RepeatCauses {
  std::array<std::uint64_t, static_cast<std::size_t>(RepeatCause::count_)> of{};
  [[nodiscard]] std::uint64_t operator[](RepeatCause cause) const noexcept {
    return of[static_cast<std::size_t>(cause)];
  }
  [[nodiscard]] std::uint64_t packets() const noexcept {
    return std::accumulate(of.begin(), of.end(), std::uint64_t{0});
  }
};

/// Packets of one flow that were sent again in a row, for the same reason.
struct RepeatRun {
  FlowKey key;
  unsigned direction = 0;  ///< 0: they pass A first
  RepeatCause cause = RepeatCause::unknown;
  bool nak_lost = false;      ///< a NAK that told of it was lost between the points: the timer had to
  std::uint8_t opcode = 0;    ///< of the first one
  std::uint64_t packets = 0;  ///< all numbers are those of the first point's file unless stated
  std::uint64_t packet = 0, last_packet = 0;
  std::uint32_t psn = 0, last_psn = 0;
  std::int64_t time_ns = 0;
  std::optional<std::uint64_t> original;  ///< the transmission before the first one
  /// The packet whose loss, damage or lateness was the cause, and the file of its number.
  struct Evidence {
    unsigned point = 0;
    std::uint64_t packet = 0;
    std::uint8_t opcode = 0;
    std::uint32_t psn = 0;
  };
  std::optional<Evidence> evidence;
  std::optional<std::int64_t> waited_ns;    ///< how long its sender had waited, where no NAK made it repeat
  std::optional<std::int64_t> answered_ns;  ///< when the answer passed the sender's point, after the request
  std::optional<std::uint64_t> connection;  ///< as LostPacket::connection
};

/// A count, with the first few frame numbers and the time span.
struct Counted {
  static constexpr std::size_t most = 5;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> first;
  std::int64_t first_time_ns = 0, last_time_ns = 0;
  void add(std::uint64_t number, std::int64_t time_ns);
};

/// A pair of addresses seen at one point, of which no packet reaches the other one.
struct BlackHole {
  dissect::IpAddress src, dst;
  unsigned direction = 0;  ///< 0: seen in A, missing in B
  Counted packets;         ///< not included in CompareDirection::lost
};

/// Results for the traffic that passes the points in one order.
struct CompareDirection {
  std::uint64_t matched = 0;       ///< packets seen at both points
  Counted lost;                    ///< frame numbers of the first point's file, as below unless stated
  std::uint64_t repaired = 0;      ///< of the lost ones, those with a LostPacket::repaired_by
  std::uint64_t lost_damaged = 0;  ///< of the lost ones, damaged already at the first point
  /// Not captured at the second point, not included in `lost`: acknowledged and never retransmitted, so they
  /// arrived.
  Counted missed_behind;
  Counted missed;                 ///< not captured at the first point; numbers of the second file
  Counted duplicated;             ///< duplicated between the points; numbers of the second file
  Counted corrupted;              ///< damaged between the points
  Counted trimmed;                ///< by a switch between the points: lost, though it is not in `lost`
  Counted cut;                    ///< cut at the second point only, with another DSCP: trimmed, perhaps
  Counted late;                   ///< reordered between the points
  std::int64_t most_late_ns = 0;  ///< maximum time after the first packet that overtook one
  std::uint64_t not_covered = 0;  ///< seen before or after the time of the other capture
  /// Not seen at the second point, and lost or not captured there: of MRC, what was not sent again; all that
  /// would be in `lost` where the second capture does not bear it (`judges_losses`).
  std::uint64_t undecided = 0;
  bool judges_losses = true;  ///< false: the second capture lacks so many packets that it proves no loss
  // Of MRC, which sprays packets over many paths:
  std::uint64_t elsewhere =
      0;  ///< on paths of which the other point shows nothing, and not lost for all known
  RepeatCauses repeats;
  std::optional<DelayStats> delay;  ///< relative to the fastest packet if the clock offset is unknown
};

/// Packets between two addresses with one UDP source port: what a fabric that balances load sends one way.
struct ComparePath {
  dissect::IpAddress src, dst;
  std::uint16_t port = 0;           ///< UDP source port; 0: none
  unsigned direction = 0;           ///< 0: they pass A first
  std::uint64_t packets = 0;        ///< at the first point, while the other one was capturing
  std::uint64_t lost = 0;           ///< of these, between the points, trimmed ones included
  std::uint64_t trimmed = 0;        ///< of the lost ones, by a switch
  std::uint64_t ce_added = 0;       ///< CE at the second point, not at the first one
  std::optional<DelayStats> delay;  ///< of samples; relative as that of its direction
};

/// Facts of one capture.
struct ComparePointFacts {
  std::vector<capture::FileInfo> files;
  std::uint64_t frames = 0;
  std::uint64_t packets = 0;  ///< RoCE packets
  std::uint64_t damaged = 0;
  std::uint64_t doubled = 0;  ///< second copies in the capture, left out
  bool any_time = false;
  std::int64_t first_time_ns = 0, last_time_ns = 0;
  std::optional<std::uint64_t> dropped;  ///< by the capture; absent without drop statistics
  /// Share of the packets passing here that the capture did not keep, if these are many; 0: few, or none.
  double lacks = 0;
  std::uint64_t other_pairs = 0;  ///< pairs of addresses that the other point does not see,
  ///< without black holes
  Counted other_packets;  ///< packets of these pairs
  std::vector<capture::Error> errors;
  capture::Statistics statistics;
  /// Reading was ended before the end of the capture, for this reason:
  bool interrupted = false;
  capture::StopReason stop_reason = capture::StopReason::request;

  /// What of the capture was skipped or not read.
  [[nodiscard]] std::vector<Diagnostic> diagnostics() const;
};

/// A finding of a comparison.
struct CompareFinding : Finding {
  unsigned evidence_at = 0;  ///< the file of its packet numbers; 0: A
};

/// Result of compare().
struct CompareResult {
  std::array<ComparePointFacts, 2> points;
  std::array<CompareDirection, 2> directions;  ///< 0: packets pass A first
  ClockEstimate clocks;
  bool drift_known = false;
  bool order_known = true;  ///< false: of nothing is known which point it passes first
  bool times_known = true;  ///< false: a capture has no timestamps
  std::array<std::uint64_t, mark_fields> changed{};  ///< packets, by MarkField
  std::uint64_t vlan_added = 0, vlan_removed = 0;
  std::vector<MarkChange> changes;
  std::uint64_t changes_omitted = 0;  ///< packets with changes beyond the limit of the list
  std::vector<LostPacket> lost;
  std::uint64_t lost_omitted = 0;
  std::vector<RepeatRun> repeats;
  std::uint64_t repeats_omitted = 0;  ///< packets of runs beyond the limit of the list
  std::vector<ComparePath> paths;     ///< most losses first
  std::uint64_t paths_omitted = 0;    ///< packets of paths beyond the limit
  std::vector<BlackHole> black_holes;
  std::uint64_t window_exceeded = 0;  ///< packets removed from the full window before window_ns
  std::uint64_t untracked = 0;  ///< packets of flows beyond the limit: no check of retransmissions and order
  std::vector<CompareFinding> findings;

  [[nodiscard]] std::uint64_t matched() const noexcept {
    return directions[0].matched + directions[1].matched;
  }
};

/// Reads both captures to their ends, in the order of their corrected times. Never fails; read errors are in
/// the points' facts.
[[nodiscard]] CompareResult compare(const ComparePoint& a, const ComparePoint& b,
                                    const CompareOptions& options = {});

}  // namespace roce::analyze
