// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/packet_record.hpp"

#include <algorithm>

#include "analyze/record/fill_record.hpp"
#include "dissect/headers/tunnel.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

/// Bytes of a header that are equal for all packets of one path at one place: no checksums, sequence
/// numbers, times or hashed source ports.
struct PathBytes {
  HeaderId id;
  std::uint8_t begin;
  std::uint8_t end;
};
constexpr PathBytes path_bytes[] = {
    {HeaderId::mpls, 0, Mpls::size},
    {HeaderId::sll, Sll::pkttype.first_byte(), Sll::pkttype.end_byte()},
    {HeaderId::sll, Sll::eth.first_byte(), Sll::eth.end_byte()},
    {HeaderId::sll2, Sll2::ifindex.first_byte(), Sll2::ifindex.end_byte()},
    {HeaderId::sll2, Sll2::pkttype.first_byte(), Sll2::pkttype.end_byte()},
    {HeaderId::sll2, Sll2::eth.first_byte(), Sll2::eth.end_byte()},
    {HeaderId::gre_key, 0, GreKey::size},
    {HeaderId::erspan2, 0, Erspan2::size},
    {HeaderId::erspan3, 0, Erspan3::spanid.end_byte()},
    {HeaderId::vxlan, Vxlan::vni.first_byte(), Vxlan::vni.end_byte()},
    {HeaderId::vxlan_gpe, VxlanGpe::vni.first_byte(), VxlanGpe::vni.end_byte()},
    {HeaderId::geneve, Geneve::vni.first_byte(), Geneve::vni.end_byte()},
};

void add_network(PathHash& path, const Layer& layer, const std::uint8_t* p, bool innermost) noexcept {
  if (layer.id == HeaderId::ipv4) {
    path.add(read<Ipv4::ttl>(p));
    if (!innermost) path.add(p + Ipv4::src.first_byte(), Ipv4::dst.end_byte() - Ipv4::src.first_byte());
  } else if (layer.id == HeaderId::ipv6 || layer.id == HeaderId::grh) {
    path.add(read<Ipv6::hlim>(p));
    if (!innermost) path.add(p + Ipv6::src.first_byte(), Ipv6::dst.end_byte() - Ipv6::src.first_byte());
  }
}

/// The addresses of the innermost network header belong to the flow; all else before the transport is path.
std::uint32_t path_of(const capture::Frame& frame, const Dissection& d) noexcept {
  PathHash path(frame.point);
  for (std::size_t i = 0; i <= d.network; ++i) {
    const Layer& layer = d.layers[i];
    const std::uint8_t* p = frame.data + layer.offset;
    if (layer.id == HeaderId::ethernet) path.add_macs(p);
    if (layer.id == HeaderId::vlan || layer.id == HeaderId::service_vlan) path.add_tag(p);
    for (const PathBytes& row : path_bytes) {
      if (row.id == layer.id) path.add(p + row.begin, std::size_t{row.end} - row.begin);
    }
    if (layer.id == HeaderId::erf) path.add(read<Erf::interface_id>(p));
    add_network(path, layer, p, i == d.network);
  }
  return path.value();
}

/// The sender's MAC address, if there is no tunnel between the link header and the network header; with one
/// it is the address of another device.
std::uint64_t source_mac_of(const std::uint8_t* base, const Dissection& d) noexcept {
  for (std::size_t i = d.network; i-- > 0;) {
    const std::uint8_t* p = base + d.layers[i].offset;
    switch (d.layers[i].id) {
      case HeaderId::vlan:
      case HeaderId::service_vlan:
      case HeaderId::csig:
        continue;
      case HeaderId::ethernet:
        return read<Ethernet::src>(p);
      case HeaderId::sll:
        return Sll::eth.present(p) ? read<Sll::eth>(p) : 0;
      case HeaderId::sll2:
        return Sll2::eth.present(p) ? read<Sll2::eth>(p) : 0;
      default:
        return 0;
    }
  }
  return 0;
}

/// Whether the length fields agree on the size of the packet.
bool lengths_agree(const Dissection& d) noexcept {
  return !d.has(Note::fragmented) && !d.has(Note::zero_ip_length) && !d.has(Note::udp_length_mismatch) &&
         d.stop != Stop::contradicts_itself;
}

}  // namespace

std::uint8_t traffic_class_of(const std::uint8_t* frame, const Dissection& d) noexcept {
  const Layer& network = d.layers[d.network];
  return traffic_class_at(network.id, frame + network.offset);
}

FlowKey ends_of(const std::uint8_t* frame, const Dissection& d) noexcept {
  const Layer& network = d.layers[d.network];
  return std::bit_cast<FlowKey>(
      key_words(network.id, frame + network.offset, frame + d.layers[d.bth].offset, d.transport));
}

void make_record(const capture::Frame& frame, const Dissection& d, PacketRecord& record) noexcept {
  record.flags = 0;
  record.more = 0;
  if (!d.is_transport() || d.network == Dissection::none) return;
  const auto at = [&](std::uint8_t layer) { return frame.data + d.layers[layer].offset; };
  const auto find = [&](HeaderId id) -> const std::uint8_t* {
    const Layer* layer = d.find(id);
    return layer != nullptr ? frame.data + layer->offset : nullptr;
  };
  RecordParts parts;
  parts.network_id = d.layers[d.network].id;
  parts.transport = d.transport;
  parts.network = at(d.network);
  if (d.udp != Dissection::none) parts.udp = at(d.udp);
  if (d.vlan != Dissection::none) parts.vlan = at(d.vlan);
  parts.bth = at(d.bth);
  const OpcodeInfo& info = opcode_info(read<Bth::opcode>(parts.bth));
  if (info.remote_offset != OpcodeInfo::absent)
    parts.remote = find(info.atomic ? HeaderId::atomiceth : HeaderId::reth);
  if (info.aeth_offset != OpcodeInfo::absent) parts.aeth = find(HeaderId::aeth);
  parts.payload = frame.data + std::min(d.payload_offset, d.captured_end);
  const std::uint32_t end = std::min({d.payload_offset + d.payload_length, d.declared_end, d.captured_end});
  parts.payload_there = end > d.payload_offset ? end - d.payload_offset : 0;
  parts.payload_length = d.payload_length;
  parts.source_mac = source_mac_of(frame.data, d);
  parts.path = path_of(frame, d);
  parts.fragmented = d.has(Note::fragmented);
  parts.lengths_agree = lengths_agree(d);
  fill_record(frame, parts, record);
  if (parts.udp != nullptr && read<Bth::tver>(parts.bth) != 0)
    record.more = static_cast<std::uint8_t>(record.more | PacketRecord::other_version);
  if (d.has(Note::trimmed)) {
    record.icrc = PacketRecord::trimmed_away;
  } else if (d.has(Note::cut_on_the_way)) {
    record.icrc = PacketRecord::cut_away;
  }
}

}  // namespace roce::analyze
