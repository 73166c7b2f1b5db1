// SPDX-License-Identifier: Apache-2.0
#include "analyze/packet/packet_facts.hpp"

#include <algorithm>

#include "dissect/enum_names.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {

using dissect::Dissection;
using dissect::HeaderId;

const std::uint8_t* find_header(const PacketView& packet, HeaderId id) noexcept {
  const dissect::Layer* layer = packet.dissection->find(id);
  return layer == nullptr ? nullptr : packet.frame->data + layer->offset;
}

std::optional<std::uint8_t> traffic_class(const PacketView& packet) noexcept {
  const std::uint8_t network = packet.dissection->network;
  if (network == Dissection::none) return std::nullopt;
  const std::uint8_t* p = layer_bytes(packet, network);
  switch (packet.dissection->layers[network].id) {
    case HeaderId::ipv4:
      return dissect::read<dissect::Ipv4::dsfield>(p);
    case HeaderId::ipv6:
      return dissect::read<dissect::Ipv6::tclass>(p);
    case HeaderId::grh:
      return dissect::read<dissect::Grh::tclass>(p);
    default:
      return std::nullopt;
  }
}

std::optional<std::uint8_t> priority_code_point(const PacketView& packet) noexcept {
  const std::uint8_t vlan = packet.dissection->vlan;
  if (vlan == Dissection::none) return std::nullopt;
  return dissect::read<dissect::Vlan::priority>(layer_bytes(packet, vlan));  // as in the service tag
}

std::optional<std::uint16_t> vlan_id(const PacketView& packet) noexcept {
  const std::uint8_t vlan = packet.dissection->vlan;
  if (vlan == Dissection::none) return std::nullopt;
  return dissect::read<dissect::Vlan::vid>(layer_bytes(packet, vlan));
}

namespace {

Endpoints ends_at(const PacketView& packet, std::uint8_t network) noexcept {
  const auto make = [](const std::uint8_t* p, const dissect::Field& source,
                       const dissect::Field& destination) {
    return Endpoints{{p + source.first_byte(), source.bits / 8U},
                     {p + destination.first_byte(), destination.bits / 8U}};
  };
  if (network == Dissection::none) return {};
  const std::uint8_t* p = layer_bytes(packet, network);
  switch (packet.dissection->layers[network].id) {
    case HeaderId::ipv4:
      return make(p, dissect::Ipv4::src, dissect::Ipv4::dst);
    case HeaderId::ipv6:
      return make(p, dissect::Ipv6::src, dissect::Ipv6::dst);
    case HeaderId::grh:
      return make(p, dissect::Grh::sgid, dissect::Grh::dgid);
    default:
      return {};
  }
}

}  // namespace

Endpoints endpoints(const PacketView& packet) noexcept {
  return ends_at(packet, packet.dissection->network);
}

Endpoints outer_ends(const PacketView& packet) noexcept {
  return ends_at(packet, outer_network(*packet.dissection));
}

std::optional<Undissected> undissected(const PacketView& packet) noexcept {
  const Dissection& d = *packet.dissection;
  if (d.stop != dissect::Stop::unknown_protocol || d.layer_count == 0) return std::nullopt;
  const dissect::Layer& last = d.layers[d.layer_count - 1U];
  constexpr std::uint16_t min_ethertype = 0x600;  // IEEE 802.3, 3.2.6
  Undissected rest;
  rest.number = d.unknown_type;
  if (last.id == HeaderId::udp) {
    rest.kind = UnknownNumber::udp_port;
  } else if (last.id >= HeaderId::ipv4 && last.id <= HeaderId::ipv6_destination_options) {
    rest.kind = UnknownNumber::ip_protocol;
  } else if (last.id <= HeaderId::service_vlan && d.unknown_type < min_ethertype) {
    rest.kind = UnknownNumber::llc_length;
    rest.number = 0;
  } else if (last.id <= HeaderId::sll2 || last.id == HeaderId::gre || last.id == HeaderId::geneve) {
    rest.kind = UnknownNumber::ethertype;
  }
  // The ethertype of the inner frame is between the MACsec layer and what it names.
  const std::size_t gap = last.id == HeaderId::macsec ? sizeof(std::uint16_t) : 0;
  const std::size_t begin = last.offset + std::size_t{last.length} + gap;
  const std::size_t end = std::min(d.captured_end, d.declared_end);
  if (begin < end) rest.bytes = packet.bytes().subspan(begin, end - begin);
  return rest;
}

std::uint32_t message_bytes(const PacketView& packet) noexcept {
  const std::uint8_t* bth = bth_of(packet);
  if (bth == nullptr) return 0;
  const dissect::OpcodeInfo& info = dissect::opcode_info(dissect::read<dissect::Bth::opcode>(bth));
  if (info.operation == dissect::Operation::cnp) return 0;
  const std::uint32_t length = packet.dissection->payload_length;
  const std::uint32_t pad = dissect::read<dissect::Bth::padcnt>(bth);
  return length > pad ? length - pad : 0;
}

std::string_view version_name(dissect::Transport transport) noexcept {
  using enum dissect::Transport;
  static constexpr EnumNames<dissect::Transport, 5> names({{none, ""},
                                                           {roce_v1, "v1"},
                                                           {roce_v2_ipv4, "v2_ipv4"},
                                                           {roce_v2_ipv6, "v2_ipv6"},
                                                           {native_ib, "native_ib"}});
  return names[transport];
}

std::string_view upper_layer_name(HeaderId id) noexcept {
  struct Range {
    HeaderId first, last;
    std::string_view name;
  };
  constexpr Range ranges[] = {
      {HeaderId::mad, HeaderId::mad, "MAD"},
      {HeaderId::cm_req, HeaderId::ip_cm, "CM"},
      {HeaderId::nvme_rdma_request, HeaderId::nvme_completion, "NVMe-oF"},
      {HeaderId::iser, HeaderId::iscsi, "iSER"},
      {HeaderId::rpc_rdma, HeaderId::rpc_reply, "NFS/RDMA"},
      {HeaderId::smb_direct, HeaderId::smb_direct_data, "SMB Direct"},
  };
  for (const Range& range : ranges) {
    if (id >= range.first && id <= range.last) return range.name;
  }
  return {};
}

std::string_view upper_layer_of(const PacketView& packet) noexcept {
  const auto layers = packet.dissection->all();
  for (std::size_t i = layers.size(); i-- > 0;) {
    if (layers[i].sampled) continue;
    const std::string_view name = upper_layer_name(layers[i].id);
    if (!name.empty()) return name;
  }
  return {};
}

}  // namespace roce::analyze
