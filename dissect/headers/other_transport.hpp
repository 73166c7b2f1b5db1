// SPDX-License-Identifier: Apache-2.0
// Transports beside RoCE, as far as it takes to name and count their packets: UET, Falcon, veRoCE; and what
// IFA puts into packets on their way. Wireshark 4.0 knows none of them.
//
// UET follows the Ultra Ethernet specification 1.0 as others read it, Falcon the header of its public
// simulators, IFA draft-kumar-ippm-ifa-08. The layout of veRoCE behind its BTH is not known here.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::dissect {

inline constexpr std::uint16_t udp_port_uet = 4793;  ///< IANA

inline constexpr std::uint8_t uet_tss = 1, uet_rud_request = 2, uet_rod_request = 3, uet_ack = 7,
                              uet_ack_cc = 8, uet_ack_ccx = 9, uet_nack = 10, uet_control = 11,
                              uet_nack_ccx = 12, uet_rud_cc_request = 13, uet_rod_cc_request = 14;
inline constexpr ValueName uet_type_names[] = {{uet_tss, "TSS (encrypted)"},
                                               {uet_rud_request, "RUD request"},
                                               {uet_rod_request, "ROD request"},
                                               {4, "RUDI request"},
                                               {5, "RUDI response"},
                                               {6, "UUD request"},
                                               {uet_ack, "ACK"},
                                               {uet_ack_cc, "ACK_CC"},
                                               {uet_ack_ccx, "ACK_CCX"},
                                               {uet_nack, "NACK"},
                                               {uet_control, "control"},
                                               {uet_nack_ccx, "NACK_CCX"},
                                               {uet_rud_cc_request, "RUD request with CC state"},
                                               {uet_rod_cc_request, "ROD request with CC state"}};

/// What all types begin with.
struct UetPrologue {
  static constexpr HeaderId id = HeaderId::uet;
  static constexpr std::string_view name = "uet", title = "Ultra Ethernet Transport";
  static constexpr std::size_t size = 2;
  static constexpr std::string_view at = "UE Specification 1.0, 3.5 (PDS)";
  static constexpr Field type = detail::decimal_field("uet.pds.type", "Type", 0, 5, at, uet_type_names);
  static constexpr Field next =
      detail::decimal_field("uet.pds.next_header", "Next Header or Control Type", 5, 4, at);
  static constexpr Field flags = detail::hex_field("uet.pds.flags", "Flags", 9, 7, 8, at);
  static constexpr std::array fields{type, next, flags};
};

struct UetRequest {
  static constexpr HeaderId id = HeaderId::uet_request;
  static constexpr std::string_view name = "uet", title = "Ultra Ethernet Transport: Request";
  static constexpr std::size_t size = 12;
  static constexpr std::string_view at = UetPrologue::at;
  static constexpr Field type = UetPrologue::type, next = UetPrologue::next, flags = UetPrologue::flags;
  static constexpr Field clear_psn_offset =
      detail::hex_field("uet.pds.clear_psn_offset", "Clear PSN Offset (signed)", 16, 16, 16, at);
  static constexpr Field psn = detail::decimal_field("uet.pds.psn", "PSN", 32, 32, at);
  static constexpr Field spdcid = detail::decimal_field("uet.pds.spdcid", "Source PDC ID", 64, 16, at);
  static constexpr Field dpdcid = detail::decimal_field(
      "uet.pds.dpdcid", "Destination PDC ID (with SYN: mode and PSN offset)", 80, 16, at);
  static constexpr std::array fields{type, next, flags, clear_psn_offset, psn, spdcid, dpdcid};
};

struct UetAck {
  static constexpr HeaderId id = HeaderId::uet_ack;
  static constexpr std::string_view name = "uet", title = "Ultra Ethernet Transport: Acknowledgement";
  static constexpr std::size_t size = 12;
  static constexpr std::string_view at = UetPrologue::at;
  static constexpr Field type = UetPrologue::type, next = UetPrologue::next, flags = UetPrologue::flags;
  static constexpr Field ack_psn_offset =
      detail::hex_field("uet.pds.ack_psn_offset", "ACK PSN Offset (signed)", 16, 16, 16, at);
  static constexpr Field cack_psn =
      detail::decimal_field("uet.pds.cack_psn", "Cumulative ACK PSN", 32, 32, at);
  static constexpr Field spdcid = UetRequest::spdcid, dpdcid = UetRequest::dpdcid;
  static constexpr std::array fields{type, next, flags, ack_psn_offset, cack_psn, spdcid, dpdcid};
};

struct UetNack {
  static constexpr HeaderId id = HeaderId::uet_nack;
  static constexpr std::string_view name = "uet", title = "Ultra Ethernet Transport: NACK";
  static constexpr std::size_t size = 16;
  static constexpr std::string_view at = UetPrologue::at;
  static constexpr Field type = UetPrologue::type, next = UetPrologue::next, flags = UetPrologue::flags;
  static constexpr Field code = detail::hex_field("uet.pds.nack_code", "NACK Code", 16, 8, 8, at);
  static constexpr Field vendor = detail::hex_field("uet.pds.vendor_code", "Vendor Code", 24, 8, 8, at);
  static constexpr Field psn = detail::decimal_field("uet.pds.nack_psn", "NACK PSN", 32, 32, at);
  static constexpr Field spdcid = UetRequest::spdcid, dpdcid = UetRequest::dpdcid;
  static constexpr Field payload = detail::hex_field("uet.pds.payload", "Payload", 96, 32, 32, at);
  static constexpr std::array fields{type, next, flags, code, vendor, psn, spdcid, dpdcid, payload};
};

inline constexpr ValueName falcon_type_names[] = {{0, "pull request"}, {3, "pull data"}, {5, "push data"},
                                                  {6, "resync"},       {8, "NACK"},      {9, "ACK"},
                                                  {10, "extended ACK"}};
inline constexpr ValueName falcon_protocol_names[] = {{2, "RDMA"}, {3, "NVMe"}};

/// The base header; only on a port that the user names.
struct Falcon {
  static constexpr HeaderId id = HeaderId::falcon;
  static constexpr std::string_view name = "falcon", title = "Falcon";
  static constexpr std::size_t size = 24;
  static constexpr std::string_view at = "Falcon, base header";
  static constexpr Field version = detail::decimal_field("falcon.version", "Version", 0, 4, at);
  static constexpr Field connection =
      detail::hex_field("falcon.destination_cid", "Destination Connection ID", 8, 24, 24, at);
  static constexpr Field function =
      detail::hex_field("falcon.destination_function", "Destination Function", 32, 24, 24, at);
  static constexpr Field protocol =
      detail::decimal_field("falcon.protocol", "Protocol", 56, 3, at, falcon_protocol_names);
  static constexpr Field type =
      detail::decimal_field("falcon.type", "Packet Type", 59, 4, at, falcon_type_names);
  static constexpr Field ack_request = detail::flag_field("falcon.ack_request", "ACK Request", 63, at);
  static constexpr Field data_base =
      detail::decimal_field("falcon.data_window_base", "Receiver Data Window Base", 64, 32, at);
  static constexpr Field request_base =
      detail::decimal_field("falcon.request_window_base", "Receiver Request Window Base", 96, 32, at);
  static constexpr Field psn = detail::decimal_field("falcon.psn", "PSN", 128, 32, at);
  static constexpr Field rsn = detail::decimal_field("falcon.rsn", "Request Sequence Number", 160, 32, at);
  static constexpr std::array fields{version,     connection, function,     protocol, type,
                                     ack_request, data_base,  request_base, psn,      rsn};
};

/// The BTH of veRoCE; only on a port that the user names. Nothing of RoCE is said of it.
struct VeRoce {
  static constexpr HeaderId id = HeaderId::veroce;
  static constexpr std::string_view name = "veroce", title = "veRoCE (BTH only)";
  static constexpr std::size_t size = 12;
  static constexpr Field opcode = detail::hex_field("veroce.opcode", "Opcode", 0, 8, 8, {});
  static constexpr Field destqp =
      detail::hex_field("veroce.destqp", "Destination Queue Pair", 40, 24, 24, {});
  static constexpr Field psn = detail::decimal_field("veroce.psn", "Packet Sequence Number", 72, 24, {});
  static constexpr std::array fields{opcode, destqp, psn};
};

/// IFA 2.0, between IP and UDP; only for an IP protocol that the user names.
struct Ifa {
  static constexpr HeaderId id = HeaderId::ifa;
  static constexpr std::string_view name = "ifa", title = "In-band Flow Analyzer";
  static constexpr std::size_t size = 4;
  static constexpr std::string_view at = "draft-kumar-ippm-ifa-08, 3";
  static constexpr Field version = detail::decimal_field("ifa.version", "Version", 0, 4, at);
  static constexpr Field gns = detail::decimal_field("ifa.gns", "Global Name Space", 4, 4, at);
  static constexpr Field next =
      detail::decimal_field("ifa.next_header", "Next Header", 8, 8, at, ip_proto_names);
  static constexpr Field flags = detail::hex_field("ifa.flags", "Flags", 16, 8, 8, at);
  static constexpr Field max_length =
      detail::decimal_field("ifa.max_length", "Maximum Length (4-byte units)", 24, 8, at);
  static constexpr std::array fields{version, gns, next, flags, max_length};
};

/// Behind the UDP header: as many words of metadata as `length` says follow.
struct IfaMetadata {
  static constexpr HeaderId id = HeaderId::ifa_metadata;
  static constexpr std::string_view name = "ifa", title = "In-band Flow Analyzer Metadata";
  static constexpr std::size_t size = 4;
  static constexpr std::string_view at = "draft-kumar-ippm-ifa-08, 4";
  static constexpr Field request = detail::hex_field("ifa.request", "Request Vector", 0, 8, 8, at);
  static constexpr Field action = detail::hex_field("ifa.action", "Action Vector", 8, 8, 8, at);
  static constexpr Field hop_limit = detail::decimal_field("ifa.hop_limit", "Hop Limit", 16, 8, at);
  static constexpr Field length =
      detail::decimal_field("ifa.current_length", "Current Length (4-byte units)", 24, 8, at);
  static constexpr Field data{"ifa.metadata", "Metadata", 32, 0, Display::bytes, at};
  static constexpr std::array fields{request, action, hop_limit, length, data};
};

}  // namespace roce::dissect
