// SPDX-License-Identifier: Apache-2.0
#include "analyze/packet_record.hpp"

#include <algorithm>

#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/opcode.hpp"
#include "dissect/ulp.hpp"

namespace roce::analyze {

using namespace dissect;

std::uint64_t FlowKey::hash() const noexcept {
  // Five words, each multiplied into the rest (the finisher of MurmurHash3 between them).
  std::uint64_t words[sizeof(FlowKey) / 8];
  std::memcpy(words, this, sizeof words);
  std::uint64_t h = 0x9e3779b97f4a7c15U;
  for (const std::uint64_t word : words) {
    h = (h ^ word) * 0xff51afd7ed558ccdU;
    h ^= h >> 32U;
  }
  return h;
}

namespace {

/// A LID in place of an address, for native frames without GRH.
IpAddress lid_address(std::uint16_t lid) noexcept {
  IpAddress address;
  address.bytes[14] = static_cast<std::uint8_t>(lid >> 8U);
  address.bytes[15] = static_cast<std::uint8_t>(lid & 0xffU);
  return address;
}

void take_addresses(const Layer& layer, const std::uint8_t* p, FlowKey& key) noexcept {
  switch (layer.id) {
    case HeaderId::ipv4:
      key.src = IpAddress::v4(p + Ipv4::src.first_byte());
      key.dst = IpAddress::v4(p + Ipv4::dst.first_byte());
      break;
    case HeaderId::ipv6:
    case HeaderId::grh:  // the GRH has the layout of IPv6
      key.src = IpAddress::v6(p + Ipv6::src.first_byte());
      key.dst = IpAddress::v6(p + Ipv6::dst.first_byte());
      break;
    default:
      key.src = lid_address(read<Lrh::slid>(p));
      key.dst = lid_address(read<Lrh::dlid>(p));
      break;
  }
}

}  // namespace

std::uint8_t traffic_class_of(const std::uint8_t* frame, const Dissection& d) noexcept {
  const Layer& network = d.layers[d.network];
  const std::uint8_t* p = frame + network.offset;
  if (network.id == HeaderId::ipv4) return read<Ipv4::dsfield>(p);
  return network.id == HeaderId::lrh ? std::uint8_t{0} : read<Ipv6::tclass>(p);
}

FlowKey ends_of(const std::uint8_t* frame, const Dissection& d) noexcept {
  FlowKey key;
  const Layer& network = d.layers[d.network];
  take_addresses(network, frame + network.offset, key);
  key.dst_qp = read<Bth::destqp>(frame + d.layers[d.bth].offset);
  key.transport = d.transport;
  return key;
}

void make_record(const capture::Frame& frame, const Dissection& d, PacketRecord& record) noexcept {
  record.flags = 0;
  if (!d.is_transport() || d.network == Dissection::none) return;
  const std::uint8_t* base = frame.data;
  record.key = ends_of(base, d);
  record.traffic_class = traffic_class_of(base, d);

  const std::uint8_t* bth = base + d.layers[d.bth].offset;
  const OpcodeInfo& info = opcode_info(read<Bth::opcode>(bth));
  unsigned flags = PacketRecord::valid;
  record.key_hash = record.key.hash();
  record.time_ns = frame.time_ns;
  record.wire = frame.wire;
  record.psn = read<Bth::psn>(bth);
  record.opcode = read<Bth::opcode>(bth);
  record.interface = frame.interface;
  if (read<Bth::a>(bth) != 0) flags |= PacketRecord::ack_requested;
  if (read<Bth::fecn>(bth) != 0) flags |= PacketRecord::fecn;
  if (read<Bth::becn>(bth) != 0) flags |= PacketRecord::becn;

  const std::uint32_t pad = read<Bth::padcnt>(bth);
  record.payload = info.has_payload && d.payload_length >= pad ? d.payload_length - pad : 0;

  record.upper = 0;
  if (info.operation == Operation::send && info.starts_message() && info.service == Service::rc) {
    const std::uint32_t end = std::min(d.payload_offset + record.payload, d.captured_end);
    if (end > d.payload_offset) {
      record.upper = static_cast<std::uint8_t>(recognise({base + d.payload_offset, end - d.payload_offset}));
    }
  }

  record.aeth = 0;
  if (info.response && (info.headers_size != 0)) {
    if (const Layer* aeth = d.find(HeaderId::aeth)) {
      record.aeth = load_be32(base + aeth->offset);
      flags |= PacketRecord::has_aeth;
    }
  }
  record.udp_source = 0;
  if (d.udp != Dissection::none) {
    record.udp_source = read<Udp::srcport>(base + d.layers[d.udp].offset);
    flags |= PacketRecord::has_ports;
  }
  record.vlan_id = 0;
  record.pcp = 0;
  if (d.vlan != Dissection::none) {
    // Customer and service tags share their layout.
    const std::uint8_t* tag = base + d.layers[d.vlan].offset;
    record.vlan_id = read<Vlan::vid>(tag);
    record.pcp = read<Vlan::priority>(tag);
    flags |= PacketRecord::tagged;
  }
  record.flags = static_cast<std::uint8_t>(flags);
}

}  // namespace roce::analyze
