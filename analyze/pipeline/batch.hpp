// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/record/packet_record.hpp"
#include "analyze/record/totals.hpp"
#include "capture/core/batch_comments.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

// Internal to the pipeline.
namespace roce::analyze {

/// Some frames on their way through the pipeline, with all that is known of them so far.
struct Batch {
  capture::FrameBatch read;
  capture::BatchComments comments;  ///< of `read`, where a filter is to be asked
  /// One a frame; may be longer. One without an image has its `place` in `records`, or none.
  std::vector<PacketBrief> packets;
  std::vector<PacketRecord> records;
  std::vector<std::uint32_t> controls;  ///< frames of MAC control and LLDP, ascending
  /// Of this batch alone: batches are worked on at the same time.
  Totals totals;
  dissect::Dissection dissection;
  // What stands before it.
  std::uint64_t frames_before = 0;
  std::int64_t first_time_ns = 0;
  std::int64_t previous_time_ns = 0;
  bool interleaved = false;     ///< it needs TimeOrder
  bool several_points = false;  ///< packets of more than one capture point have come
};

}  // namespace roce::analyze
