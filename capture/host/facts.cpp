// SPDX-License-Identifier: Apache-2.0
#include "capture/host/facts.hpp"

#include <algorithm>

namespace roce::capture {
namespace {

constexpr unsigned grh_bytes = 40, udp_bytes = 8, bth_bytes = 12, xrceth_bytes = 4, atomic_eth_bytes = 28,
                   icrc_bytes = 4;
constexpr unsigned longest_headers =
    grh_bytes + udp_bytes + bth_bytes + xrceth_bytes + atomic_eth_bytes + icrc_bytes;
constexpr unsigned rxe_headers = 80;  // RXE_MAX_HDR_LENGTH

unsigned largest_below(unsigned bytes) noexcept {
  for (unsigned mtu = 4096; mtu >= 256; mtu /= 2) {
    if (mtu <= bytes) return mtu;
  }
  return 0;
}

}  // namespace

std::optional<std::array<std::uint8_t, 4>> ipv4_of(const Gid& gid) noexcept {
  const bool mapped = std::all_of(gid.begin(), gid.begin() + 10, [](std::uint8_t b) { return b == 0; }) &&
                      gid[10] == 0xff && gid[11] == 0xff;
  if (!mapped) return std::nullopt;
  return std::array<std::uint8_t, 4>{gid[12], gid[13], gid[14], gid[15]};
}

bool is_link_local(const Gid& gid) noexcept {
  return gid[0] == 0xfe && (gid[1] & 0xc0U) == 0x80;
}

bool is_software(const RdmaDevice& device) noexcept {
  return device.driver == "rxe" || device.driver == "siw";
}

bool is_iwarp(const RdmaDevice& device) noexcept {
  return device.node_type == "RNIC";
}

std::optional<bool> sniffer_switch(const std::vector<HostSetting>& private_flags) noexcept {
  const auto found = std::find_if(private_flags.begin(), private_flags.end(),
                                  [](const HostSetting& flag) { return flag.name == "sniffer"; });
  if (found == private_flags.end()) return std::nullopt;
  return found->value == "on";
}

const Netdev* HostFacts::netdev(std::string_view name) const noexcept {
  const auto found =
      std::find_if(netdevs.begin(), netdevs.end(), [&](const Netdev& each) { return each.name == name; });
  return found == netdevs.end() ? nullptr : &*found;
}

unsigned largest_ib_mtu(unsigned interface_mtu) noexcept {
  return interface_mtu < longest_headers ? 0 : largest_below(interface_mtu - longest_headers);
}

unsigned largest_rxe_mtu(unsigned interface_mtu) noexcept {
  return interface_mtu < rxe_headers ? 0 : largest_below(interface_mtu - rxe_headers);
}

unsigned interface_mtu_for(unsigned ib_mtu) noexcept {
  return ib_mtu + longest_headers;
}

std::optional<unsigned> active_mtu(const HostFacts& host, const RdmaDevice& device,
                                   const RdmaPort& port) noexcept {
  if (port.link_layer != "Ethernet" || is_iwarp(device)) return std::nullopt;
  const Netdev* netdev = host.netdev(port.netdev);
  if (netdev == nullptr || !netdev->mtu) return std::nullopt;
  return device.driver == "rxe" ? largest_rxe_mtu(*netdev->mtu) : largest_ib_mtu(*netdev->mtu);
}

}  // namespace roce::capture
