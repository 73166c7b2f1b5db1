// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/drop_remedy.hpp"

namespace roce::analyze {

std::string_view drop_remedy(const DropReason& reason) noexcept {
  switch (reason.kind()) {
    case DropReason::Kind::no_buffer:
      return "The buffer was full: if this traffic is to be lossless, its priority has no PFC on that "
             "switch, or too "
             "little headroom; if not, ECN marks too late or senders do not slow down. Compare the queue's "
             "thresholds "
             "(show buffer, show ecn, show pfc) with those of the other switches.";
    case DropReason::Kind::early:
      return "RED or WRED drops what it should mark: enable ECN on that queue, and let hosts send ECT "
             "(traffic class "
             "with ECN bits 2).";
    case DropReason::Kind::too_big:
      return "The packet exceeds the MTU of that port: raise it to the path MTU of RDMA plus headers (4096 + "
             "58 and "
             "what tunnels add), or lower the RDMA MTU of the hosts.";
    case DropReason::Kind::other:
      break;
  }
  return "Look the reason up in the switch's own drop counters, and whether the traffic should pass "
         "there at all.";
}

}  // namespace roce::analyze
