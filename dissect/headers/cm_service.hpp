// SPDX-License-Identifier: Apache-2.0
// CM messages other than those of connection setup: service ID resolution (IBTA 12.11) and alternate
// paths (IBTA 12.8). Wireshark 4.0 shows their bodies as bytes only.
#pragma once

#include <array>

#include "dissect/headers/mad.hpp"

namespace roce::dissect {

/// IBTA 12.11.1.
struct CmSidrReq {
  static constexpr HeaderId id = HeaderId::cm_sidr_req;
  static constexpr std::string_view name = "infiniband.cm.sidrreq", title = "CM ServiceIDResolutionRequest";
  static constexpr std::size_t size = 16;
  static constexpr std::string_view at = "IBTA 12.11.1";
  static constexpr Field request_id =
      detail::hex_field("infiniband.cm.sidrreq.requestid", "Request ID", 0, 32, 32, at);
  static constexpr Field p_key =
      detail::hex_field("infiniband.cm.sidrreq.pkey", "Partition Key", 32, 16, 16, at);
  static constexpr Field reserved = detail::reserved_bytes(48, 16);
  static constexpr Field service_id =
      detail::hex_field("infiniband.cm.sidrreq.serviceid", "Service ID", 64, 64, 64, at);
  static constexpr Field service_prefix =
      detail::plain_field("infiniband.cm.sidrreq.serviceid.prefix", "Prefix", 64, 40, Display::bytes,
                          "IBTA A11.2", {}, detail::service_is_ip_cm<8>);
  static constexpr Field service_protocol =
      detail::hex_field("infiniband.cm.sidrreq.serviceid.protocol", "Protocol", 104, 8, 8, "IBTA A11.2", {},
                        detail::service_is_ip_cm<8>);
  static constexpr Field service_port =
      detail::hex_field("infiniband.cm.sidrreq.serviceid.dport", "Destination Port", 112, 16, 16,
                        "IBTA A11.2", {}, detail::service_is_ip_cm<8>);
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.sidrreq.private", "Private Data", 128, 0, Display::bytes, at, {},
                          detail::service_is_not_ip_cm<8>);
  static constexpr std::array fields{request_id,       p_key,        reserved,    service_id, service_prefix,
                                     service_protocol, service_port, private_data};
};

/// IBTA 12.11.2, table 325.
inline constexpr ValueName sidr_status_names[] = {
    {0, "QPN and Q_Key are valid"}, {1, "service ID not supported"}, {2, "rejected by the service provider"},
    {3, "no QP available"},         {4, "requester redirected"},     {5, "unsupported class version"}};

/// IBTA 12.11.2.
struct CmSidrRep {
  static constexpr HeaderId id = HeaderId::cm_sidr_rep;
  static constexpr std::string_view name = "infiniband.cm.sidrrep", title = "CM ServiceIDResolutionResponse";
  static constexpr std::size_t size = 96;
  static constexpr std::string_view at = "IBTA 12.11.2";
  static constexpr Field request_id =
      detail::hex_field("infiniband.cm.sidrrep.requestid", "Request ID", 0, 32, 32, at);
  static constexpr Field status =
      detail::hex_field("infiniband.cm.sidrrep.status", "Status", 32, 8, 8, at, sidr_status_names);
  static constexpr Field info_length =
      detail::hex_field("infiniband.cm.sidrrep.infolen", "Additional Information Length", 40, 8, 8, at);
  static constexpr Field reserved0 = detail::reserved_bytes(48, 16);
  static constexpr Field qpn = detail::hex_field("infiniband.cm.sidrrep.qpn", "QPN", 64, 24, 24, at);
  static constexpr Field reserved1 = detail::reserved_bytes(88, 8);
  static constexpr Field service_id =
      detail::hex_field("infiniband.cm.sidrrep.serviceid", "Service ID", 96, 64, 64, at);
  static constexpr Field q_key = detail::hex_field("infiniband.cm.sidrrep.qkey", "Q_Key", 160, 32, 32, at);
  static constexpr Field information = detail::plain_field(
      "infiniband.cm.sidrrep.info", "Additional Information", 192, 576, Display::bytes, at);
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.sidrrep.private", "Private Data", 768, 0, Display::bytes, at);
  static constexpr std::array fields{request_id, status,     info_length, reserved0,   qpn,
                                     reserved1,  service_id, q_key,       information, private_data};
};

/// IBTA 12.8.1.
struct CmLap {
  static constexpr HeaderId id = HeaderId::cm_lap;
  static constexpr std::string_view name = "infiniband.cm.lap", title = "CM LoadAlternatePath";
  static constexpr std::size_t size = 64;
  static constexpr std::string_view at = "IBTA 12.8.1";
  static constexpr Field local_comm_id =
      detail::hex_field("infiniband.cm.lap.localcommid", "Local Communication ID", 0, 32, 32, at);
  static constexpr Field remote_comm_id =
      detail::hex_field("infiniband.cm.lap.remotecommid", "Remote Communication ID", 32, 32, 32, at);
  static constexpr Field reserved0 = detail::reserved_bytes(64, 32);
  static constexpr Field remote_qpn =
      detail::hex_field("infiniband.cm.lap.remoteqpneecn", "Remote QPN/EECN", 96, 24, 24, at);
  static constexpr Field remote_timeout =
      detail::hex_field("infiniband.cm.lap.remoteresptout", "Remote CM Response Timeout", 120, 5, 8, at);
  static constexpr Field reserved1 =
      detail::hex_field("infiniband.cm.lap.reserved1", "Reserved", 125, 3, 8, {});
  static constexpr Field reserved2 = detail::reserved_bytes(128, 32);
  static constexpr Field local_lid = detail::plain_field(
      "infiniband.cm.lap.alt_locallid", "Alternate Local Port LID", 160, 16, Display::decimal, at);
  static constexpr Field remote_lid = detail::plain_field(
      "infiniband.cm.lap.alt_remotelid", "Alternate Remote Port LID", 176, 16, Display::decimal, at);
  static constexpr Field local_gid =
      detail::plain_field("infiniband.cm.lap.alt_localgid", "Alternate Local Port GID", 192, 128,
                          Display::ipv6, at, {}, detail::gid_is_not_ipv4<24>);
  static constexpr Field local_gid_ipv4 =
      detail::plain_field("infiniband.cm.lap.alt_localgid_ipv4", "Alternate Local Port GID", 288, 32,
                          Display::ipv4, at, {}, detail::gid_is_ipv4<24>);
  static constexpr Field remote_gid =
      detail::plain_field("infiniband.cm.lap.alt_remotegid", "Alternate Remote Port GID", 320, 128,
                          Display::ipv6, at, {}, detail::gid_is_not_ipv4<40>);
  static constexpr Field remote_gid_ipv4 =
      detail::plain_field("infiniband.cm.lap.alt_remotegid_ipv4", "Alternate Remote Port GID", 416, 32,
                          Display::ipv4, at, {}, detail::gid_is_ipv4<40>);
  static constexpr Field flow_label =
      detail::hex_field("infiniband.cm.lap.alt_flowlabel", "Alternate Flow Label", 448, 20, 32, at);
  static constexpr Field reserved3 =
      detail::hex_field("infiniband.cm.lap.reserved3", "Reserved", 468, 4, 8, {});
  static constexpr Field traffic_class =
      detail::hex_field("infiniband.cm.lap.alt_tfcclass", "Alternate Traffic Class", 472, 8, 8, at);
  static constexpr Field hop_limit =
      detail::hex_field("infiniband.cm.lap.alt_hoplim", "Alternate Hop Limit", 480, 8, 8, at);
  static constexpr Field reserved4 =
      detail::hex_field("infiniband.cm.lap.reserved4", "Reserved", 488, 2, 8, {});
  static constexpr Field packet_rate =
      detail::hex_field("infiniband.cm.lap.alt_pktrate", "Alternate Packet Rate", 490, 6, 8, at);
  static constexpr Field sl = detail::hex_field("infiniband.cm.lap.alt_sl", "Alternate SL", 496, 4, 8, at);
  static constexpr Field subnet_local =
      detail::hex_field("infiniband.cm.lap.alt_subnetlocal", "Alternate Subnet Local", 500, 1, 8, at);
  static constexpr Field reserved5 =
      detail::hex_field("infiniband.cm.lap.reserved5", "Reserved", 501, 3, 8, {});
  static constexpr Field ack_timeout =
      detail::hex_field("infiniband.cm.lap.alt_localacktout", "Alternate Local ACK Timeout", 504, 5, 8, at);
  static constexpr Field reserved6 =
      detail::hex_field("infiniband.cm.lap.reserved6", "Reserved", 509, 3, 8, {});
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.lap.private", "Private Data", 512, 0, Display::bytes, at);
  static constexpr std::array fields{
      local_comm_id,  remote_comm_id, reserved0,       remote_qpn,  remote_timeout,
      reserved1,      reserved2,      local_lid,       remote_lid,  local_gid,
      local_gid_ipv4, remote_gid,     remote_gid_ipv4, flow_label,  reserved3,
      traffic_class,  hop_limit,      reserved4,       packet_rate, sl,
      subnet_local,   reserved5,      ack_timeout,     reserved6,   private_data};
};

/// IBTA 12.8.2, table 316.
inline constexpr ValueName apr_status_names[] = {{0, "alternate path loaded"},
                                                 {1, "invalid communication ID"},
                                                 {2, "alternate paths not supported"},
                                                 {3, "rejected by the application"},
                                                 {4, "redirected"},
                                                 {5, "proposed path is the current path"},
                                                 {6, "QPN or EECN does not match"},
                                                 {7, "LID rejected"},
                                                 {8, "GID rejected"},
                                                 {9, "flow label rejected"},
                                                 {10, "traffic class rejected"},
                                                 {11, "hop limit rejected"},
                                                 {12, "packet rate rejected"},
                                                 {13, "SL rejected"}};

/// IBTA 12.8.2.
struct CmApr {
  static constexpr HeaderId id = HeaderId::cm_apr;
  static constexpr std::string_view name = "infiniband.cm.apr", title = "CM AlternatePathResponse";
  static constexpr std::size_t size = 84;
  static constexpr std::string_view at = "IBTA 12.8.2";
  static constexpr Field local_comm_id =
      detail::hex_field("infiniband.cm.apr.localcommid", "Local Communication ID", 0, 32, 32, at);
  static constexpr Field remote_comm_id =
      detail::hex_field("infiniband.cm.apr.remotecommid", "Remote Communication ID", 32, 32, 32, at);
  static constexpr Field info_length =
      detail::hex_field("infiniband.cm.apr.infolen", "Additional Information Length", 64, 8, 8, at);
  static constexpr Field status =
      detail::hex_field("infiniband.cm.apr.status", "AP Status", 72, 8, 8, at, apr_status_names);
  static constexpr Field reserved = detail::reserved_bytes(80, 16);
  static constexpr Field information =
      detail::plain_field("infiniband.cm.apr.info", "Additional Information", 96, 576, Display::bytes, at);
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.apr.private", "Private Data", 672, 0, Display::bytes, at);
  static constexpr std::array fields{local_comm_id, remote_comm_id, info_length, status,
                                     reserved,      information,    private_data};
};

}  // namespace roce::dissect
