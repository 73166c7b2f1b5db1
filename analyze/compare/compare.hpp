// SPDX-License-Identifier: Apache-2.0
// One traffic at two points: what was lost, delayed, overtaken or changed between them. docs/compare.md says
// how packets are told to be the same, what is judged and what cannot be known.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyze/base/time_bound.hpp"
#include "analyze/compare/delay_track.hpp"
#include "analyze/filter/filter.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/results/finding.hpp"
#include "capture/core/source.hpp"

namespace roce::analyze {

/// One of the two captures.
struct ComparePoint {
  capture::CaptureSource* source = nullptr;
  /// Opens it once more, for a look at what lies far behind its beginning; empty for a pipe.
  std::function<std::unique_ptr<capture::CaptureSource>()> again;
};

struct CompareOptions {
  bool check_icrc = true;
  std::uint8_t roce_ip_protocol = 0;
  std::size_t window_packets = std::size_t{1} << 19U;  ///< of both points together; a power of two
  std::int64_t window_ns = 2'000'000'000;              ///< a packet is waited for so long at the other point
  std::size_t lost_limit = 10'000;                     ///< lost packets listed; all are counted
  /// Only what matches is compared; nullptr: all. One that judges a packet by those before it
  /// (needs_history()) is not for this. Not owned.
  const Filter* filter = nullptr;
  TimeRange times;  ///< by the clock of each file; what lies outside counts as not captured
  /// Called now and then with the source that was read from.
  std::function<void(const capture::CaptureSource&, std::uint64_t frames)> progress;
};

enum class MarkField : std::uint8_t { dscp, pcp, ecn, ttl, vlan, count_ };
inline constexpr std::size_t mark_fields = static_cast<std::size_t>(MarkField::count_);
[[nodiscard]] std::string_view mark_field_name(MarkField field) noexcept;

/// One value that became another one between the points.
struct MarkChange {
  MarkField field = MarkField::dscp;
  unsigned direction = 0;
  std::optional<std::uint16_t> from, to;  ///< on the packet's way; nothing: no VLAN tag
  std::uint64_t packets = 0;
  std::array<std::uint64_t, 2> first{};  ///< number of the first such packet in A and in B
};

/// A packet that one point shows and the other one behind it does not.
struct LostPacket {
  FlowKey key;
  unsigned direction = 0;    ///< 0: seen in A, absent in B
  std::uint64_t packet = 0;  ///< number in the file that has it
  std::int64_t time_ns = 0;
  std::uint32_t psn = 0;
  std::uint8_t opcode = 0;
  /// What brought the same once more, or for an acknowledge one that covers it; of the same file.
  std::optional<std::uint64_t> repaired_by;
  bool sent_again = false;                  ///< whether or not that arrived
  bool arrived_before = false;              ///< another transmission of the same
  std::optional<std::uint64_t> connection;  ///< as in that file's report, once it is named
};

/// Where the loss was that made a sender repeat itself; packets, by the run of repeats they belong to.
struct RepeatCauses {
  std::uint64_t before = 0;   ///< before the first point: the first copy was not seen there
  std::uint64_t between = 0;  ///< between the points
  std::uint64_t behind = 0;   ///< behind the second point, or of the answer
  std::uint64_t unknown = 0;
  [[nodiscard]] std::uint64_t packets() const noexcept { return before + between + behind + unknown; }
};

/// The first few numbers of something and how often it was.
struct Counted {
  static constexpr std::size_t most = 5;
  std::uint64_t count = 0;
  std::vector<std::uint64_t> first;
  std::int64_t first_time_ns = 0, last_time_ns = 0;
  void add(std::uint64_t number, std::int64_t time_ns);
};

/// A pair of addresses that one point shows, and of which nothing reaches the other one.
struct BlackHole {
  dissect::IpAddress src, dst;
  unsigned direction = 0;  ///< 0: seen in A, absent in B
  Counted packets;         ///< not among those of CompareDirection::lost
};

/// What is true of the traffic that passes the points in one order.
struct CompareDirection {
  std::uint64_t matched = 0;       ///< packets seen at both
  Counted lost;                    ///< numbers of the first point's file, as all below but where told
  std::uint64_t repaired = 0;      ///< of the lost ones
  std::uint64_t lost_damaged = 0;  ///< of the lost ones, damaged already at the first point
  /// In no count of the lost ones: reliable, acknowledged and never sent again, so that they arrived although
  /// the second point does not show them.
  Counted missed_behind;
  Counted missed;      ///< the second point shows them, the first one should have; numbers of the second file
  Counted duplicated;  ///< arrived more often than they were sent; numbers of the second file
  Counted corrupted;   ///< damaged between the points
  Counted late;        ///< overtaken between the points
  std::int64_t most_late_ns = 0;  ///< behind the first that overtook it
  std::uint64_t not_covered = 0;  ///< not seen at the other point while that did not capture yet or any more
  RepeatCauses repeats;
  std::optional<DelayStats> delay;  ///< relative to the fastest where the clock offset is unknown
};

struct ComparePointFacts {
  std::vector<capture::FileInfo> files;
  std::uint64_t frames = 0;
  std::uint64_t packets = 0;  ///< RoCE
  std::uint64_t damaged = 0;
  std::uint64_t doubled = 0;  ///< left out: the capture has them twice
  bool any_time = false;
  std::int64_t first_time_ns = 0, last_time_ns = 0;
  std::optional<std::uint64_t> dropped;  ///< by the capture, where it says so
  std::uint64_t other_pairs = 0;         ///< pairs of addresses of which the other point shows nothing,
                                         ///< without black holes
  Counted other_packets;                 ///< theirs
  std::vector<capture::Error> errors;
};

/// A finding of a comparison.
struct CompareFinding : Finding {
  unsigned evidence_at = 0;  ///< whose packet numbers it has; 0: A
};

struct CompareResult {
  std::array<ComparePointFacts, 2> points;
  std::array<CompareDirection, 2> directions;  ///< 0: A is passed first
  ClockEstimate clocks;
  bool drift_known = false;
  bool times_known = true;                           ///< false: a capture carries no times
  std::array<std::uint64_t, mark_fields> changed{};  ///< packets, by MarkField
  std::uint64_t vlan_added = 0, vlan_removed = 0;
  std::vector<MarkChange> changes;
  std::uint64_t changes_omitted = 0;  ///< packets whose change had no room in the list
  std::vector<LostPacket> lost;
  std::uint64_t lost_omitted = 0;
  std::vector<BlackHole> black_holes;
  std::uint64_t window_exceeded = 0;  ///< packets given up before their time, for want of room
  std::uint64_t untracked = 0;  ///< packets of flows that had no room: not looked at for repeats and order
  std::vector<CompareFinding> findings;

  [[nodiscard]] std::uint64_t matched() const noexcept {
    return directions[0].matched + directions[1].matched;
  }
};

/// Reads both to their ends, in step by their corrected times. Never fails; errors are in the points' facts.
[[nodiscard]] CompareResult compare(const ComparePoint& a, const ComparePoint& b,
                                    const CompareOptions& options = {});

}  // namespace roce::analyze
