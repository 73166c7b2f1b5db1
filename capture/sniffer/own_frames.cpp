// SPDX-License-Identifier: Apache-2.0
#include "capture/sniffer/own_frames.hpp"

#include <algorithm>

namespace roce::capture {
namespace {

template <class T>
void add_once(std::vector<T>& to, const T& value) {
  if (std::find(to.begin(), to.end(), value) == to.end()) to.push_back(value);
}

std::uint16_t big_endian_16(const std::uint8_t* at) noexcept {
  return static_cast<std::uint16_t>(at[0] << 8U | at[1]);
}

constexpr std::size_t mac_bytes = 12;  // before the EtherType
constexpr std::uint16_t ether_ipv4 = 0x0800, ether_ipv6 = 0x86dd, ether_grh = 0x8915;
constexpr std::uint16_t ether_vlan = 0x8100, ether_service_vlan = 0x88a8;

}  // namespace

void OwnAddresses::add_mac(const MacAddress& address) {
  if (address == MacAddress{}) return;
  std::uint64_t value = 0;
  std::memcpy(&value, address.data(), address.size());
  add_once(macs_, value);
}

void OwnAddresses::add_gid(const std::array<std::uint8_t, 16>& gid) {
  constexpr std::uint8_t mapped_ipv4[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  add_once(gids_, gid);
  if (std::memcmp(gid.data(), mapped_ipv4, sizeof mapped_ipv4) == 0) {
    std::uint32_t address = 0;
    std::memcpy(&address, gid.data() + 12, sizeof address);
    add_once(ipv4_, address);
  }
  // RFC 4291, appendix A: an interface identifier derived from a MAC address has ff:fe in its middle.
  if (gid[0] == 0xfe && gid[1] == 0x80 && gid[11] == 0xff && gid[12] == 0xfe) {
    constexpr std::uint8_t universal = 0x02;
    add_mac({static_cast<std::uint8_t>(gid[8] ^ universal), gid[9], gid[10], gid[13], gid[14], gid[15]});
  }
}

void OwnAddresses::set_lid(std::uint16_t lid, unsigned mask_bits) {
  lid_mask_ = static_cast<std::uint16_t>(0xffffU << std::min(mask_bits, 7U));
  lid_ = lid & lid_mask_;
}

bool OwnAddresses::is_gid(const std::uint8_t* address) const noexcept {
  return std::any_of(gids_.begin(), gids_.end(),
                     [&](const auto& gid) { return std::memcmp(gid.data(), address, gid.size()) == 0; });
}

bool OwnAddresses::sent_by_address(const std::uint8_t* frame, std::size_t bytes) const noexcept {
  std::size_t at = mac_bytes;
  std::uint16_t type = 0;
  for (int tags = 0; tags <= 2; ++tags) {
    if (at + 2 > bytes) return false;
    type = big_endian_16(frame + at);
    at += 2;
    if (type != ether_vlan && type != ether_service_vlan) break;
    at += 2;
  }
  if (type == ether_ipv4) {
    if (at + 16 > bytes) return false;
    std::uint32_t source = 0;
    std::memcpy(&source, frame + at + 12, sizeof source);
    return std::find(ipv4_.begin(), ipv4_.end(), source) != ipv4_.end();
  }
  // IPv6 and GRH have the source address at the same offset.
  return (type == ether_ipv6 || type == ether_grh) && at + 24 <= bytes && is_gid(frame + at + 8);
}

bool OwnAddresses::sent_infiniband(const std::uint8_t* frame, std::size_t bytes) const noexcept {
  constexpr std::size_t route_header = 8;
  if (bytes < route_header) return false;
  if (lid_ != 0 && (big_endian_16(frame + 6) & lid_mask_) == lid_) return true;
  constexpr std::uint8_t global_route = 3;  // LNH: a GRH follows
  return (frame[1] & 3U) == global_route && bytes >= route_header + 24 && is_gid(frame + route_header + 8);
}

}  // namespace roce::capture
