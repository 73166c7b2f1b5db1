// SPDX-License-Identifier: Apache-2.0
#include "analyze/exports/export_tracker.hpp"

#include <utility>

namespace roce::analyze {

void ExportTracker::see(std::uint64_t number, const capture::Frame& frame, const dissect::Dissection& d) {
  ++book_.found().datagrams;
  const dissect::Part payload = exported_bytes(frame, d);
  if (d.is_sflow()) {
    sflow_.see(book_, number, frame.time_ns, payload);
  } else {
    ipfix_.see(book_, export_datagram(number, frame, d), payload);
  }
}

Exports ExportTracker::finish(std::vector<LostTransmission> losses) && {
  ipfix_.finish(book_);
  return std::move(book_).finish(std::move(losses));
}

}  // namespace roce::analyze
