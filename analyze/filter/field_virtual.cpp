// SPDX-License-Identifier: Apache-2.0
#include "analyze/filter/field_virtual.hpp"

#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "analyze/flow/marking.hpp"
#include "analyze/packet/packet_facts.hpp"
#include "analyze/policy/marking_policy.hpp"
#include "analyze/policy/subject.hpp"
#include "dissect/aeth.hpp"
#include "dissect/dissect.hpp"
#include "dissect/fast_cnp.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/infiniband.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::analyze {
namespace {

using dissect::HeaderId;

void add_field_number(Values& out, std::uint64_t value, std::string_view text = {}) {
  Value v;
  v.number = value;
  v.text = text;
  out.push_back(v);
}

void add_boolean(Values& out, bool value) {
  Value v;
  v.type = ValueType::boolean;
  v.number = value ? 1 : 0;
  out.push_back(v);
}

void add_time(Values& out, std::int64_t nanoseconds, ValueType type = ValueType::time) {
  Value v;
  v.type = type;
  v.number = static_cast<std::uint64_t>(nanoseconds);
  out.push_back(v);
}

void add_text(Values& out, std::string_view value) {
  Value v;
  v.type = ValueType::text;
  v.text = value;
  out.push_back(v);
}

void add_address(Values& out, dissect::Bytes bytes) {
  if (bytes.empty()) return;
  Value v;
  v.type = bytes.size() == 4 ? ValueType::ipv4 : ValueType::ipv6;
  v.bytes = bytes;
  out.push_back(v);
}

void add_presence(Values& out, bool there) {
  if (!there) return;
  Value v;
  v.type = ValueType::presence;
  v.number = 1;
  out.push_back(v);
}

/// Difference of two times without overflow, even for invalid timestamps.
std::int64_t since(std::int64_t later, std::int64_t earlier) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(later) - static_cast<std::uint64_t>(earlier));
}

struct ProtocolName {
  HeaderId id;
  std::string_view name;
};

/// Layers listed in frame.protocols, as in Wireshark; other layers belong to the one before.
constexpr ProtocolName protocol_names[] = {
    {HeaderId::ethernet, "eth:ethertype"},
    {HeaderId::vlan, "vlan:ethertype"},
    {HeaderId::service_vlan, "ieee8021ad:ethertype"},
    {HeaderId::mpls, "mpls"},
    {HeaderId::macsec, "macsec"},
    {HeaderId::sll, "sll:ethertype"},
    {HeaderId::sll2, "sll:ethertype"},
    {HeaderId::null_loop, "null"},
    {HeaderId::erf, "erf"},
    {HeaderId::ipv4, "ip"},
    {HeaderId::ipv6, "ipv6"},
    {HeaderId::ipv6_hop_by_hop, "ipv6.hopopts"},
    {HeaderId::ipv6_routing, "ipv6.routing"},
    {HeaderId::ipv6_fragment, "ipv6.fraghdr"},
    {HeaderId::ipv6_destination_options, "ipv6.dstopts"},
    {HeaderId::udp, "udp"},
    {HeaderId::gre, "gre"},
    {HeaderId::erspan2, "erspan"},
    {HeaderId::erspan3, "erspan"},
    {HeaderId::vxlan, "vxlan"},
    {HeaderId::sflow, "sflow"},
    {HeaderId::sflow_ipv6, "sflow"},
    {HeaderId::ipfix_message, "cflow"},
    {HeaderId::netflow9_message, "cflow"},
    {HeaderId::vxlan_gpe, "vxlan"},
    {HeaderId::geneve, "geneve"},
    {HeaderId::lrh, "infiniband"},
    {HeaderId::grh, "infiniband"},
    {HeaderId::bth, "infiniband"},
    {HeaderId::mac_pause, "macc"},
    {HeaderId::mac_pfc, "macc"},
    {HeaderId::mac_control, "macc"},
    {HeaderId::lldp_chassis_id, "lldp"},
    {HeaderId::nvme_rdma_request, "nvme-rdma"},
    {HeaderId::nvme_rdma_reply, "nvme-rdma"},
    {HeaderId::nvme_command, "nvme"},
    {HeaderId::nvme_completion, "nvme"},
    {HeaderId::iser, "iser"},
    {HeaderId::iscsi, "iscsi"},
    {HeaderId::rpc_rdma, "rpcordma"},
    {HeaderId::smb_direct, "smb_direct"},
};

struct UndissectedProtocol {
  UnknownNumber kind;
  std::uint16_t number;
  std::string_view name, label;
};

/// Protocols that end the dissection, by Wireshark's names. To add one: one row.
constexpr UndissectedProtocol undissected_protocols[] = {
    {UnknownNumber::ethertype, dissect::ethertype_arp, "arp", "Address Resolution Protocol"},
    {UnknownNumber::llc_length, 0, "llc", "Logical-Link Control"},
    {UnknownNumber::ip_protocol, dissect::ip_proto_icmp, "icmp", "Internet Control Message Protocol"},
    {UnknownNumber::ip_protocol, dissect::ip_proto_icmpv6, "icmpv6", "Internet Control Message Protocol v6"},
    {UnknownNumber::ip_protocol, dissect::ip_proto_igmp, "igmp", "Internet Group Management Protocol"},
    {UnknownNumber::ip_protocol, dissect::ip_proto_sctp, "sctp", "Stream Control Transmission Protocol"},
    {UnknownNumber::ip_protocol, dissect::ip_proto_tcp, "tcp", "Transmission Control Protocol"},
};

template <std::size_t row>
void undissected_protocol(const PacketView& packet, Values& out) {
  const std::optional<Undissected> rest = undissected(packet);
  if (!rest || rest->kind != undissected_protocols[row].kind ||
      rest->number != undissected_protocols[row].number)
    return;
  Value v;
  v.type = ValueType::presence;
  v.number = 1;
  v.bytes = rest->bytes;
  out.push_back(v);
}

void protocols(const PacketView& packet, Values& out) {
  thread_local std::string names;
  names.clear();
  std::string_view previous;
  for (const dissect::Layer& layer : packet.dissection->all()) {
    for (const ProtocolName& row : protocol_names) {
      if (row.id != layer.id) continue;
      const bool part_of_previous = row.name == "infiniband" && row.name == previous;
      previous = row.name;
      if (part_of_previous) break;
      if (!names.empty()) names.push_back(':');
      names.append(row.name);
      break;
    }
  }
  if (const std::optional<Undissected> rest = undissected(packet)) {
    for (const UndissectedProtocol& row : undissected_protocols) {
      if (row.kind == rest->kind && row.number == rest->number) names.append(":").append(row.name);
    }
  }
  add_text(out, names);
}

void syndrome(const PacketView& packet, Values& out) {
  if (const std::uint8_t* p = find_header(packet, HeaderId::aeth))
    add_text(out, dissect::syndrome_text(dissect::read<dissect::Aeth::syndrome>(p)));
}

void credit_count(const PacketView& packet, Values& out) {
  const std::uint8_t* p = find_header(packet, HeaderId::aeth);
  if (p == nullptr || dissect::aeth_kind(p[0]) != dissect::AethKind::ack) return;
  if (const auto credits = dissect::credits(dissect::aeth_code(p[0]))) add_field_number(out, *credits);
}

void rnr_timer(const PacketView& packet, Values& out) {
  const std::uint8_t* p = find_header(packet, HeaderId::aeth);
  if (p == nullptr || dissect::aeth_kind(p[0]) != dissect::AethKind::rnr_nak) return;
  add_field_number(out, dissect::rnr_timer_ns(dissect::aeth_code(p[0])));
}

void service(const PacketView& packet, Values& out) {
  if (const std::uint8_t* p = bth_of(packet))
    add_text(out, dissect::service_name(dissect::opcode_info(p[0]).service));
}

void operation(const PacketView& packet, Values& out) {
  if (const std::uint8_t* p = bth_of(packet)) add_text(out, dissect::operation_name(p[0]));
}

void marking_violations(const PacketView& packet, Values& out) {
  if (packet.policy == nullptr) return;
  const std::optional<MarkingSubject> subject = subject_of(packet);
  if (!subject) return;
  const Judgement judgement = packet.policy->test(*subject);
  for (std::size_t i = 0; judgement.broken() && i < mark_check_count; ++i) {
    const auto check = static_cast<MarkCheck>(i);
    if (judgement.broken(check)) add_text(out, packet.policy->key(*subject, judgement, check));
  }
}

void tunnels(const PacketView& packet, Values& out) {
  for (std::size_t i = 0; i < dissect::tunnel_count; ++i) {
    const auto tunnel = static_cast<dissect::Tunnel>(i);
    if (packet.dissection->in(tunnel)) add_text(out, dissect::tunnel_name(tunnel));
  }
}

bool is_roce(const PacketView& packet) {
  const dissect::Transport transport = packet.dissection->transport;
  return packet.dissection->is_transport() && transport != dissect::Transport::native_ib &&
         transport != dissect::Transport::none;
}

struct Encapsulation {
  std::uint16_t link_type;
  std::uint8_t wiretap;  // Wireshark's own number, the value of frame.encap_type
};
constexpr Encapsulation encapsulations[] = {{dissect::link_null, 15},        {dissect::link_ethernet, 1},
                                            {dissect::link_raw, 7},          {dissect::link_loop, 15},
                                            {dissect::link_linux_sll, 25},   {dissect::link_erf, 98},
                                            {dissect::link_ipv4, 129},       {dissect::link_ipv6, 130},
                                            {dissect::link_infiniband, 150}, {dissect::link_linux_sll2, 210}};

constexpr FieldFacts virtual_facts(std::string_view name, std::string_view label,
                                   ValueType type = ValueType::number, std::uint64_t max = 0) {
  FieldFacts f;
  f.name = name;
  f.label = label;
  f.type = type;
  f.max = type == ValueType::boolean ? 1 : type == ValueType::number && max == 0 ? ~std::uint64_t{0} : max;
  return f;
}
/// For values that other fields have, too.
constexpr FieldFacts restated(FieldFacts f) {
  f.restates = true;
  return f;
}
constexpr FieldFacts icrc_facts(std::string_view name, std::string_view label, ValueType type) {
  FieldFacts f = virtual_facts(name, label, type, 0xffff'ffff);
  f.hex = type == ValueType::number;
  f.hex_digits = 8;
  f.needs_icrc = true;
  return f;
}
constexpr std::string_view icrc_words[] = {"match", "mismatch", "not_checkable"};
constexpr FieldFacts icrc_status_facts() {
  FieldFacts f = icrc_facts("roce.icrc.status", "ICRC status", ValueType::text);
  f.words = icrc_words;
  return f;
}
constexpr FieldFacts flow_facts(std::string_view name, std::string_view label) {
  FieldFacts f = virtual_facts(name, label);
  f.needs_flow = true;
  return f;
}

constexpr FieldFacts upper_facts(std::string_view name, std::string_view label) {
  FieldFacts f = virtual_facts(name, label, ValueType::text);
  f.needs_upper = true;
  return f;
}

/// None where it was not trimmed, or nobody knows what it was.
std::optional<std::uint32_t> bytes_trimmed(const PacketView& p) {
  const dissect::Dissection& d = *p.dissection;
  if (!d.has(dissect::Note::trimmed) || d.declared_end < p.frame->wire) return std::nullopt;
  return d.declared_end - p.frame->wire;
}

// To add a field of the packet: one row. The registry sorts them by name.
const VirtualField packet_fields[] = {
    {virtual_facts("frame", "Frame", ValueType::bytes),
     [](const PacketView& p, Values& out) {
       Value value;
       value.type = ValueType::bytes;
       value.bytes = p.bytes();
       out.push_back(value);
     }},
    {virtual_facts("frame.number", "Frame Number", ValueType::number, 0xffff'ffff),
     [](const PacketView& p, Values& out) { add_field_number(out, p.number); }},
    {restated(virtual_facts("frame.time", "Arrival Time", ValueType::date)),
     [](const PacketView& p, Values& out) {
       if (p.has_time()) add_time(out, p.frame->time_ns, ValueType::date);
     }},
    {virtual_facts("frame.time_epoch", "Epoch Time", ValueType::time),
     [](const PacketView& p, Values& out) {
       if (p.has_time()) add_time(out, p.frame->time_ns);
     }},
    {virtual_facts("frame.time_relative", "Time since first frame", ValueType::time),
     [](const PacketView& p, Values& out) {
       if (p.has_time()) add_time(out, since(p.frame->time_ns, p.first_time_ns));
     }},
    {virtual_facts("frame.time_delta", "Time since previous frame", ValueType::time),
     [](const PacketView& p, Values& out) {
       if (p.has_time()) add_time(out, since(p.frame->time_ns, p.previous_time_ns));
     }},
    {virtual_facts("frame.len", "Frame length on the wire", ValueType::number, 0xffff'ffff),
     [](const PacketView& p, Values& out) { add_field_number(out, p.frame->wire); }},
    {virtual_facts("frame.cap_len", "Captured length", ValueType::number, 0xffff'ffff),
     [](const PacketView& p, Values& out) { add_field_number(out, p.frame->captured); }},
    {virtual_facts("frame.interface_id", "Interface id", ValueType::number, 0xffff'ffff),
     [](const PacketView& p, Values& out) { add_field_number(out, p.frame->interface); }},
    {virtual_facts("frame.interface_name", "Interface name", ValueType::text),
     [](const PacketView& p, Values& out) {
       if (p.interface != nullptr && !p.interface->name.empty()) add_text(out, p.interface->name);
     }},
    {virtual_facts("frame.encap_type", "Encapsulation type", ValueType::number, 0xff),
     [](const PacketView& p, Values& out) {
       for (const Encapsulation& row : encapsulations) {
         if (row.link_type == p.frame->link_type) add_field_number(out, row.wiretap);
       }
     }},
    {virtual_facts("frame.comment", "Comment", ValueType::text),
     [](const PacketView& p, Values& out) {
       for (const std::string_view comment : p.comments) add_text(out, comment);
     }},
    {upper_facts("frame.protocols", "Protocols in frame"), protocols},
    {virtual_facts("infiniband", "InfiniBand", ValueType::presence),
     [](const PacketView& p, Values& out) {
       add_presence(out, p.dissection->is_transport() || p.dissection->find(HeaderId::grh) != nullptr ||
                             p.dissection->find(HeaderId::lrh) != nullptr);
     }},
    {virtual_facts("roce", "RDMA over Converged Ethernet", ValueType::presence),
     [](const PacketView& p, Values& out) { add_presence(out, is_roce(p)); }},
    {virtual_facts("roce.version", "RoCE version", ValueType::text),
     [](const PacketView& p, Values& out) {
       if (p.dissection->is_transport()) add_text(out, version_name(p.dissection->transport));
     }},
    {virtual_facts("roce.service", "Transport service", ValueType::text), service},
    {virtual_facts("roce.operation", "Operation", ValueType::text), operation},
    {virtual_facts("roce.syndrome", "AETH syndrome in words", ValueType::text), syndrome},
    {virtual_facts("roce.credits", "Credits granted", ValueType::number, 32768), credit_count},
    {virtual_facts("roce.rnr_timer_ns", "RNR timer (ns)", ValueType::number, 655'360'000), rnr_timer},
    {virtual_facts("roce.payload_length", "Message bytes in this packet, without pad", ValueType::number,
                   0xffff'ffff),
     [](const PacketView& p, Values& out) {
       if (p.dissection->is_transport()) add_field_number(out, message_bytes(p));
     }},
    {virtual_facts("roce.src", "Innermost source address", ValueType::ip),
     [](const PacketView& p, Values& out) { add_address(out, endpoints(p).source); }},
    {virtual_facts("roce.dst", "Innermost destination address", ValueType::ip),
     [](const PacketView& p, Values& out) { add_address(out, endpoints(p).destination); }},
    {restated(virtual_facts("roce.addr", "Innermost address, source or destination", ValueType::ip)),
     [](const PacketView& p, Values& out) {
       add_address(out, endpoints(p).source);
       add_address(out, endpoints(p).destination);
     }},
    {virtual_facts("roce.class", "Traffic class: data, ack, response, atomic, cm, cnp or other",
                   ValueType::text),
     [](const PacketView& p, Values& out) {
       const std::uint8_t* const bth = bth_of(p);
       if (bth == nullptr) return;
       add_text(out, traffic_class_name(analyze::traffic_class(dissect::read<dissect::Bth::opcode>(bth),
                                                               dissect::read<dissect::Bth::destqp>(bth))));
     }},
    {virtual_facts("roce.dscp", "DSCP of the innermost network header", ValueType::number, 63),
     [](const PacketView& p, Values& out) {
       if (const auto tos = traffic_class(p))
         add_field_number(out, *tos >> 2U, dissect::name_of(dissect::dscp_names, *tos >> 2U));
     }},
    {virtual_facts("roce.ecn", "ECN of the innermost network header", ValueType::number, 3),
     [](const PacketView& p, Values& out) {
       if (const auto tos = traffic_class(p))
         add_field_number(out, *tos & 3U, dissect::name_of(dissect::ecn_names, *tos & 3U));
     }},
    {virtual_facts("roce.pcp", "Priority of the innermost VLAN tag", ValueType::number, 7),
     [](const PacketView& p, Values& out) {
       if (const auto pcp = priority_code_point(p)) add_field_number(out, *pcp);
     }},
    {virtual_facts("roce.vlan", "VLAN of the innermost tag", ValueType::number, 4095),
     [](const PacketView& p, Values& out) {
       if (const auto vlan = vlan_id(p)) add_field_number(out, *vlan);
     }},
    {virtual_facts("roce.tunnel", "Tunnels around the packet", ValueType::text), tunnels},
    {virtual_facts("roce.outer.src", "Source address of the outer header of a tunnel", ValueType::ip),
     [](const PacketView& p, Values& out) { add_address(out, outer_ends(p).source); }},
    {virtual_facts("roce.outer.dst", "Destination address of the outer header of a tunnel", ValueType::ip),
     [](const PacketView& p, Values& out) { add_address(out, outer_ends(p).destination); }},
    {virtual_facts("roce.outer.dscp", "DSCP of the outer header of a tunnel", ValueType::number, 63),
     [](const PacketView& p, Values& out) {
       if (const auto outer = outer_marks(p))
         add_field_number(out, outer->dscp(), dissect::name_of(dissect::dscp_names, outer->dscp()));
     }},
    {virtual_facts("roce.outer.ecn", "ECN of the outer header of a tunnel", ValueType::number, 3),
     [](const PacketView& p, Values& out) {
       if (const auto outer = outer_marks(p))
         add_field_number(out, outer->ecn(), dissect::name_of(dissect::ecn_names, outer->ecn()));
     }},
    {virtual_facts("roce.outer.pcp", "Priority of the outermost VLAN tag around a tunnel", ValueType::number,
                   7),
     [](const PacketView& p, Values& out) {
       if (const auto outer = outer_marks(p); outer && outer->pcp) add_field_number(out, *outer->pcp);
     }},
    {upper_facts("roce.upper", "Upper-layer protocol"),
     [](const PacketView& p, Values& out) {
       if (const std::string_view name = upper_layer_of(p); !name.empty()) add_text(out, name);
     }},
    {virtual_facts("roce.stop", "Why the dissection ended early", ValueType::text),
     [](const PacketView& p, Values& out) {
       if (p.dissection->stop != dissect::Stop::complete)
         add_text(out, dissect::stop_name(p.dissection->stop));
     }},
    {virtual_facts("roce.trimmed", "Trimmed by a switch", ValueType::boolean),
     [](const PacketView& p, Values& out) {
       if (p.dissection->has(dissect::Note::trimmed)) add_boolean(out, true);
     }},
    {virtual_facts("roce.trimmed.bytes", "Bytes cut off by a switch", ValueType::number, 0xffff),
     [](const PacketView& p, Values& out) {
       if (const auto cut = bytes_trimmed(p)) add_field_number(out, *cut);
     }},
    {virtual_facts("roce.trimmed.was", "Length on the wire before it was trimmed", ValueType::number,
                   0xffff'ffff),
     [](const PacketView& p, Values& out) {
       if (bytes_trimmed(p)) add_field_number(out, p.dissection->declared_end);
     }},
    {virtual_facts("roce.fast_cnp.dst", "Receiver that a Fast CNP names (one draft)", ValueType::ip),
     [](const PacketView& p, Values& out) {
       const auto at = dissect::fast_cnp_address(p.bytes(), *p.dissection);
       if (at) add_address(out, p.bytes().subspan(*at, 16));
     }},
    {virtual_facts("roce.marking.violation", "Violated rule of the policy", ValueType::text),
     marking_violations},
    {icrc_status_facts(),
     [](const PacketView& p, Values& out) {
       if (p.icrc && p.dissection->is_transport()) add_text(out, dissect::crc_status_name(p.icrc->status));
     }},
    {icrc_facts("roce.icrc.computed", "ICRC computed by the standard", ValueType::number),
     [](const PacketView& p, Values& out) {
       if (p.icrc && p.icrc->status != dissect::CrcStatus::not_checkable)
         add_field_number(out, p.icrc->computed);
     }},
    {icrc_facts("roce.icrc.soft_roce_flush", "FLUSH with the ICRC of Linux Soft-RoCE", ValueType::boolean),
     [](const PacketView& p, Values& out) {
       if (p.icrc && p.icrc->soft_roce_flush) add_boolean(out, true);
     }},
    {flow_facts("roce.flow", "Flow"),
     [](const PacketView& p, Values& out) {
       if (p.flow) add_field_number(out, *p.flow);
     }},
};

template <std::size_t... row>
constexpr std::array<VirtualField, sizeof...(row)> protocol_rows(std::index_sequence<row...>) {
  return {VirtualField{
      virtual_facts(undissected_protocols[row].name, undissected_protocols[row].label, ValueType::presence),
      undissected_protocol<row>}...};
}
constexpr auto protocols_of_rows =
    protocol_rows(std::make_index_sequence<std::size(undissected_protocols)>());

constexpr CombinedField combined[] = {
    {"ip.addr", "Source or Destination Address", {"ip.src", "ip.dst"}},
    {"ipv6.addr", "Source or Destination Address", {"ipv6.src", "ipv6.dst"}},
    {"eth.addr", "Source or Destination Address", {"eth.dst", "eth.src"}},
    {"udp.port", "Source or Destination Port", {"udp.srcport", "udp.dstport"}},
    {"ip.version", "Version", {"ip.version", "ipv6.version"}},
};

}  // namespace

std::span<const VirtualField> virtual_fields() {
  return packet_fields;
}
std::span<const VirtualField> protocol_fields() {
  return protocols_of_rows;
}
std::span<const CombinedField> combined_fields() {
  return combined;
}

}  // namespace roce::analyze
