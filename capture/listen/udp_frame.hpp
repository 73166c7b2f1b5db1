// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace roce::capture {

/// Where a datagram came from and where to, as IPv6; IPv4 is mapped (::ffff:10.0.0.1).
struct UdpEnds {
  std::array<std::uint8_t, 16> source{}, destination{};
  std::uint16_t source_port = 0, destination_port = 0;
};

/// Bytes of the headers before the payload: IPv4 or IPv6, and UDP.
[[nodiscard]] std::size_t udp_head_size(const UdpEnds& ends) noexcept;
/// Writes them before `payload`, which lies in the same memory behind them; with their checksums.
void write_udp_head(const UdpEnds& ends, std::span<const std::uint8_t> payload, std::uint8_t* head) noexcept;

}  // namespace roce::capture
