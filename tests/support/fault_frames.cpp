// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_frames.hpp"

#include <algorithm>

#include "tests/support/fault_opcodes.hpp"

namespace roce::support {
namespace {

constexpr std::size_t data_size = std::size_t{1} << 16;
constexpr std::size_t largest_packet = 4096;
constexpr MacAddress router_mac{0x52, 0x54, 0x00, 0xff, 0x00, 0x01};

bool carries_reth(const Packet& packet) {
  return packet.kind == Kind::read_request || packet.opcode == write_opcodes.first ||
         packet.opcode == write_opcodes.only;
}

bool carries_aeth(const Packet& packet) {
  return is_response(packet.kind) && packet.opcode != response_opcodes.middle;
}

}  // namespace

MacAddress host_mac(std::uint32_t host) {
  return {0x52, 0x54, 0x00, 0x00, static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)};
}

Ipv4Address host_ipv4(std::uint32_t host) {
  return {10, 78, static_cast<std::uint8_t>(host >> 8), static_cast<std::uint8_t>(host)};
}

Ipv6Address host_ipv6(std::uint32_t host) {
  Ipv6Address address{0xfd, 0x78};
  address[14] = static_cast<std::uint8_t>(host >> 8);
  address[15] = static_cast<std::uint8_t>(host);
  return address;
}

FaultFrames::FaultFrames(const FaultOptions& options) : options_(options), data_(data_size + largest_packet) {
  Random random(options.seed ^ 0x5eed);
  for (std::uint8_t& byte : data_) {
    byte = static_cast<std::uint8_t>(random.number());
  }
}

std::uint32_t FaultFrames::interfaces(const FaultOptions& options) {
  return options.split_interfaces || options.mirror == Mirror::interface ? 2 : 1;
}

void FaultFrames::address(End sender, const Endpoints& endpoints, std::uint16_t ip_id, bool copy) {
  const auto from = static_cast<unsigned>(sender);
  const unsigned to = 1 - from;
  const bool routed = copy && options_.mirror == Mirror::hop;
  frame_.source_mac = routed ? router_mac : host_mac(endpoints.host[from]);
  frame_.destination_mac = host_mac(endpoints.host[to]);
  frame_.vlans.clear();
  if (marks_.vlan) {
    frame_.vlans.push_back({.pcp = marks_.pcp, .vid = *marks_.vlan});
  }
  const auto tos = static_cast<std::uint8_t>(marks_.dscp << 2 | marks_.ecn);
  if (copy && options_.mirror == Mirror::vlan) {
    frame_.vlans.push_back({.pcp = 3, .vid = 100});
  }
  const auto hops = static_cast<std::uint8_t>(marks_.ttl - (routed ? 1 : 0));
  if (options_.ipv6) {
    frame_.network = Ipv6{.source = host_ipv6(endpoints.host[from]),
                          .destination = host_ipv6(endpoints.host[to]),
                          .traffic_class = tos,
                          .hop_limit = hops};
  } else {
    frame_.network = Ipv4{.source = host_ipv4(endpoints.host[from]),
                          .destination = host_ipv4(endpoints.host[to]),
                          .tos = tos,
                          .id = ip_id,
                          .ttl = hops};
  }
  frame_.udp_source = endpoints.port;
  frame_.bth.dest_qp = endpoints.qp[to];
}

void FaultFrames::extend(const Packet& packet) {
  frame_.extended.clear();
  const std::uint32_t rkey = 0x1000U + packet.space * 0x101U;
  if (carries_reth(packet)) {
    frame_.extended.reth(packet.address, rkey, packet.dma_length);
  } else if (packet.kind == Kind::atomic_request) {
    frame_.extended.atomic(packet.address, rkey, 1, 0);
  } else if (carries_aeth(packet)) {
    frame_.extended.aeth(packet.syndrome, packet.msn);
    if (packet.kind == Kind::atomic_response) {
      frame_.extended.atomic_ack(packet.psn);
    }
  }
}

// One that the ICRC covers, from the BTH on: all but the BTH's fifth byte (IBTA 7.8.1).
void FaultFrames::flip_bit(std::uint32_t which) {
  constexpr std::size_t ethernet = 14, tag = 4, udp = 8, not_covered = 4;
  const std::size_t begin = ethernet + tag * frame_.vlans.size() + (options_.ipv6 ? 40 : 20) + udp;
  const std::size_t bit = which % (8 * (bytes_.size() - begin));
  const std::size_t byte = bit / 8 == not_covered ? bytes_.size() - 1 : begin + bit / 8;
  bytes_[byte] = static_cast<std::uint8_t>(bytes_[byte] ^ 1U << bit % 8);
}

// As a switch leaves a packet for which its queue had no room: another DSCP, and what fits.
void FaultFrames::trim(const Packet& packet) {
  const TrimOptions& how = options_.trim;
  constexpr std::size_t ethernet = 14, tag = 4, ipv4 = 20;
  std::uint8_t* const ip = bytes_.data() + ethernet + tag * frame_.vlans.size();
  const auto before_ip = static_cast<std::size_t>(ip - bytes_.data());
  if (packet.trimmed) {
    bytes_.resize(std::min<std::size_t>(bytes_.size(), how.size));
  }
  const bool renewed = !packet.trimmed || how.variant == TrimVariant::a;
  const auto put = [](std::uint8_t* at, std::size_t value) {
    at[0] = static_cast<std::uint8_t>(value >> 8U);
    at[1] = static_cast<std::uint8_t>(value);
  };
  if (options_.ipv6) {
    ip[0] = static_cast<std::uint8_t>((ip[0] & 0xf0U) | how.dscp >> 2U);
    ip[1] = static_cast<std::uint8_t>((ip[1] & 0x3fU) | (how.dscp & 3U) << 6U);
    if (packet.trimmed && renewed) {
      put(ip + 4, bytes_.size() - before_ip - 40);
    }
    return;
  }
  ip[1] = static_cast<std::uint8_t>((ip[1] & 3U) | how.dscp << 2U);
  if (!renewed) {
    return;
  }
  put(ip + 2, packet.trimmed ? bytes_.size() - before_ip : std::size_t{ip[2]} << 8U | ip[3]);
  put(ip + 10, 0);
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < ipv4; i += 2) {
    sum += static_cast<std::uint32_t>(ip[i] << 8U | ip[i + 1]);
  }
  sum = (sum & 0xffffU) + (sum >> 16U);
  put(ip + 10, ~((sum & 0xffffU) + (sum >> 16U)) & 0xffffU);
}

FaultFrame FaultFrames::make(const Packet& packet, const Endpoints& endpoints, bool copy) {
  address(sender_of(packet), endpoints, packet.ip_id, copy);
  frame_.bth.opcode = packet.opcode;
  frame_.bth.ack_request = packet.ack_request;
  frame_.bth.psn = packet.psn;
  extend(packet);
  const std::size_t offset = (std::size_t{packet.space} * 7919 + std::size_t{packet.psn} * 4099) % data_size;
  frame_.payload = std::span(data_).subspan(offset, packet.payload);
  build(frame_, bytes_);
  if (packet.damage != 0) {
    flip_bit(packet.damage);
  }
  if (packet.trimmed || packet.remarked) {
    trim(packet);
  }
  const bool a_to_b = sender_of(packet) == End::a;
  const bool second = options_.split_interfaces ? !a_to_b : copy && options_.mirror == Mirror::interface;
  return {.bytes = bytes_, .interface = second ? 1U : 0U};
}

FaultFrame FaultFrames::make_cnp(End sender, const Endpoints& endpoints, const FrameMarks& marks) {
  marks_ = marks;
  address(sender, endpoints, 0, false);
  frame_.bth =
      Bth{.opcode = cnp_opcode, .becn = true, .dest_qp = endpoints.qp[1 - static_cast<unsigned>(sender)]};
  frame_.extended.clear();
  frame_.extended.cnp_reserved();
  frame_.payload = {};
  build(frame_, bytes_);
  frame_.bth = {};
  return {.bytes = bytes_};
}

FaultFrame FaultFrames::make(CmMessage message, std::uint32_t connection, const Endpoints& endpoints) {
  const End sender = sender_of(message);
  CmFacts facts{.connection = connection};
  for (unsigned end = 0; end < 2; ++end) {
    facts.qp[end] = endpoints.qp[end];
    facts.first_psn[end] = endpoints.first_psn[end];
    if (options_.ipv6) {
      facts.gid[end] = host_ipv6(endpoints.host[end]);
    } else {
      const Ipv4Address ip = host_ipv4(endpoints.host[end]);
      facts.gid[end][10] = facts.gid[end][11] = 0xff;
      std::copy(ip.begin(), ip.end(), facts.gid[end].end() - 4);
    }
  }
  const auto mad = make_cm_mad(message, facts, options_);
  // The GSI counts its IDs and PSNs for itself, all hosts in one here.
  address(sender, endpoints, static_cast<std::uint16_t>(options_.ip_id == IdChoice::counter ? cm_psn_ : 0),
          false);
  frame_.udp_source = ud_source_port(cm_qp);
  frame_.bth = Bth{.opcode = ud_send_only_opcode, .dest_qp = cm_qp, .psn = cm_psn_++ & psn_mask};
  frame_.extended.clear();
  frame_.extended.deth(cm_qkey, cm_qp);
  frame_.payload = mad;
  build(frame_, bytes_);
  frame_.bth = {};
  return {.bytes = bytes_, .interface = options_.split_interfaces && sender == End::b ? 1U : 0U};
}

}  // namespace roce::support
