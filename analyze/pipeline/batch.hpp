// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/mrc/mrc_packet.hpp"
#include "analyze/numbered/numbered_packet.hpp"
#include "analyze/record/outer_counts.hpp"
#include "analyze/record/packet_record.hpp"
#include "analyze/record/totals.hpp"
#include "capture/core/comments.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"
#include "dissect/ipfix.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Some frames on their way through the pipeline, with the results so far.
struct Batch {
  capture::FrameBatch read;
  capture::BatchComments comments;  ///< of `read`, if there is a filter
  /// One per frame; may be longer. Without cached headers (image), `place` is the index in `records` or none.
  std::vector<PacketBrief> packets;
  std::vector<PacketRecord> records;
  std::vector<std::uint32_t> controls;   ///< indices of MAC control and LLDP frames, ascending
  std::vector<std::uint32_t> exports;    ///< of datagrams that switches export
  std::vector<MrcPacket> mrc;            ///< those of MRC
  std::vector<NumberedPacket> numbered;  ///< of shells and mirrors
  // Of this batch only, because batches are processed in parallel.
  Totals totals;
  OuterCounts outer;  ///< packets in tunnels
  dissect::Dissection dissection;
  std::span<const dissect::ipfix::RecordValue> exported;  ///< of its packet; only with a filter
  // State before the batch.
  std::uint64_t frames_before = 0;
  std::int64_t first_time_ns = 0;
  std::int64_t previous_time_ns = 0;
  bool interleaved = false;     ///< it needs TimeOrder
  bool several_points = false;  ///< packets of more than one capture point have come so far
};

}  // namespace roce::analyze
