// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analyze/exports/export_book.hpp"
#include "analyze/exports/exports.hpp"
#include "analyze/exports/ipfix_tracker.hpp"
#include "analyze/exports/sflow_tracker.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

/// Follows datagrams of sFlow, IPFIX and NetFlow in the order of the capture. Bounded; not thread-safe.
class ExportTracker {
 public:
  /// A frame whose dissection is_export().
  void see(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& d);
  [[nodiscard]] bool any() const noexcept { return book_.found().any(); }
  /// What was seen so far; joins drops with `losses`.
  [[nodiscard]] Exports finish(std::vector<LostTransmission> losses) &&;

 private:
  ExportBook book_;
  SflowTracker sflow_;
  IpfixTracker ipfix_;
};

}  // namespace roce::analyze
