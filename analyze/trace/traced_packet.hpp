// SPDX-License-Identifier: Apache-2.0
// Internal: one packet of a capture that is read again with the verdicts of an analysis.
#pragma once

#include <cstdint>

#include "analyze/base/series.hpp"
#include "analyze/packet/verdict.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/trace/connection_trace.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

[[nodiscard]] TracePoint::Kind traced_kind(const PacketRecord& record,
                                           const dissect::OpcodeInfo& info) noexcept;

/// Whether its receiver discards it: its ICRC or IPv4 header checksum is wrong.
[[nodiscard]] bool is_damaged(const capture::Frame& frame, const dissect::Dissection& dissection);

[[nodiscard]] constexpr bool marked_ce(const PacketRecord& record) noexcept {
  constexpr unsigned ce = 3;
  return (record.traffic_class & 3U) == ce;
}

/// Counts a packet of a connection, no copy made by the capture, as Snapshot::series does, but for its losses
/// and what is in flight.
void count_traced(Series::Bucket& bucket, const PacketRecord& record, TracePoint::Kind kind,
                  const Verdict& verdict, bool damaged) noexcept;
/// Losses of what the packet's own side sent that it proves, and of what the peer sent.
[[nodiscard]] inline std::uint64_t lost_of_own(const Verdict& v) noexcept {
  return v.lost_before + v.lost_itself() + v.missed + v.trimmed;
}
[[nodiscard]] inline std::uint64_t lost_of_other(const Verdict& v) noexcept {
  return v.lost_after - v.lost_itself() + v.missed_of_other;
}

}  // namespace roce::analyze
