// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "capture/sniffer/sniffed_port.hpp"

// Internal: tells frames that a sniffed port sent from those that it received.
namespace roce::capture {

/// The addresses of a port: a frame with one of them as its source was sent, any other was received. MAC
/// addresses are compared first; if none matches, IP and GRH addresses, for ports whose frames leave with
/// another MAC address (a bond, a virtual function).
class OwnAddresses {
 public:
  void add_mac(const MacAddress& address);
  /// A GID; also adds the IP address of it, and the MAC address that a link-local one was derived from.
  void add_gid(const std::array<std::uint8_t, 16>& gid);
  /// InfiniBand: the LID and its LMC (number of low bits that the sender may choose).
  void set_lid(std::uint16_t lid, unsigned mask_bits);

  [[nodiscard]] bool sent_ethernet(const std::uint8_t* frame, std::size_t bytes) const noexcept {
    if (bytes < 14) return false;
    std::uint64_t source = 0;
    std::memcpy(&source, frame + 6, 6);
    for (const std::uint64_t own : macs_) {
      if (own == source) return true;
    }
    return !gids_.empty() && sent_by_address(frame, bytes);
  }
  [[nodiscard]] bool sent_infiniband(const std::uint8_t* frame, std::size_t bytes) const noexcept;

 private:
  [[nodiscard]] bool sent_by_address(const std::uint8_t* frame, std::size_t bytes) const noexcept;
  [[nodiscard]] bool is_gid(const std::uint8_t* address) const noexcept;

  std::vector<std::uint64_t> macs_;  ///< in the byte order of a frame
  std::vector<std::array<std::uint8_t, 16>> gids_;
  std::vector<std::uint32_t> ipv4_;  ///< in the byte order of a frame
  std::uint16_t lid_ = 0;
  std::uint16_t lid_mask_ = 0xffff;
};

}  // namespace roce::capture
