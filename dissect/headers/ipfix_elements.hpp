// SPDX-License-Identifier: Apache-2.0
// Elements of records of IPFIX and NetFlow version 9, as IANA lists them ("IPFIX Information Elements").
// Names are Wireshark's where it has the field in the same form; what it lacks is under ipfix.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "dissect/field.hpp"
#include "dissect/headers/ipfix_names.hpp"

namespace roce::dissect::ipfix {

/// What an element says, whatever its length in a template: numbers may be shorter than their type.
struct ElementInfo {
  std::uint16_t id;
  std::string_view name;   ///< as in display filters
  std::string_view label;  ///< as in the tree
  Display display = Display::decimal;
  std::span<const ValueName> names = {};
};

inline constexpr ElementInfo element_table[] = {
    {1, "cflow.octets", "Octets"},
    {2, "cflow.packets", "Packets"},
    {4, "cflow.protocol", "Protocol"},
    {5, "cflow.tos", "IP ToS", Display::hex},
    {6, "cflow.tcpflags", "TCP Flags", Display::hex},
    {7, "cflow.srcport", "SrcPort"},
    {8, "cflow.srcaddr", "SrcAddr", Display::ipv4},
    {9, "cflow.srcmask", "SrcMask"},
    {10, "cflow.inputint", "InputInt"},
    {11, "cflow.dstport", "DstPort"},
    {12, "cflow.dstaddr", "DstAddr", Display::ipv4},
    {13, "cflow.dstmask", "DstMask"},
    {14, "cflow.outputint", "OutputInt"},
    {15, "cflow.nexthop", "NextHop", Display::ipv4},
    {21, "ipfix.flow_end_sysuptime", "Flow end (ms of SysUptime)"},
    {22, "ipfix.flow_start_sysuptime", "Flow start (ms of SysUptime)"},
    {27, "cflow.srcaddrv6", "SrcAddr", Display::ipv6},
    {28, "cflow.dstaddrv6", "DstAddr", Display::ipv6},
    {34, "cflow.sampling_interval", "Sampling interval"},
    {35, "cflow.sampling_algorithm", "Sampling algorithm"},
    {48, "cflow.sampler_id", "SamplerID"},
    {49, "cflow.sampler_mode", "SamplerMode"},
    {50, "cflow.sampler_random_interval", "SamplerRandomInterval"},
    {56, "cflow.srcmac", "Source Mac Address", Display::mac},
    {58, "cflow.vlanid", "Vlan Id"},
    {60, "cflow.ip_version", "IPVersion"},
    {61, "cflow.direction", "Direction"},
    {80, "cflow.dstmac", "Destination Mac Address", Display::mac},
    {82, "cflow.if_name", "IfName", Display::text},
    {83, "cflow.if_descr", "IfDescr", Display::text},
    {84, "cflow.sampler_name", "SamplerName", Display::text},
    {89, "ipfix.forwarding_status", "Forwarding status", Display::decimal, forwarding_status_names},
    {102, "ipfix.layer2_offset", "Layer 2 section offset"},
    {103, "ipfix.layer2_size", "Layer 2 section size"},
    {104, "ipfix.layer2_section", "Layer 2 section", Display::bytes},
    {136, "cflow.flow_end_reason", "Flow End Reason"},
    {138, "cflow.observation_point_id", "Observation Point Id"},
    {148, "cflow.flow_id", "Flow Id"},
    {150, "ipfix.flow_start_seconds", "Flow start (s)"},
    {151, "ipfix.flow_end_seconds", "Flow end (s)"},
    {152, "ipfix.flow_start_milliseconds", "Flow start (ms)"},
    {153, "ipfix.flow_end_milliseconds", "Flow end (ms)"},
    {192, "cflow.ip_ttl", "IP TTL"},
    {195, "cflow.ip_dscp", "DSCP"},
    {210, "ipfix.padding", "Padding", Display::bytes},
    {243, "cflow.dot1q_vlan_id", "Dot1q Vlan Id"},
    {244, "cflow.dot1q_priority", "Dot1q Priority"},
    {252, "cflow.ingress_physical_interface", "Ingress Physical Interface"},
    {253, "cflow.egress_physical_interface", "Egress Physical Interface"},
    {301, "cflow.selection_sequence_id", "Selection Sequence Id"},
    {302, "cflow.selector_id", "Selector Id"},
    {304, "cflow.selector_algorithm", "Selector Algorithm"},
    {305, "cflow.sampling_packet_interval", "Sampling Packet Interval"},
    {306, "cflow.sampling_packet_space", "Sampling Packet Space"},
    {309, "cflow.sampling_size", "Sampling Size"},
    {310, "cflow.sampling_population", "Sampling Population"},
    {312, "cflow.data_link_frame_size", "Data Link Frame Size"},
    {313, "cflow.section_header", "SectionHeader", Display::bytes},
    {314, "cflow.section_payload", "SectionPayload", Display::bytes},
    {315, "cflow.data_link_frame_section", "Data Link Frame Section", Display::bytes},
    {316, "cflow.mpls_label_stack_section", "MPLS Label Stack Section", Display::bytes},
    {318, "cflow.selector_id_total_pkts_observed", "Selector Id Total Pkts Observed"},
    {319, "cflow.selector_id_total_pkts_selected", "Selector Id Total Pkts Selected"},
    {322, "ipfix.observation_time_seconds", "Observed (s)"},
    {323, "ipfix.observation_time_milliseconds", "Observed (ms)"},
    {324, "ipfix.observation_time_microseconds", "Observed (NTP, microseconds)", Display::hex},
    {325, "ipfix.observation_time_nanoseconds", "Observed (NTP, nanoseconds)", Display::hex},
    {335, "cflow.selector_name", "Selector Name", Display::text},
    {408, "cflow.data_link_frame_type", "Data_Link_Frame_Type"},
    {409, "cflow.section_offset", "Section_Offset"},
    {410, "cflow.section_exported_octets", "Section_Exported_Octets"},
};
/// Of any other element, of other enterprises, and of the scopes of NetFlow, which are numbered on their own.
inline constexpr ElementInfo other_element{0, "ipfix.other_element", "Element", Display::bytes};

[[nodiscard]] constexpr const ElementInfo& element_info(std::uint32_t enterprise, std::uint16_t id) noexcept {
  for (const ElementInfo& row : element_table) {
    if (enterprise == 0 && row.id == id) return row;
  }
  return other_element;
}

}  // namespace roce::dissect::ipfix
