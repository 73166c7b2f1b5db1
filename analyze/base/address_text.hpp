// SPDX-License-Identifier: Apache-2.0
// Addresses in their usual notation. The append functions append to a string that its owner reuses.
#pragma once

#include <cstdint>
#include <string>

#include "dissect/types.hpp"

namespace roce::analyze {

void append_mac(std::string& out, const std::uint8_t* six_bytes);      ///< 52:54:00:00:0a:01
void append_eui64(std::string& out, const std::uint8_t* eight_bytes);  ///< 50:54:00:ff:fe:00:0a:01
void append_ipv4(std::string& out, const std::uint8_t* four_bytes);    ///< 10.77.0.1
/// RFC 5952; the last 32 bits of IPv4-mapped and IPv4-compatible addresses are dotted, as in
/// inet_ntop() and Wireshark.
void append_ipv6(std::string& out, const std::uint8_t* sixteen_bytes);
/// IPv4 dotted, everything else as IPv6.
void append_address(std::string& out, const dissect::IpAddress& address);
[[nodiscard]] std::string address_text(const dissect::IpAddress& address);

}  // namespace roce::analyze
