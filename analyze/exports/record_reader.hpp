// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/exports/ipfix_record.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"
#include "dissect/dissection.hpp"
#include "dissect/ipfix.hpp"

// Internal to this room.
namespace roce::analyze {

/// Reads the sets of data of one frame value by value.
struct RecordReader {
  const capture::Frame& frame;
  dissect::Dissection& dissection;  ///< gets the headers of packets that records show
  const dissect::Options& options;
  std::vector<dissect::ipfix::RecordValue>& values;  ///< appended to
  std::uint32_t records = 0;                         ///< whole ones so far

  /// What is cut or too short ends it.
  void read(const dissect::ipfix::Set& set, const RecordTemplate& by, bool netflow9);
};

}  // namespace roce::analyze
