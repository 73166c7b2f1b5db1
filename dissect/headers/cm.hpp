// SPDX-License-Identifier: Apache-2.0
// Messages of the connection manager (CM), each after a Mad header; see mad.hpp. Private data runs to the
// end of the layer, so that a message truncated inside it still shows its fixed part.
#pragma once

#include <array>

#include "dissect/headers/mad.hpp"

namespace roce::dissect {

inline constexpr ValueName cm_transport_names[] = {{0, "RC"}, {1, "UC"}, {2, "RD"}, {3, "extended"}};
inline constexpr ValueName cm_mtu_names[] = {
    {1, "256 bytes"}, {2, "512 bytes"}, {3, "1024 bytes"}, {4, "2048 bytes"}, {5, "4096 bytes"}};
inline constexpr ValueName cm_extended_transport_names[] = {{0, "none"}, {1, "XRC"}};

/// IBTA 12.6.5. Wireshark's "infiniband.cm.req" is not the header but the communication id.
struct CmReq {
  static constexpr HeaderId id = HeaderId::cm_req;
  static constexpr std::string_view name = {}, title = "CM ConnectRequest";
  static constexpr std::size_t size = 140;
  static constexpr std::string_view at = "IBTA 12.6.5";
  static constexpr Field local_comm_id =
      detail::hex_field("infiniband.cm.req", "Local Communication ID", 0, 32, 32, at);
  static constexpr Field reserved0 = detail::reserved_bytes(32, 32);
  static constexpr Field service_id =
      detail::hex_field("infiniband.cm.req.serviceid", "Service ID", 64, 64, 64, at);
  static constexpr Field service_prefix =
      detail::plain_field("infiniband.cm.req.serviceid.prefix", "Prefix", 64, 40, Display::bytes,
                          "IBTA A11.2", {}, detail::service_is_ip_cm<8>);
  static constexpr Field service_protocol =
      detail::hex_field("infiniband.cm.req.serviceid.protocol", "Protocol", 104, 8, 8, "IBTA A11.2", {},
                        detail::service_is_ip_cm<8>);
  static constexpr Field service_port =
      detail::hex_field("infiniband.cm.req.serviceid.dport", "Destination Port", 112, 16, 16, "IBTA A11.2",
                        {}, detail::service_is_ip_cm<8>);
  static constexpr Field ca_guid =
      detail::hex_field("infiniband.cm.req.localcaguid", "Local CA GUID", 128, 64, 64, at);
  static constexpr Field reserved1 = detail::reserved_bytes(192, 32);
  static constexpr Field q_key =
      detail::hex_field("infiniband.cm.req.localqkey", "Local Q_Key", 224, 32, 32, at);
  static constexpr Field qpn = detail::hex_field("infiniband.cm.req.localqpn", "Local QPN", 256, 24, 24, at);
  static constexpr Field responder_resources =
      detail::hex_field("infiniband.cm.req.responderres", "Responder Resources", 280, 8, 8, at);
  static constexpr Field eecn =
      detail::hex_field("infiniband.cm.req.localeecn", "Local EECN", 288, 24, 24, at);
  static constexpr Field initiator_depth =
      detail::hex_field("infiniband.cm.req.initdepth", "Initiator Depth", 312, 8, 8, at);
  static constexpr Field remote_eecn =
      detail::hex_field("infiniband.cm.req.remoteeecn", "Remote EECN", 320, 24, 24, at);
  static constexpr Field remote_timeout =
      detail::hex_field("infiniband.cm.req.remoteresptout", "Remote CM Response Timeout", 344, 5, 8, at);
  static constexpr Field transport = detail::hex_field(
      "infiniband.cm.req.transpsvctype", "Transport Service Type", 349, 2, 8, at, cm_transport_names);
  static constexpr Field flow_control =
      detail::hex_field("infiniband.cm.req.e2eflowctrl", "End-to-End Flow Control", 351, 1, 8, at);
  static constexpr Field starting_psn =
      detail::hex_field("infiniband.cm.req.startpsn", "Starting PSN", 352, 24, 24, at);
  static constexpr Field local_timeout =
      detail::hex_field("infiniband.cm.req.localresptout", "Local CM Response Timeout", 376, 5, 8, at);
  static constexpr Field retry_count =
      detail::hex_field("infiniband.cm.req.retrcount", "Retry Count", 381, 3, 8, at);
  static constexpr Field p_key =
      detail::hex_field("infiniband.cm.req.pkey", "Partition Key", 384, 16, 16, at);
  static constexpr Field mtu =
      detail::hex_field("infiniband.cm.req.pppmtu", "Path Packet Payload MTU", 400, 4, 8, at, cm_mtu_names);
  static constexpr Field rdc_exists =
      detail::hex_field("infiniband.cm.req.rdcexist", "RDC Exists", 404, 1, 8, at);
  static constexpr Field rnr_retry_count =
      detail::hex_field("infiniband.cm.req.rnrretrcount", "RNR Retry Count", 405, 3, 8, at);
  static constexpr Field max_cm_retries =
      detail::hex_field("infiniband.cm.req.maxcmretr", "Max CM Retries", 408, 4, 8, at);
  static constexpr Field srq = detail::hex_field("infiniband.cm.req.srq", "SRQ", 412, 1, 8, at);
  static constexpr Field extended_transport =
      detail::hex_field("infiniband.cm.req.ext_transport", "Extended Transport", 413, 3, 8, "IBTA A14",
                        cm_extended_transport_names);
  static constexpr Field local_lid = detail::plain_field(
      "infiniband.cm.req.prim_locallid", "Primary Local Port LID", 416, 16, Display::decimal, at);
  static constexpr Field remote_lid = detail::plain_field(
      "infiniband.cm.req.prim_remotelid", "Primary Remote Port LID", 432, 16, Display::decimal, at);
  static constexpr Field local_gid =
      detail::plain_field("infiniband.cm.req.prim_localgid", "Primary Local Port GID", 448, 128,
                          Display::ipv6, at, {}, detail::gid_is_not_ipv4<56>);
  static constexpr Field local_gid_ipv4 =
      detail::plain_field("infiniband.cm.req.prim_localgid_ipv4", "Primary Local Port GID", 544, 32,
                          Display::ipv4, at, {}, detail::gid_is_ipv4<56>);
  static constexpr Field remote_gid =
      detail::plain_field("infiniband.cm.req.prim_remotegid", "Primary Remote Port GID", 576, 128,
                          Display::ipv6, at, {}, detail::gid_is_not_ipv4<72>);
  static constexpr Field remote_gid_ipv4 =
      detail::plain_field("infiniband.cm.req.prim_remotegid_ipv4", "Primary Remote Port GID", 672, 32,
                          Display::ipv4, at, {}, detail::gid_is_ipv4<72>);
  static constexpr Field flow_label =
      detail::hex_field("infiniband.cm.req.prim_flowlabel", "Primary Flow Label", 704, 20, 32, at);
  static constexpr Field reserved2 =
      detail::hex_field("infiniband.cm.req.prim_reserved0", "Reserved", 724, 6, 32, {});
  static constexpr Field packet_rate =
      detail::hex_field("infiniband.cm.req.prim_pktrate", "Primary Packet Rate", 730, 6, 32, at);
  static constexpr Field traffic_class =
      detail::hex_field("infiniband.cm.req.prim_tfcclass", "Primary Traffic Class", 736, 8, 8, at);
  static constexpr Field hop_limit =
      detail::hex_field("infiniband.cm.req.prim_hoplim", "Primary Hop Limit", 744, 8, 8, at);
  static constexpr Field sl = detail::hex_field("infiniband.cm.req.prim_sl", "Primary SL", 752, 4, 8, at);
  static constexpr Field subnet_local =
      detail::hex_field("infiniband.cm.req.prim_subnetlocal", "Primary Subnet Local", 756, 1, 8, at);
  static constexpr Field reserved3 =
      detail::hex_field("infiniband.cm.req.prim_reserved1", "Reserved", 757, 3, 8, {});
  static constexpr Field ack_timeout =
      detail::hex_field("infiniband.cm.req.prim_localacktout", "Primary Local ACK Timeout", 760, 5, 8, at);
  static constexpr Field reserved4 =
      detail::hex_field("infiniband.cm.req.prim_reserved2", "Reserved", 765, 3, 8, {});
  static constexpr Field alternate_local_lid = detail::plain_field(
      "infiniband.cm.req.alt_locallid", "Alternate Local Port LID", 768, 16, Display::decimal, at);
  static constexpr Field alternate_remote_lid = detail::plain_field(
      "infiniband.cm.req.alt_remotelid", "Alternate Remote Port LID", 784, 16, Display::decimal, at);
  static constexpr Field alternate_local_gid = detail::plain_field(
      "infiniband.cm.req.alt_localgid", "Alternate Local Port GID", 800, 128, Display::bytes, at);
  static constexpr Field alternate_remote_gid = detail::plain_field(
      "infiniband.cm.req.alt_remotegid", "Alternate Remote Port GID", 928, 128, Display::bytes, at);
  static constexpr Field alternate_flow_label =
      detail::hex_field("infiniband.cm.req.alt_flowlabel", "Alternate Flow Label", 1056, 20, 32, at);
  static constexpr Field reserved5 =
      detail::hex_field("infiniband.cm.req.alt_reserved0", "Reserved", 1076, 6, 32, {});
  static constexpr Field alternate_packet_rate =
      detail::hex_field("infiniband.cm.req.alt_pktrate", "Alternate Packet Rate", 1082, 6, 32, at);
  static constexpr Field alternate_traffic_class =
      detail::hex_field("infiniband.cm.req.alt_tfcclass", "Alternate Traffic Class", 1088, 8, 8, at);
  static constexpr Field alternate_hop_limit =
      detail::hex_field("infiniband.cm.req.alt_hoplim", "Alternate Hop Limit", 1096, 8, 8, at);
  static constexpr Field alternate_sl =
      detail::hex_field("infiniband.cm.req.alt_sl", "Alternate SL", 1104, 4, 8, at);
  static constexpr Field alternate_subnet_local =
      detail::hex_field("infiniband.cm.req.alt_subnetlocal", "Alternate Subnet Local", 1108, 1, 8, at);
  static constexpr Field reserved6 =
      detail::hex_field("infiniband.cm.req.alt_reserved1", "Reserved", 1109, 3, 8, {});
  static constexpr Field alternate_ack_timeout =
      detail::hex_field("infiniband.cm.req.alt_localacktout", "Alternate Local ACK Timeout", 1112, 5, 8, at);
  static constexpr Field reserved7 =  // Wireshark gives both reserved fields of this path one name
      detail::hex_field("infiniband.cm.req.alt_reserved1", "Reserved", 1117, 3, 8, {});
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.req.private", "Private Data", 1120, 0, Display::bytes, at, {},
                          detail::service_is_not_ip_cm<8>);
  static constexpr std::array fields{local_comm_id,
                                     reserved0,
                                     service_id,
                                     service_prefix,
                                     service_protocol,
                                     service_port,
                                     ca_guid,
                                     reserved1,
                                     q_key,
                                     qpn,
                                     responder_resources,
                                     eecn,
                                     initiator_depth,
                                     remote_eecn,
                                     remote_timeout,
                                     transport,
                                     flow_control,
                                     starting_psn,
                                     local_timeout,
                                     retry_count,
                                     p_key,
                                     mtu,
                                     rdc_exists,
                                     rnr_retry_count,
                                     max_cm_retries,
                                     srq,
                                     extended_transport,
                                     local_lid,
                                     remote_lid,
                                     local_gid,
                                     local_gid_ipv4,
                                     remote_gid,
                                     remote_gid_ipv4,
                                     flow_label,
                                     reserved2,
                                     packet_rate,
                                     traffic_class,
                                     hop_limit,
                                     sl,
                                     subnet_local,
                                     reserved3,
                                     ack_timeout,
                                     reserved4,
                                     alternate_local_lid,
                                     alternate_remote_lid,
                                     alternate_local_gid,
                                     alternate_remote_gid,
                                     alternate_flow_label,
                                     reserved5,
                                     alternate_packet_rate,
                                     alternate_traffic_class,
                                     alternate_hop_limit,
                                     alternate_sl,
                                     alternate_subnet_local,
                                     reserved6,
                                     alternate_ack_timeout,
                                     reserved7,
                                     private_data};
};

inline constexpr ValueName cm_message_names[] = {{0, "REQ"}, {1, "REP"}, {2, "LAP"}};

/// IBTA 12.6.6.
struct CmMra {
  static constexpr HeaderId id = HeaderId::cm_mra;
  static constexpr std::string_view name = "infiniband.cm.mra", title = "CM MsgRcptAck";
  static constexpr std::size_t size = 10;
  static constexpr std::string_view at = "IBTA 12.6.6";
  static constexpr Field local_comm_id =
      detail::hex_field("infiniband.cm.mra.localcommid", "Local Communication ID", 0, 32, 32, at);
  static constexpr Field remote_comm_id =
      detail::hex_field("infiniband.cm.mra.remotecommid", "Remote Communication ID", 32, 32, 32, at);
  static constexpr Field message =
      detail::hex_field("infiniband.cm.mra.msgmraed", "Message MRAed", 64, 2, 8, at, cm_message_names);
  static constexpr Field reserved0 =
      detail::hex_field("infiniband.cm.mra.reserved0", "Reserved", 66, 6, 8, {});
  static constexpr Field service_timeout =
      detail::hex_field("infiniband.cm.mra.servicetimeout", "Service Timeout", 72, 5, 8, at);
  static constexpr Field reserved1 =
      detail::hex_field("infiniband.cm.mra.reserved1", "Reserved", 77, 3, 8, {});
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.mra.private", "Private Data", 80, 0, Display::bytes, at);
  static constexpr std::array fields{local_comm_id,   remote_comm_id, message,     reserved0,
                                     service_timeout, reserved1,      private_data};
};

inline constexpr ValueName cm_rej_message_names[] = {{0, "REQ"}, {1, "REP"}, {2, "no message"}};

/// IBTA 12.6.7.2, all reasons of table 302.
inline constexpr ValueName cm_rej_reason_names[] = {{1, "no QP available"},
                                                    {2, "no EE context available"},
                                                    {3, "no resources available"},
                                                    {4, "timeout"},
                                                    {5, "unsupported request"},
                                                    {6, "invalid communication ID"},
                                                    {7, "invalid communication instance"},
                                                    {8, "invalid service ID"},
                                                    {9, "invalid transport service type"},
                                                    {10, "stale connection"},
                                                    {11, "RDC does not exist"},
                                                    {12, "primary remote port GID rejected"},
                                                    {13, "primary remote port LID rejected"},
                                                    {14, "invalid primary SL"},
                                                    {15, "invalid primary traffic class"},
                                                    {16, "invalid primary hop limit"},
                                                    {17, "invalid primary packet rate"},
                                                    {18, "alternate remote port GID rejected"},
                                                    {19, "alternate remote port LID rejected"},
                                                    {20, "invalid alternate SL"},
                                                    {21, "invalid alternate traffic class"},
                                                    {22, "invalid alternate hop limit"},
                                                    {23, "invalid alternate packet rate"},
                                                    {24, "port and CM redirection"},
                                                    {25, "port redirection"},
                                                    {26, "invalid path MTU"},
                                                    {27, "insufficient responder resources"},
                                                    {28, "consumer reject"},
                                                    {29, "RNR retry count reject"},
                                                    {30, "duplicate local communication ID"},
                                                    {31, "invalid class version"},
                                                    {32, "invalid primary flow label"},
                                                    {33, "invalid alternate flow label"},
                                                    {35, "vendor option not supported"}};

/// IBTA 12.6.7.
struct CmRej {
  static constexpr HeaderId id = HeaderId::cm_rej;
  static constexpr std::string_view name = "infiniband.cm.rej", title = "CM ConnectReject";
  static constexpr std::size_t size = 84;
  static constexpr std::string_view at = "IBTA 12.6.7";
  static constexpr Field local_comm_id =
      detail::hex_field("infiniband.cm.rej.localcommid", "Local Communication ID", 0, 32, 32, at);
  static constexpr Field remote_comm_id =
      detail::hex_field("infiniband.cm.rej.remotecommid", "Remote Communication ID", 32, 32, 32, at);
  static constexpr Field message =
      detail::hex_field("infiniband.cm.rej.msgrej", "Message REJected", 64, 2, 8, at, cm_rej_message_names);
  static constexpr Field reserved0 =
      detail::hex_field("infiniband.cm.rej.reserved0", "Reserved", 66, 6, 8, {});
  static constexpr Field info_length =
      detail::hex_field("infiniband.cm.rej.rejinfolen", "Reject Info Length", 72, 7, 8, at);
  static constexpr Field reserved1 =
      detail::hex_field("infiniband.cm.rej.reserved1", "Reserved", 79, 1, 8, {});
  static constexpr Field reason = detail::hex_field("infiniband.cm.rej.reason", "Reason", 80, 16, 16,
                                                    "IBTA 12.6.7.2", cm_rej_reason_names);
  static constexpr Field information = detail::plain_field(
      "infiniband.cm.rej.ari", "Additional Reject Information", 96, 576, Display::bytes, "IBTA 12.6.7.2");
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.rej.private", "Private Data", 672, 0, Display::bytes, at);
  static constexpr std::array fields{local_comm_id, remote_comm_id, message,     reserved0,   info_length,
                                     reserved1,     reason,         information, private_data};
};

inline constexpr ValueName cm_failover_names[] = {
    {0, "accepted"}, {1, "rejected: not supported"}, {2, "rejected: no alternate path"}};

/// IBTA 12.6.8. As in CmReq, the field "infiniband.cm.rep" is the communication id.
struct CmRep {
  static constexpr HeaderId id = HeaderId::cm_rep;
  static constexpr std::string_view name = {}, title = "CM ConnectReply";
  static constexpr std::size_t size = 36;
  static constexpr std::string_view at = "IBTA 12.6.8";
  static constexpr Field local_comm_id =
      detail::hex_field("infiniband.cm.rep", "Local Communication ID", 0, 32, 32, at);
  static constexpr Field remote_comm_id =
      detail::hex_field("infiniband.cm.rep.remotecommid", "Remote Communication ID", 32, 32, 32, at);
  static constexpr Field q_key =
      detail::hex_field("infiniband.cm.rep.localqkey", "Local Q_Key", 64, 32, 32, at);
  static constexpr Field qpn = detail::hex_field("infiniband.cm.rep.localqpn", "Local QPN", 96, 24, 24, at);
  static constexpr Field reserved0 = detail::reserved_bytes(120, 8);
  static constexpr Field eecn =
      detail::hex_field("infiniband.cm.rep.localeecn", "Local EE Context Number", 128, 24, 24, at);
  static constexpr Field reserved1 = detail::reserved_bytes(152, 8);
  static constexpr Field starting_psn =
      detail::hex_field("infiniband.cm.rep.startpsn", "Starting PSN", 160, 24, 24, at);
  static constexpr Field reserved2 = detail::reserved_bytes(184, 8);
  static constexpr Field responder_resources =
      detail::hex_field("infiniband.cm.rep.respres", "Responder Resources", 192, 8, 8, at);
  static constexpr Field initiator_depth =
      detail::hex_field("infiniband.cm.rep.initdepth", "Initiator Depth", 200, 8, 8, at);
  static constexpr Field target_ack_delay =
      detail::hex_field("infiniband.cm.rep.tgtackdelay", "Target ACK Delay", 208, 5, 8, at);
  static constexpr Field failover = detail::hex_field("infiniband.cm.rep.failoveracc", "Failover Accepted",
                                                      213, 2, 8, at, cm_failover_names);
  static constexpr Field flow_control =
      detail::hex_field("infiniband.cm.rep.e2eflowctrl", "End-To-End Flow Control", 215, 1, 8, at);
  static constexpr Field rnr_retry_count =
      detail::hex_field("infiniband.cm.rep.rnrretrcount", "RNR Retry Count", 216, 3, 8, at);
  static constexpr Field srq = detail::hex_field("infiniband.cm.rep.srq", "SRQ", 219, 1, 8, at);
  static constexpr Field reserved3 =
      detail::hex_field("infiniband.cm.rep.reserved", "Reserved", 220, 4, 8, {});
  static constexpr Field ca_guid =
      detail::hex_field("infiniband.cm.rep.localcaguid", "Local CA GUID", 224, 64, 64, at);
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.rep.private", "Private Data", 288, 0, Display::bytes, at);
  static constexpr std::array fields{local_comm_id,   remote_comm_id,
                                     q_key,           qpn,
                                     reserved0,       eecn,
                                     reserved1,       starting_psn,
                                     reserved2,       responder_resources,
                                     initiator_depth, target_ack_delay,
                                     failover,        flow_control,
                                     rnr_retry_count, srq,
                                     reserved3,       ca_guid,
                                     private_data};
};

/// IBTA 12.6.9 (RTU) and 12.6.11 (DREP): the two ids and private data.
struct CmRtu {
  static constexpr HeaderId id = HeaderId::cm_rtu;
  static constexpr std::string_view name = "infiniband.cm.rtu", title = "CM ReadyToUse";
  static constexpr std::size_t size = 8;
  static constexpr Field local_comm_id =
      detail::hex_field("infiniband.cm.rtu.localcommid", "Local Communication ID", 0, 32, 32, "IBTA 12.6.9");
  static constexpr Field remote_comm_id = detail::hex_field(
      "infiniband.cm.rtu.remotecommid", "Remote Communication ID", 32, 32, 32, "IBTA 12.6.9");
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.rtu.private", "Private Data", 64, 0, Display::bytes, "IBTA 12.6.9");
  static constexpr std::array fields{local_comm_id, remote_comm_id, private_data};
};

/// IBTA 12.6.10.
struct CmDreq {
  static constexpr HeaderId id = HeaderId::cm_dreq;
  static constexpr std::string_view name = "infiniband.cm.dreq", title = "CM DisconnectRequest";
  static constexpr std::size_t size = 12;
  static constexpr std::string_view at = "IBTA 12.6.10";
  static constexpr Field local_comm_id =
      detail::hex_field("infiniband.cm.dreq.localcommid", "Local Communication ID", 0, 32, 32, at);
  static constexpr Field remote_comm_id =
      detail::hex_field("infiniband.cm.dreq.remotecommid", "Remote Communication ID", 32, 32, 32, at);
  static constexpr Field remote_qpn =  // the name is Wireshark's
      detail::hex_field("infiniband.cm.req.remoteqpneecn", "Remote QPN/EECN", 64, 24, 24, at);
  static constexpr Field reserved = detail::reserved_bytes(88, 8);
  static constexpr Field private_data =
      detail::plain_field("infiniband.cm.dreq.private", "Private Data", 96, 0, Display::bytes, at);
  static constexpr std::array fields{local_comm_id, remote_comm_id, remote_qpn, reserved, private_data};
};

/// IBTA 12.6.11.
struct CmDrep {
  static constexpr HeaderId id = HeaderId::cm_drep;
  static constexpr std::string_view name = "infiniband.cm.drsp", title = "CM DisconnectReply";
  static constexpr std::size_t size = 8;
  static constexpr Field local_comm_id = detail::hex_field(
      "infiniband.cm.drsp.localcommid", "Local Communication ID", 0, 32, 32, "IBTA 12.6.11");
  static constexpr Field remote_comm_id = detail::hex_field(
      "infiniband.cm.drsp.remotecommid", "Remote Communication ID", 32, 32, 32, "IBTA 12.6.11");
  static constexpr Field private_data = detail::plain_field("infiniband.cm.drsp.private", "Private Data", 64,
                                                            0, Display::bytes, "IBTA 12.6.11");
  static constexpr std::array fields{local_comm_id, remote_comm_id, private_data};
};

/// A MAD of class CM with an attribute that the specification does not define.
struct CmUnknown {
  static constexpr HeaderId id = HeaderId::cm_unknown;
  static constexpr std::string_view name = "infiniband.cm.unknown", title = "CM message of unknown kind";
  static constexpr std::size_t size = 0;
  static constexpr Field data =
      detail::plain_field("infiniband.cm.unknown.data", "Data", 0, 0, Display::bytes, "IBTA 12.6");
  static constexpr std::array fields{data};
};

}  // namespace roce::dissect
