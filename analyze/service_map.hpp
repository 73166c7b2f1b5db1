// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "analyze/cm_tracker.hpp"

namespace roce::analyze {

/// A CmTracker of which only the upper-layer protocols are asked for. Not thread-safe.
class ServiceMap {
 public:
  /// Looks at every packet that may be a CM message; cheap for all others. `frame` is what was dissected.
  void learn(dissect::Bytes frame, const dissect::Dissection& dissection) {
    capture::Frame borrowed;
    borrowed.data = frame.data();
    borrowed.captured = static_cast<std::uint32_t>(frame.size());
    (void)tracker_.learn(++packets_, borrowed, dissection);
  }

  /// What the packet's destination queue pair carries; for REP and REJ what their REQ asked for.
  [[nodiscard]] dissect::Ulp of(dissect::Bytes frame, const dissect::Dissection& dissection) const {
    return tracker_.ulp_of(frame, dissection);
  }
  /// What a queue pair at an address carries.
  [[nodiscard]] dissect::Ulp of(const dissect::IpAddress& address, std::uint32_t qpn) const {
    return tracker_.ulp_of(address, qpn);
  }

 private:
  CmTracker tracker_;
  std::uint64_t packets_ = 0;
};

}  // namespace roce::analyze
