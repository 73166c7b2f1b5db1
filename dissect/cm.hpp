// SPDX-License-Identifier: Apache-2.0
// A decoded message of the connection manager (CM); the raw fields are in headers/cm.hpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dissect/dissection.hpp"
#include "dissect/types.hpp"

namespace roce::dissect {

enum class CmKind : std::uint8_t {
  req,
  mra,
  rej,
  rep,
  rtu,
  dreq,
  drep,
  sidr_req,
  sidr_rep,
  lap,
  apr,
  unknown,  ///< MAD of class CM with an attribute that the specification does not define
};

/// Transport service type with its extension, IBTA 12.6.5 and A14.
enum class CmTransport : std::uint8_t { rc, uc, rd, xrc, unknown };

/// A service id of the RDMA IP CM service (IBTA A11.2) names a port in a port space.
enum class PortSpace : std::uint8_t {
  none = 0,  ///< not such a service id
  tcp = 0x06,
  udp = 0x11,
  ib = 0x3f,
  other = 0xff,
};

struct ServicePort {
  PortSpace space = PortSpace::none;
  std::uint16_t port = 0;
};
[[nodiscard]] ServicePort service_port(std::uint64_t service_id) noexcept;

/// "NVMe-oF" for 4420, ...; empty for ports without a well-known service.
[[nodiscard]] std::string_view service_name(std::uint16_t port) noexcept;
/// service_name() of the port in a service id; empty outside the TCP port space.
[[nodiscard]] std::string_view service_name_of(std::uint64_t service_id) noexcept;

/// IP addressing information in the private data of REQ and SIDR_REQ to an IP CM service, IBTA A11.3.
struct IpCmAddresses {
  IpAddress source;  ///< IPv4 as ::ffff:a.b.c.d
  IpAddress destination;
  std::uint16_t source_port = 0;
};

/// One message. Fields that a kind of message does not have are 0; "local" is the sender of the message.
struct CmMessage {
  CmKind kind = CmKind::unknown;
  /// False if the frame was truncated inside the fixed part: only kind and transaction id are valid then.
  bool whole = false;

  std::uint64_t transaction_id = 0;
  std::uint32_t local_comm_id = 0;   ///< REQ, MRA, REJ, REP, RTU, DREQ, DREP, LAP, APR
  std::uint32_t remote_comm_id = 0;  ///< as above without REQ; 0 in a REJ of an unknown REQ
  std::uint32_t request_id = 0;      ///< SIDR_REQ, SIDR_REP: in place of communication ids

  Qpn local_qpn;     ///< REQ, REP, SIDR_REP
  Qpn remote_qpn;    ///< DREQ, LAP
  Psn starting_psn;  ///< REQ, REP: first PSN that the sender expects, so the first one its peer will send
  std::uint32_t q_key = 0;
  std::uint64_t ca_guid = 0;  ///< REQ, REP

  // REQ and SIDR_REQ, and in part SIDR_REP.
  std::uint64_t service_id = 0;
  ServicePort service;
  PKey p_key;
  std::optional<IpCmAddresses> ip_cm;

  // REQ; the first four also in a REP.
  std::uint8_t responder_resources = 0;  ///< RDMA READs and atomics that the sender can serve at a time
  std::uint8_t initiator_depth = 0;      ///< RDMA READs and atomics that the sender will have outstanding
  std::uint8_t rnr_retry_count = 0;      ///< 7 = unlimited
  bool srq = false;
  CmTransport transport = CmTransport::unknown;
  std::uint16_t mtu = 0;  ///< bytes; 0 = a code that the specification does not define
  std::uint8_t retry_count = 0;
  std::uint8_t max_cm_retries = 0;
  std::uint8_t local_response_timeout = 0;   ///< code t: 4.096 us times 2^t, see cm_timeout_ns()
  std::uint8_t remote_response_timeout = 0;  ///< code t; also LAP

  // The path: primary in a REQ, alternate in a LAP.
  IpAddress local_gid, remote_gid;
  std::uint32_t flow_label = 0;
  std::uint8_t traffic_class = 0;  ///< DSCP and ECN of the connection's packets
  std::uint8_t hop_limit = 0;
  std::uint8_t sl = 0;
  std::uint8_t packet_rate = 0;        ///< code, IBTA 15.2.5.16
  std::uint8_t local_ack_timeout = 0;  ///< code t, 0 = never

  std::uint8_t target_ack_delay = 0;  ///< REP: code t

  // Answers.
  std::uint16_t reject_reason = 0;   ///< REJ: see reject_reason_name()
  std::uint8_t message = 0;          ///< REJ, MRA: the message it answers, see answered_message_name()
  std::uint8_t service_timeout = 0;  ///< MRA: code t
  std::uint8_t status = 0;           ///< SIDR_REP, APR: see sidr_status_name(), apr_status_name()

  // The consumer's private data in the frame, after the IP addressing information of the IP CM, if any.
  std::uint32_t private_offset = 0;
  std::uint32_t private_length = 0;  ///< in captured bytes
};

/// The CM message of a dissected frame, if it has one. `frame` are the bytes that were dissected.
[[nodiscard]] std::optional<CmMessage> decode_cm(Bytes frame, const Dissection& dissection) noexcept;

/// 4.096 us times 2^code (IBTA 9.7.6.1.3); codes above 31 as 31. As an ACK timeout 0 means never.
[[nodiscard]] constexpr std::uint64_t cm_timeout_ns(std::uint8_t code) noexcept {
  return std::uint64_t{4096} << (code > 31 ? 31U : code);
}

/// "REQ", "SIDR_REP", ...
[[nodiscard]] std::string_view cm_kind_name(CmKind kind) noexcept;
/// "RC", "UC", "RD", "XRC", "unknown".
[[nodiscard]] std::string_view cm_transport_name(CmTransport transport) noexcept;
inline constexpr std::uint16_t cm_reject_consumer = 28;  ///< by the application; reason in the private data
/// IBTA 12.6.7.2: "invalid service ID" for 8; empty if not defined.
[[nodiscard]] std::string_view reject_reason_name(std::uint16_t reason) noexcept;
/// What a REJ or MRA answers: "REQ", "REP", ...; empty if not defined.
[[nodiscard]] std::string_view answered_message_name(CmKind kind, std::uint8_t message) noexcept;
[[nodiscard]] std::string_view sidr_status_name(std::uint8_t status) noexcept;
[[nodiscard]] std::string_view apr_status_name(std::uint8_t status) noexcept;

}  // namespace roce::dissect
