// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "capture/sniffer/sniffed_port.hpp"

// Internal: which of the frames that a port's sniffer delivers were sent by it.
namespace roce::capture {

/// The addresses of a port: a frame that comes from one of them was sent, any other received. MAC addresses
/// first; where none fits, addresses of IP and GRH, for ports whose frames leave with another MAC (a bond,
/// a virtual function).
class OwnAddresses {
 public:
  void add_mac(const MacAddress& address);
  /// A GID: also the IP address that it is, and the MAC address that a link-local one is made of.
  void add_gid(const std::array<std::uint8_t, 16>& gid);
  /// InfiniBand: the LID and how many of its low bits are the sender's choice.
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

  std::vector<std::uint64_t> macs_;  ///< as they lie in a frame
  std::vector<std::array<std::uint8_t, 16>> gids_;
  std::vector<std::uint32_t> ipv4_;  ///< as they lie in a frame
  std::uint16_t lid_ = 0;
  std::uint16_t lid_mask_ = 0xffff;
};

}  // namespace roce::capture
