// SPDX-License-Identifier: Apache-2.0
// How to test whether the path passes packets as long as those of a connection.
#pragma once

#include <cstdint>
#include <string>

#include "analyze/findings/shared/common.hpp"

namespace roce::analyze {

/// Length in bytes of the largest IP packet of a connection: IP and UDP headers, BTH, the RETH of a WRITE,
/// one path MTU of payload, and the ICRC. For RoCE v1 that of the frame without its Ethernet header.
[[nodiscard]] std::uint32_t largest_ip_bytes(std::uint32_t pmtu, dissect::Transport transport) noexcept;

/// "ping -M do -s 4128": a packet as long as the largest of a connection to the host; `pmtu` 0 (unknown)
/// means 1024.
[[nodiscard]] std::string ping_text(std::uint32_t pmtu, dissect::Transport transport,
                                    const dissect::IpAddress& host);

}  // namespace roce::analyze
