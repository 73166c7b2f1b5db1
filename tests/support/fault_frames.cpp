// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fault_frames.hpp"

#include "tests/support/fault_opcodes.hpp"

namespace roce::support {
namespace {

constexpr std::uint8_t tos = 26 << 2 | 2;  // DSCP 26, ECT(0)
constexpr std::uint8_t hop_limit = 64;
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

void FaultFrames::address(const Packet& packet, const Endpoints& endpoints, bool copy) {
  const auto from = static_cast<unsigned>(sender_of(packet));
  const unsigned to = 1 - from;
  const bool routed = copy && options_.mirror == Mirror::hop;
  frame_.source_mac = routed ? router_mac : host_mac(endpoints.host[from]);
  frame_.destination_mac = host_mac(endpoints.host[to]);
  frame_.vlans.clear();
  if (copy && options_.mirror == Mirror::vlan) {
    frame_.vlans.push_back({.pcp = 3, .vid = 100});
  }
  const std::uint8_t hops = routed ? hop_limit - 1 : hop_limit;
  if (options_.ipv6) {
    frame_.network = Ipv6{.source = host_ipv6(endpoints.host[from]),
                          .destination = host_ipv6(endpoints.host[to]),
                          .traffic_class = tos,
                          .hop_limit = hops};
  } else {
    frame_.network = Ipv4{.source = host_ipv4(endpoints.host[from]),
                          .destination = host_ipv4(endpoints.host[to]),
                          .tos = tos,
                          .id = packet.ip_id,
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

FaultFrame FaultFrames::make(const Packet& packet, const Endpoints& endpoints, bool copy) {
  address(packet, endpoints, copy);
  frame_.bth.opcode = packet.opcode;
  frame_.bth.ack_request = packet.ack_request;
  frame_.bth.psn = packet.psn;
  extend(packet);
  const std::size_t offset = (std::size_t{packet.space} * 7919 + std::size_t{packet.psn} * 4099) % data_size;
  frame_.payload = std::span(data_).subspan(offset, packet.payload);
  build(frame_, bytes_);
  const bool a_to_b = sender_of(packet) == End::a;
  const bool second = options_.split_interfaces ? !a_to_b : copy && options_.mirror == Mirror::interface;
  return {.bytes = bytes_, .interface = second ? 1U : 0U};
}

}  // namespace roce::support
