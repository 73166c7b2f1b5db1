// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/refusals.hpp"

namespace roce::analyze {

void find_remote_access_error(const Snapshot& snapshot, FindingSink& sink) {
  static constexpr Refusal refusal{
      Event::nak_remote_access_error,
      2,
      "remote access error",
      "IBV_WC_REM_ACCESS_ERR",
      "The responder has no memory region with this R_Key, or the range exceeds it, or the region does not "
      "allow the operation.",
      "compare R_Key, address and length with its regions (rdma resource show mr), its access flags "
      "(IBV_ACCESS_REMOTE_WRITE, _READ, _ATOMIC), its protection domain, and whether it was deregistered or "
      "invalidated before the request came. Was the key sent in the right byte order?",
  };
  find_refused(snapshot, sink, refusal);
}

}  // namespace roce::analyze
