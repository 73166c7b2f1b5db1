// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/refusals.hpp"

namespace roce::analyze {

void find_invalid_request(const Snapshot& snapshot, FindingSink& sink) {
  static constexpr Refusal refusal{
      Event::nak_invalid_request,
      1,
      "invalid request",
      "IBV_WC_REM_INV_REQ_ERR",
      "The queue pair does not allow this operation, or its packets are not valid: a message longer than the "
      "receive buffer or than announced, a wrong path MTU, too many outstanding READs or atomics.",
      "check the queue pair's access flags (qp_access_flags), max_dest_rd_atomic against the peer's "
      "max_rd_atomic, path_mtu of both ends (they must be equal: ibv_query_qp) and the size of the posted "
      "receives.",
  };
  find_refused(snapshot, sink, refusal);
}

}  // namespace roce::analyze
