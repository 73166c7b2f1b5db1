// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analyze/exports/export_book.hpp"
#include "analyze/exports/ipfix_tracker.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissect.hpp"
#include "dissect/dissection.hpp"
#include "dissect/ipfix.hpp"

namespace roce::analyze {

/// Reads the records of IPFIX and NetFlow frame by frame, by the templates of those before: for packets that
/// are shown one by one, in the order of the capture. Bounded; not thread-safe.
class ExportedRecords {
 public:
  /// Of a frame whose dissection is_ipfix(), until the next call. The headers of packets that its records
  /// show are added to `d`. What has no template yet has no values.
  [[nodiscard]] std::span<const dissect::ipfix::RecordValue> read(std::uint64_t number,
                                                                  const capture::Frame& frame,
                                                                  dissect::Dissection& d,
                                                                  const dissect::Options& options = {});

 private:
  ExportBook book_;
  IpfixTracker tracker_;
  std::vector<dissect::ipfix::RecordValue> values_;
};

}  // namespace roce::analyze
