// SPDX-License-Identifier: Apache-2.0
#include "analyze/mrc/mrc_packet.hpp"

#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/mrc.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

/// `offset` is signed, of 16 bits.
std::uint32_t psn_at(std::uint32_t psn, std::uint16_t offset) noexcept {
  return (psn + static_cast<std::uint32_t>(static_cast<std::int16_t>(offset))) & mrc_psn_mask;
}

void read_sack(const std::uint8_t* p, MrcPacket& packet) noexcept {
  packet.ev = read<MrcSeth::ev>(p);
  packet.cack = read<MrcSeth::cack_psn>(p);
  packet.of_probe = MrcSeth::of_probe(p);
  if (packet.of_probe) {
    packet.probe_id = read<MrcSeth::probe_id>(p);
  } else {
    packet.ack_psn = psn_at(packet.cack, read<MrcSeth::ack_psn_offset>(p));
  }
  packet.first_bit = psn_at(packet.cack, read<MrcSeth::sack_offset>(p));
  packet.bitmap = read<MrcSeth::bitmap>(p);
  packet.hint = read<MrcSeth::m>(p);
  packet.mpr = read<MrcSeth::mpr>(p);
  if (MrcSeth::has_state(p)) packet.out_of_order = read<MrcSeth::ooo_count>(p);
}

}  // namespace

bool make_mrc_packet(const capture::Frame& frame, const Dissection& d, const PacketRecord& record,
                     MrcPacket& packet) noexcept {
  const OpcodeInfo& info = opcode_info(record.opcode);
  if (!record.has(PacketRecord::valid) || info.service != Service::mrc) return false;
  packet.key = record.key;
  packet.time_ns = record.time_ns;
  packet.wire = record.wire;
  packet.payload = record.payload;
  packet.psn = record.psn;
  packet.udp_source = record.udp_source;
  if (record.has(PacketRecord::has_ip_id)) packet.ip_id = record.ip_id;
  packet.opcode = record.opcode;
  packet.traffic_class = record.traffic_class;
  packet.icrc = record.icrc;
  packet.aeth = record.aeth;
  packet.place = record.path;
  packet.rtx = read<Bth::rtx>(frame.data + d.layers[d.bth].offset) != 0;
  const Layer& network = d.layers[d.network];
  if (network.id == HeaderId::ipv6)
    packet.flow_label = static_cast<std::uint16_t>(read<Ipv6::flow>(frame.data + network.offset));
  const auto find = [&](HeaderId id) -> const std::uint8_t* {
    const Layer* layer = d.find(id);
    packet.whole = packet.whole || layer != nullptr;
    return layer != nullptr ? frame.data + layer->offset : nullptr;
  };
  switch (info.operation) {
    case Operation::sack:
      if (const std::uint8_t* p = find(HeaderId::mrc_seth)) read_sack(p, packet);
      break;
    case Operation::nack:
      if (const std::uint8_t* p = find(HeaderId::mrc_neth)) {
        packet.ev = read<MrcNeth::ev>(p);
        packet.ack_psn = read<MrcNeth::nack_psn>(p);
        packet.reason = read<MrcNeth::reason>(p);
      }
      break;
    case Operation::probe:
      if (const std::uint8_t* p = find(HeaderId::mrc_peth)) packet.probe_id = read<MrcPeth::probe_id>(p);
      break;
    case Operation::acknowledge:
      packet.whole = record.has(PacketRecord::has_aeth);
      break;
    default:
      break;
  }
  return true;
}

}  // namespace roce::analyze
