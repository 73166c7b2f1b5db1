// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/fast_record.hpp"

#include "analyze/record/common_frame.hpp"
#include "analyze/record/fill_record.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

/// The extended header of `size` bytes, `offset` bytes after the BTH; nullptr if it is absent or truncated.
[[gnu::always_inline]] inline const std::uint8_t* extended(const std::uint8_t* frame,
                                                           std::uint32_t behind_bth, std::uint32_t offset,
                                                           std::uint32_t size,
                                                           std::uint32_t available) noexcept {
  const std::uint32_t begin = behind_bth + offset;
  return offset == OpcodeInfo::absent || begin + size > available ? nullptr : frame + begin;
}

/// Fills `parts` and `facts` for a frame that Plain accepts, without what only a whole record needs. False if
/// the frame needs the general path.
template <class Plain>
[[gnu::always_inline]] inline bool lay_out(const capture::Frame& frame, PlainStart start, RecordParts& parts,
                                           FastFrame& facts) noexcept {
  constexpr std::uint32_t network_size = Plain::Header::size, udp_size = Udp::size, bth_size = Bth::size,
                          icrc_size = Icrc::size;
  const std::uint32_t udp = start.network + network_size;
  const std::uint32_t bth = udp + udp_size;
  const std::uint32_t behind_bth = bth + bth_size;
  const std::uint8_t* const base = frame.data;
  const std::uint8_t* const ip = base + start.network;

  // The lengths must be consistent and cover the headers; otherwise the frame gets a diagnostic.
  const std::uint32_t ip_end = start.network + Plain::length(ip);
  const std::uint32_t end = udp + read<Udp::length>(base + udp);
  if (ip_end > frame.wire || end > ip_end) return false;
  const OpcodeInfo& info = opcode_info(read<Bth::opcode>(base + bth));
  const std::uint32_t payload = behind_bth + info.headers_size;
  if (end < payload + icrc_size || !info.defined || info.variable) return false;

  const std::uint32_t icrc = end - icrc_size;
  const std::uint32_t available = std::min(frame.captured, icrc);
  parts.vlan = start.vlan;
  parts.network_id = Plain::Header::id;
  parts.transport = Plain::transport;
  parts.network = ip;
  parts.udp = base + udp;
  parts.bth = base + bth;
  parts.remote = extended(base, behind_bth, info.remote_offset, info.remote_size, available);
  parts.aeth = extended(base, behind_bth, info.aeth_offset, Aeth::size, available);
  parts.payload_there = available > payload ? available - payload : 0;
  parts.payload = base + std::min(payload, available);
  parts.payload_length = icrc - payload;

  facts.marks.traffic_class = traffic_class_at(Plain::Header::id, ip);
  facts.marks.transport = static_cast<std::uint8_t>(Plain::transport);
  facts.marks.priority =
      start.vlan != nullptr ? read<Vlan::priority>(start.vlan) : Totals::Marks::untagged_priority;
  facts.cut = frame.captured < end;
  facts.icrc_place.network_id = Plain::Header::id;
  facts.icrc_place.network = start.network;
  facts.icrc_place.udp = udp;
  facts.icrc_place.bth = bth;
  facts.icrc_place.icrc = icrc;
  return true;
}

/// make_record_fast() of a plain frame.
struct TakeRecord {
  PacketRecord& record;
  FastFrame& facts;

  template <class Plain, bool /*Tagged*/>
  [[gnu::always_inline]] bool take(const capture::Frame& frame, PlainStart start) const noexcept {
    if (!is_plain<Plain>(frame, start)) return false;
    const std::uint8_t* const base = frame.data;
    const std::uint8_t* const ip = base + start.network;
    RecordParts parts;
    if (!lay_out<Plain>(frame, start, parts, facts)) return false;
    PathHash path(frame.point);
    path.add_macs(base);
    for (std::uint32_t tag = Ethernet::size; tag < start.network; tag += Vlan::size) path.add_tag(base + tag);
    path.add(Plain::hops(ip));
    parts.path = path.value();
    parts.source_mac = read<Ethernet::src>(base);
    fill_record(frame, parts, record);
    return true;
  }
};

}  // namespace

bool fast_way_exists(const Options& options) noexcept {
  return options.roce_ip_protocol != ip_proto_udp;
}

bool make_record_fast(const capture::Frame& frame, PacketRecord& record, FastFrame& facts) noexcept {
  return take_frame(frame, TakeRecord{record, facts});
}

}  // namespace roce::analyze
