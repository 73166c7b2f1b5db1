// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/refusals.hpp"

namespace roce::analyze {

void find_remote_operational_error(const Snapshot& snapshot, FindingSink& sink) {
  static constexpr Refusal refusal{
      Event::nak_remote_operational_error,
      3,
      "remote operational error",
      "IBV_WC_REM_OP_ERR",
      "The responder failed locally: a receive with a wrong L_Key, a receive buffer too small (Soft-RoCE), a "
      "queue pair in the error state, a device fault.",
      "check the completion of its receive (IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_LEN_ERR show the mistake), dmesg "
      "for device errors, and rdma statistic show.",
  };
  find_refused(snapshot, sink, refusal);
}

}  // namespace roce::analyze
