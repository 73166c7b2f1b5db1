// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/refusals.hpp"

namespace roce::analyze {

void find_invalid_rd_request(const Snapshot& snapshot, FindingSink& sink) {
  static constexpr Refusal refusal{
      Event::nak_invalid_rd_request,
      4,
      "invalid RD request",
      "IBV_WC_REM_INV_RD_REQ_ERR",
      "Only the reliable datagram (RD) service has this NAK, and hardly any device supports RD: suspect a "
      "vendor's transport with the same opcodes, or corruption.",
      "check which transport the application requested (NVIDIA DC uses RD's opcodes), and the device's "
      "firmware (ethtool -i DEV).",
  };
  find_refused(snapshot, sink, refusal);
}

}  // namespace roce::analyze
