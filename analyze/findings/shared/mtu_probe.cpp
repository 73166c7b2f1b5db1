// SPDX-License-Identifier: Apache-2.0
#include "analyze/findings/shared/mtu_probe.hpp"

#include <fmt/format.h>

namespace roce::analyze {
namespace {

constexpr std::uint32_t ipv4_header = 20, ipv6_header = 40, udp_header = 8, icmp_header = 8;
constexpr std::uint32_t grh = 40;
constexpr std::uint32_t bth = 12, reth = 16, icrc = 4;
constexpr std::uint32_t usual_pmtu = 1024;  // the largest that fits an Ethernet MTU of 1500

}  // namespace

std::uint32_t largest_ip_bytes(std::uint32_t pmtu, dissect::Transport transport) noexcept {
  const std::uint32_t transported = bth + reth + pmtu + icrc;
  switch (transport) {
    case dissect::Transport::roce_v2_ipv6:
      return ipv6_header + udp_header + transported;
    case dissect::Transport::roce_v1:
      return grh + transported;
    default:
      return ipv4_header + udp_header + transported;
  }
}

std::string ping_text(std::uint32_t pmtu, dissect::Transport transport, const dissect::IpAddress& host) {
  const std::uint32_t ip_header = host.is_v4_mapped() ? ipv4_header : ipv6_header;
  const std::uint32_t bytes = largest_ip_bytes(pmtu != 0 ? pmtu : usual_pmtu, transport);
  return fmt::format("ping -M do -s {}", bytes - ip_header - icmp_header);
}

}  // namespace roce::analyze
