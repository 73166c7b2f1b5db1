// SPDX-License-Identifier: Apache-2.0
// Data from the host's port to the switch's, for captures of a link.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/analyze/link/link_capture.hpp"

namespace roce::analyze {

/// Each packet another one: copies count once.
inline std::uint32_t next_psn() {
  static std::uint32_t psn = 0;
  return ++psn;
}
/// RC data to the switch, tagged with a priority.
inline std::vector<std::uint8_t> data_on(unsigned pcp) {
  return as_request(tagged_roce(host_mac, switch_mac, pcp), next_psn());
}
/// RC data to the switch, untagged, with a DSCP.
inline std::vector<std::uint8_t> data_with(unsigned dscp) {
  return as_request(plain_roce(host_mac, switch_mac, dscp << 2U), next_psn());
}

}  // namespace roce::analyze
