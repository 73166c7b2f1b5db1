// SPDX-License-Identifier: Apache-2.0
#include "analyze/packet_record.hpp"

#include <algorithm>

#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/tunnel.hpp"
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

/// What tells one place of capture from another, mixed to 32 bits.
class PathHash {
 public:
  explicit PathHash(std::uint32_t interface) noexcept : state_(0x9e3779b97f4a7c15U ^ interface) {}
  void add(std::uint64_t word) noexcept {
    state_ = (state_ ^ word) * 0xff51afd7ed558ccdU;
    state_ ^= state_ >> 32U;
  }
  void add(const std::uint8_t* bytes, std::size_t size) noexcept {
    for (std::size_t i = 0; i < size; i += 8) add(load_be(bytes + i, std::min<std::size_t>(8, size - i)));
  }
  [[nodiscard]] std::uint32_t value() const noexcept { return static_cast<std::uint32_t>(state_); }

 private:
  std::uint64_t state_;
};

/// Bytes of a header that are the same for all packets that took one way past one place: no
/// checksums, sequence numbers, times or ports chosen by a hash.
struct PathBytes {
  HeaderId id;
  std::uint8_t begin;
  std::uint8_t end;
};
constexpr PathBytes path_bytes[] = {
    {HeaderId::ethernet, Ethernet::dst.first_byte(), Ethernet::src.end_byte()},
    {HeaderId::vlan, 0, Vlan::vid.end_byte()},
    {HeaderId::service_vlan, 0, ServiceVlan::vid.end_byte()},
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

/// The innermost network header's addresses are the flow's; all else before the transport is its way.
std::uint32_t path_of(const capture::Frame& frame, const Dissection& d) noexcept {
  PathHash path(frame.interface);
  for (std::size_t i = 0; i <= d.network; ++i) {
    const Layer& layer = d.layers[i];
    const std::uint8_t* p = frame.data + layer.offset;
    for (const PathBytes& row : path_bytes) {
      if (row.id == layer.id) path.add(p + row.begin, std::size_t{row.end} - row.begin);
    }
    if (layer.id == HeaderId::erf) path.add(read<Erf::interface_id>(p));
    add_network(path, layer, p, i == d.network);
  }
  return path.value();
}

/// The sender's address on the link, if its link header carries the network header without a tunnel
/// between them; else it is another machine's.
std::uint64_t source_mac_of(const std::uint8_t* base, const Dissection& d) noexcept {
  for (std::size_t i = d.network; i-- > 0;) {
    const std::uint8_t* p = base + d.layers[i].offset;
    switch (d.layers[i].id) {
      case HeaderId::vlan:
      case HeaderId::service_vlan:
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

/// Fills in what RETH or AtomicETH say; returns whether there is one, whole.
bool take_reth(const std::uint8_t* base, const Dissection& d, const OpcodeInfo& info,
               PacketRecord& record) noexcept {
  record.virtual_address = 0;
  record.r_key = 0;
  record.dma_length = 0;
  if (info.response || info.headers_size < Reth::size) return false;
  if (const Layer* reth = d.find(HeaderId::reth)) {
    const std::uint8_t* p = base + reth->offset;
    record.virtual_address = read<Reth::va>(p);
    record.r_key = read<Reth::r_key>(p);
    record.dma_length = read<Reth::dmalen>(p);
    return true;
  }
  if (const Layer* atomic = d.find(HeaderId::atomiceth)) {
    const std::uint8_t* p = base + atomic->offset;
    record.virtual_address = read<AtomicEth::va>(p);
    record.r_key = read<AtomicEth::r_key>(p);
    record.dma_length = PacketRecord::atomic_bytes;
    return true;
  }
  return false;
}

/// Whether the lengths leave no doubt how many bytes the sender put into the packet.
bool lengths_agree(const Dissection& d, std::uint32_t pad) noexcept {
  return !d.has(Note::fragmented) && !d.has(Note::zero_ip_length) && !d.has(Note::udp_length_mismatch) &&
         d.stop != Stop::contradicts_itself && d.payload_length >= pad;
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
  record.more = 0;
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
  unsigned more = 0;
  if (take_reth(base, d, info, record)) more |= PacketRecord::has_reth;
  if (d.has(Note::fragmented)) more |= PacketRecord::fragmented;
  if (lengths_agree(d, pad)) more |= PacketRecord::payload_whole;
  record.ip_id = 0;
  if (d.layers[d.network].id == HeaderId::ipv4) {
    const std::uint8_t* ip = base + d.layers[d.network].offset;
    record.ip_id = read<Ipv4::ident>(ip);
    more |= PacketRecord::has_ip_id;
    if (read<Ipv4::df>(ip) != 0) more |= PacketRecord::dont_fragment;
  }
  record.source_mac = source_mac_of(base, d);
  record.path = path_of(frame, d);

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
  record.more = static_cast<std::uint8_t>(more);
}

}  // namespace roce::analyze
