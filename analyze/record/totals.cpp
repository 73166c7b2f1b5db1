// SPDX-License-Identifier: Apache-2.0
#include "analyze/record/totals.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dissect/enum_names.hpp"
#include "dissect/fast_cnp.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"
#include "dissect/headers/other_transport.hpp"
#include "dissect/opcode.hpp"

namespace roce::analyze {

using namespace dissect;

namespace {

/// What is named by its last header; count_: nothing.
OtherTraffic classify_named(HeaderId last, bool encrypted) noexcept {
  switch (last) {
    case HeaderId::esp:
      return OtherTraffic::esp;
    case HeaderId::psp:
      return OtherTraffic::psp;
    case HeaderId::macsec:
      return encrypted ? OtherTraffic::macsec : OtherTraffic::count_;
    case HeaderId::uet:
    case HeaderId::uet_request:
    case HeaderId::uet_ack:
    case HeaderId::uet_nack:
      return OtherTraffic::uet;
    case HeaderId::falcon:
      return OtherTraffic::falcon;
    case HeaderId::veroce:
      return OtherTraffic::veroce;
    default:
      return OtherTraffic::count_;
  }
}

OtherTraffic classify(const Dissection& d) noexcept {
  if (d.layer_count == 0) return OtherTraffic::unreadable;
  const HeaderId last = d.layers[d.layer_count - 1U].id;
  if (const OtherTraffic named = classify_named(last, d.stop == Stop::encrypted);
      named != OtherTraffic::count_)
    return named;
  if (d.network != Dissection::none) {
    const HeaderId network = d.layers[d.network].id;
    if (network == HeaderId::lrh || network == HeaderId::grh) return OtherTraffic::infiniband_link;
    if (d.udp != Dissection::none) return OtherTraffic::udp;
    if (d.stop != Stop::unknown_protocol) return OtherTraffic::other_ip;
    switch (d.unknown_type) {
      case ip_proto_tcp:
        return OtherTraffic::tcp;
      case ip_proto_icmp:
      case ip_proto_icmpv6:
        return OtherTraffic::icmp;
      default:
        return OtherTraffic::other_ip;
    }
  }
  for (const Layer& layer : d.all()) {
    switch (layer.id) {
      case HeaderId::mac_pause:
      case HeaderId::mac_pfc:
      case HeaderId::mac_control:
        return OtherTraffic::mac_control;
      case HeaderId::lldp_chassis_id:
        return OtherTraffic::lldp;
      default:
        break;
    }
  }
  if (d.stop == Stop::unknown_protocol) {
    if (d.unknown_type == ethertype_arp) return OtherTraffic::arp;
    if (d.unknown_type == 0) return OtherTraffic::llc;
    return OtherTraffic::other_ethertype;
  }
  if (d.stop == Stop::cut_by_capture || d.stop == Stop::contradicts_itself) return OtherTraffic::unreadable;
  return d.find(HeaderId::erf) != nullptr ? OtherTraffic::infiniband_link : OtherTraffic::other_ethertype;
}

struct NoteRow {
  Note note;
  DiagnosticId id;
};
constexpr NoteRow note_rows[] = {
    {Note::short_roce_datagram, DiagnosticId::short_roce_datagram},
    {Note::only_source_port, DiagnosticId::only_source_port},
    {Note::fragmented, DiagnosticId::fragment},
    {Note::cut_on_the_way, DiagnosticId::cut_on_the_way},
    {Note::udp_length_mismatch, DiagnosticId::udp_length_mismatch},
    {Note::zero_ip_length, DiagnosticId::zero_ip_length},
    {Note::unknown_opcode, DiagnosticId::unknown_opcode},
    {Note::transport_version, DiagnosticId::transport_version},
    {Note::cut_before_bth, DiagnosticId::cut_before_bth},
    {Note::trimmed, DiagnosticId::trimmed},
};
static_assert(sizeof note_rows / sizeof note_rows[0] == static_cast<std::size_t>(Note::count_));

void count_stop(const Dissection& d, DiagnosticCounts& counts) noexcept {
  switch (d.stop) {
    case Stop::cut_by_capture:
      if (!d.has(Note::cut_on_the_way) && !d.has(Note::cut_before_bth))
        counts.add(DiagnosticId::cut_by_capture);
      break;
    case Stop::contradicts_itself:
      counts.add(DiagnosticId::contradicts_itself);
      break;
    case Stop::too_deep:
      counts.add(DiagnosticId::too_deep);
      break;
    case Stop::unknown_link_type:
      counts.add(DiagnosticId::unknown_link_type);
      break;
    case Stop::encrypted:
      // A whole link is hidden. Of ESP and the like the finding `encrypted` tells: it may have nothing to do
      // with RoCE.
      if (d.find(HeaderId::macsec) != nullptr) counts.add(DiagnosticId::encrypted);
      break;
    case Stop::complete:
    case Stop::trimmed:
    case Stop::unknown_protocol:
    case Stop::fragment:
      break;
  }
}

/// Each thread kept its own first numbers, so the lowest of the union are the first of all.
void keep_first(std::vector<std::uint64_t>& numbers, const std::vector<std::uint64_t>& others) {
  if (numbers.size() == Totals::kept_mismatches && !others.empty() && others.front() > numbers.back()) return;
  numbers.insert(numbers.end(), others.begin(), others.end());
  std::sort(numbers.begin(), numbers.end());
  if (numbers.size() > Totals::kept_mismatches) numbers.resize(Totals::kept_mismatches);
}

}  // namespace

std::string_view other_traffic_name(OtherTraffic kind) noexcept {
  using enum OtherTraffic;
  static constexpr EnumNames<OtherTraffic, 18> names({{tcp, "tcp"},
                                                      {udp, "udp"},
                                                      {icmp, "icmp"},
                                                      {other_ip, "other_ip"},
                                                      {arp, "arp"},
                                                      {lldp, "lldp"},
                                                      {mac_control, "mac_control"},
                                                      {llc, "llc"},
                                                      {other_ethertype, "other_ethertype"},
                                                      {infiniband_link, "infiniband_link"},
                                                      {unreadable, "unreadable"},
                                                      {esp, "esp"},
                                                      {psp, "psp"},
                                                      {macsec, "macsec"},
                                                      {uet, "uet"},
                                                      {falcon, "falcon"},
                                                      {veroce, "veroce"},
                                                      {udp_port_4791_not_roce, "udp_port_4791_not_roce"}});
  return names[kind];
}

void Totals::count(std::uint64_t number, const capture::Frame& frame, const Dissection& d,
                   const PacketRecord& record, const IcrcResult* result) {
  count_frame(frame);
  if (d.notes != 0) [[unlikely]] {
    for (const NoteRow& row : note_rows) {
      if (d.has(row.note)) diagnostics.add(row.id);
    }
    if (d.has(Note::fragmented) && fragments.size() < kept_mismatches) fragments.push_back(number);
  }
  // What follows a BTH of another version has no known form.
  const bool known_form = !record.has(PacketRecord::other_version);
  if (d.stop != Stop::complete && known_form) count_stop(d, diagnostics);
  if (!record.has(PacketRecord::valid)) {
    const OtherTraffic kind = classify(d);
    ++others[static_cast<std::size_t>(kind)];
    if (kind >= OtherTraffic::uet && kind <= OtherTraffic::veroce) count_named(frame, d);
    return;
  }
  if (d.icrc == Dissection::none && d.find(HeaderId::ifa) != nullptr) ++ifa;
  if (d.tunnels != 0 && known_form) {
    for (std::size_t i = 0; i < tunnel_count; ++i) by_tunnel[i] += d.tunnels >> i & 1U;
  }
  if (d.has(Note::trimmed)) {
    ++trimmed_dscp[record.traffic_class >> 2U];
    trimmed_bytes += d.declared_end - std::min(d.declared_end, frame.wire);
  }
  if (record.opcode == opcode_cnp) count_fast_cnp(number, frame, d);
  count_transport(number, frame, record, result);
}

void Totals::count_fast_cnp(std::uint64_t number, const capture::Frame& frame, const Dissection& d) {
  const auto named = fast_cnp_address({frame.data, frame.captured}, d);
  if (!named) return;
  const std::uint8_t* const ip = frame.data + d.layers[d.network].offset;
  add_fast_cnps({IpAddress::v6(ip + Ipv6::src.first_byte()), IpAddress::v6(ip + Ipv6::dst.first_byte()),
                 IpAddress::v6(frame.data + *named), read<Bth::destqp>(frame.data + d.layers[d.bth].offset)},
                {1, number});
}

void Totals::add_fast_cnps(const FastCnpFlow& flow, const FastCnps& more) {
  auto at = fast_cnps.find(flow);
  if (at == fast_cnps.end()) {
    if (fast_cnps.size() >= fast_cnps_at_most) return;
    at = fast_cnps.emplace(flow, FastCnps{0, more.first_packet}).first;
  }
  at->second.packets += more.packets;
  at->second.first_packet = std::min(at->second.first_packet, more.first_packet);
}

/// By its type.
void Totals::count_named(const capture::Frame& frame, const Dissection& d) {
  const Layer& last = d.layers[d.layer_count - 1U];
  const std::uint8_t* const p = frame.data + last.offset;
  if (last.id == HeaderId::falcon) {
    ++falcon[read<Falcon::type>(p)];
  } else if (last.id == HeaderId::veroce) {
    ++veroce[read<VeRoce::opcode>(p)];
  } else {
    ++uet[read<UetPrologue::type>(p)];
  }
}

void Totals::count_run(std::uint64_t frames, const Run& run) noexcept {
  if (frames == 0) return;
  packets += frames;
  bytes += run.bytes_;
  captured_bytes += run.captured_bytes_;
  roce_bytes += run.bytes_;
  note_times(run.first_time_ns_, run.last_time_ns_);
}

void Totals::settle() noexcept {
  const std::uint64_t n = std::exchange(alike_packets_, 0);
  if (n == 0) return;
  roce_packets += n;
  by_transport[alike_.transport] += n;
  if (alike_.icrc != Marks::unchecked) icrc[alike_.icrc] += n;
  dscp[alike_.traffic_class >> 2U] += n;
  ecn[alike_.traffic_class & 3U] += n;
  (alike_.priority != Marks::untagged_priority ? pcp[alike_.priority] : untagged) += n;
}

void Totals::merge(const Totals& other) {
  const auto add = [](auto& mine, const auto& theirs) {
    for (std::size_t i = 0; i < mine.size(); ++i) mine[i] += theirs[i];
  };
  if (other.any_time) note_times(other.first_time_ns, other.last_time_ns);
  packets += other.packets;
  bytes += other.bytes;
  captured_bytes += other.captured_bytes;
  equal_stamps += other.equal_stamps;
  stepped_back += other.stepped_back;
  roce_packets += other.roce_packets;
  roce_bytes += other.roce_bytes;
  add(by_transport, other.by_transport);
  add(by_tunnel, other.by_tunnel);
  add(opcodes, other.opcodes);
  add(icrc, other.icrc);
  add(dscp, other.dscp);
  add(ecn, other.ecn);
  add(pcp, other.pcp);
  add(trimmed_dscp, other.trimmed_dscp);
  trimmed_bytes += other.trimmed_bytes;
  untagged += other.untagged;
  add(others, other.others);
  add(uet, other.uet);
  add(falcon, other.falcon);
  add(veroce, other.veroce);
  ifa += other.ifa;
  for (const auto& [flow, more] : other.fast_cnps) add_fast_cnps(flow, more);
  diagnostics.merge(other.diagnostics);
  keep_first(icrc_mismatches, other.icrc_mismatches);
  keep_first(fragments, other.fragments);
}

void Totals::count_record(std::uint64_t number, const PacketRecord& record) {
  ++roce_packets;
  roce_bytes += record.wire;
  ++by_transport[static_cast<std::size_t>(record.key.transport)];
  ++dscp[record.traffic_class >> 2U];
  ++ecn[record.traffic_class & 3U];
  ++(record.has(PacketRecord::tagged) ? pcp[record.pcp()] : untagged);
  ++opcodes[record.opcode];
  ++icrc[std::min<std::size_t>(record.icrc, static_cast<std::size_t>(dissect::CrcStatus::not_checkable))];
  if (record.icrc_wrong()) keep_first(icrc_mismatches, {number});
}

void Totals::take_as_trimmed(const std::array<std::uint64_t, 64>& by_dscp) {
  for (std::size_t i = 0; i < by_dscp.size(); ++i) {
    trimmed_dscp[i] += by_dscp[i];
    diagnostics.move(DiagnosticId::cut_on_the_way, DiagnosticId::trimmed, by_dscp[i]);
  }
}

std::uint64_t Totals::trimmed_packets() const noexcept {
  return std::accumulate(trimmed_dscp.begin(), trimmed_dscp.end(), std::uint64_t{0});
}

std::uint64_t Totals::remarked_packets(std::uint64_t dscps) const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < dscp.size(); ++i) {
    if ((dscps >> i & 1U) != 0) sum += dscp[i] - std::min(dscp[i], trimmed_dscp[i]);
  }
  return sum;
}

void Totals::take_out(const Totals& strange) {
  const auto subtract = [](std::uint64_t& mine, std::uint64_t theirs) { mine -= std::min(mine, theirs); };
  const auto subtract_all = [&](auto& mine, const auto& theirs) {
    for (std::size_t i = 0; i < mine.size(); ++i) subtract(mine[i], theirs[i]);
  };
  others[static_cast<std::size_t>(OtherTraffic::udp_port_4791_not_roce)] += strange.roce_packets;
  subtract(roce_packets, strange.roce_packets);
  subtract(roce_bytes, strange.roce_bytes);
  subtract(untagged, strange.untagged);
  subtract_all(by_transport, strange.by_transport);
  subtract_all(opcodes, strange.opcodes);
  subtract_all(icrc, strange.icrc);
  subtract_all(dscp, strange.dscp);
  subtract_all(ecn, strange.ecn);
  subtract_all(pcp, strange.pcp);
  // The first of all packets with a wrong ICRC are the first of theirs, too.
  std::erase_if(icrc_mismatches, [&](std::uint64_t number) {
    return std::find(strange.icrc_mismatches.begin(), strange.icrc_mismatches.end(), number) !=
           strange.icrc_mismatches.end();
  });
}

}  // namespace roce::analyze
