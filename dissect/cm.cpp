// SPDX-License-Identifier: Apache-2.0
#include "dissect/cm.hpp"

#include <iterator>

#include "dissect/enum_names.hpp"
#include "dissect/headers/cm.hpp"
#include "dissect/headers/cm_service.hpp"

namespace roce::dissect {
namespace {

constexpr ValueName cm_service_names[] = {{445, "SMB Direct"}, {987, "Lustre"},      {3260, "iSER"},
                                          {4420, "NVMe-oF"},   {5445, "SMB Direct"}, {18634, "RDS"},
                                          {20049, "NFS/RDMA"}};

CmTransport transport_of(std::uint8_t type, std::uint8_t extension) noexcept {
  constexpr CmTransport basic[] = {CmTransport::rc, CmTransport::uc, CmTransport::rd};
  if (type < std::size(basic)) return basic[type];
  return extension == 1 ? CmTransport::xrc : CmTransport::unknown;
}

/// IBTA 12.6.5: codes 1 to 5 are 256 to 4096 bytes.
constexpr std::uint16_t mtu_of(std::uint8_t code) noexcept {
  return code >= 1 && code <= 5 ? static_cast<std::uint16_t>(128U << code) : std::uint16_t{0};
}

void set_service(CmMessage& message, std::uint64_t service_id) noexcept {
  message.service_id = service_id;
  message.service = service_port(service_id);
}

void decode_req(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmReq::local_comm_id>(p);
  set_service(m, read<CmReq::service_id>(p));
  m.ca_guid = read<CmReq::ca_guid>(p);
  m.q_key = read<CmReq::q_key>(p);
  m.local_qpn = Qpn(read<CmReq::qpn>(p));
  m.responder_resources = read<CmReq::responder_resources>(p);
  m.initiator_depth = read<CmReq::initiator_depth>(p);
  m.remote_response_timeout = read<CmReq::remote_timeout>(p);
  m.local_response_timeout = read<CmReq::local_timeout>(p);
  m.transport = transport_of(read<CmReq::transport>(p), read<CmReq::extended_transport>(p));
  m.starting_psn = Psn(read<CmReq::starting_psn>(p));
  m.retry_count = read<CmReq::retry_count>(p);
  m.p_key = PKey(read<CmReq::p_key>(p));
  m.mtu = mtu_of(read<CmReq::mtu>(p));
  m.rnr_retry_count = read<CmReq::rnr_retry_count>(p);
  m.max_cm_retries = read<CmReq::max_cm_retries>(p);
  m.srq = read<CmReq::srq>(p) != 0;
  m.local_gid = IpAddress::v6(p + CmReq::local_gid.first_byte());
  m.remote_gid = IpAddress::v6(p + CmReq::remote_gid.first_byte());
  m.flow_label = read<CmReq::flow_label>(p);
  m.packet_rate = read<CmReq::packet_rate>(p);
  m.traffic_class = read<CmReq::traffic_class>(p);
  m.hop_limit = read<CmReq::hop_limit>(p);
  m.sl = read<CmReq::sl>(p);
  m.local_ack_timeout = read<CmReq::ack_timeout>(p);
}

void decode_mra(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmMra::local_comm_id>(p);
  m.remote_comm_id = read<CmMra::remote_comm_id>(p);
  m.message = read<CmMra::message>(p);
  m.service_timeout = read<CmMra::service_timeout>(p);
}

void decode_rej(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmRej::local_comm_id>(p);
  m.remote_comm_id = read<CmRej::remote_comm_id>(p);
  m.message = read<CmRej::message>(p);
  m.reject_reason = read<CmRej::reason>(p);
}

void decode_rep(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmRep::local_comm_id>(p);
  m.remote_comm_id = read<CmRep::remote_comm_id>(p);
  m.q_key = read<CmRep::q_key>(p);
  m.local_qpn = Qpn(read<CmRep::qpn>(p));
  m.starting_psn = Psn(read<CmRep::starting_psn>(p));
  m.responder_resources = read<CmRep::responder_resources>(p);
  m.initiator_depth = read<CmRep::initiator_depth>(p);
  m.target_ack_delay = read<CmRep::target_ack_delay>(p);
  m.rnr_retry_count = read<CmRep::rnr_retry_count>(p);
  m.srq = read<CmRep::srq>(p) != 0;
  m.ca_guid = read<CmRep::ca_guid>(p);
}

void decode_rtu(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmRtu::local_comm_id>(p);
  m.remote_comm_id = read<CmRtu::remote_comm_id>(p);
}

void decode_dreq(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmDreq::local_comm_id>(p);
  m.remote_comm_id = read<CmDreq::remote_comm_id>(p);
  m.remote_qpn = Qpn(read<CmDreq::remote_qpn>(p));
}

void decode_drep(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmDrep::local_comm_id>(p);
  m.remote_comm_id = read<CmDrep::remote_comm_id>(p);
}

void decode_sidr_req(const std::uint8_t* p, CmMessage& m) noexcept {
  m.request_id = read<CmSidrReq::request_id>(p);
  m.p_key = PKey(read<CmSidrReq::p_key>(p));
  set_service(m, read<CmSidrReq::service_id>(p));
}

void decode_sidr_rep(const std::uint8_t* p, CmMessage& m) noexcept {
  m.request_id = read<CmSidrRep::request_id>(p);
  m.status = read<CmSidrRep::status>(p);
  m.local_qpn = Qpn(read<CmSidrRep::qpn>(p));
  set_service(m, read<CmSidrRep::service_id>(p));
  m.q_key = read<CmSidrRep::q_key>(p);
}

void decode_lap(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmLap::local_comm_id>(p);
  m.remote_comm_id = read<CmLap::remote_comm_id>(p);
  m.remote_qpn = Qpn(read<CmLap::remote_qpn>(p));
  m.remote_response_timeout = read<CmLap::remote_timeout>(p);
  m.local_gid = IpAddress::v6(p + CmLap::local_gid.first_byte());
  m.remote_gid = IpAddress::v6(p + CmLap::remote_gid.first_byte());
  m.flow_label = read<CmLap::flow_label>(p);
  m.traffic_class = read<CmLap::traffic_class>(p);
  m.hop_limit = read<CmLap::hop_limit>(p);
  m.packet_rate = read<CmLap::packet_rate>(p);
  m.sl = read<CmLap::sl>(p);
  m.local_ack_timeout = read<CmLap::ack_timeout>(p);
}

void decode_apr(const std::uint8_t* p, CmMessage& m) noexcept {
  m.local_comm_id = read<CmApr::local_comm_id>(p);
  m.remote_comm_id = read<CmApr::remote_comm_id>(p);
  m.status = read<CmApr::status>(p);
}

struct Kind {
  std::uint16_t attribute;
  CmKind kind;
  HeaderId id;
  std::uint8_t size;  ///< without private data
  void (*decode)(const std::uint8_t*, CmMessage&) noexcept;
  std::string_view name;
};

// In the order of CmKind.
constexpr Kind kinds[] = {
    {cm_attribute_req, CmKind::req, CmReq::id, CmReq::size, decode_req, "REQ"},
    {cm_attribute_mra, CmKind::mra, CmMra::id, CmMra::size, decode_mra, "MRA"},
    {cm_attribute_rej, CmKind::rej, CmRej::id, CmRej::size, decode_rej, "REJ"},
    {cm_attribute_rep, CmKind::rep, CmRep::id, CmRep::size, decode_rep, "REP"},
    {cm_attribute_rtu, CmKind::rtu, CmRtu::id, CmRtu::size, decode_rtu, "RTU"},
    {cm_attribute_dreq, CmKind::dreq, CmDreq::id, CmDreq::size, decode_dreq, "DREQ"},
    {cm_attribute_drep, CmKind::drep, CmDrep::id, CmDrep::size, decode_drep, "DREP"},
    {cm_attribute_sidr_req, CmKind::sidr_req, CmSidrReq::id, CmSidrReq::size, decode_sidr_req, "SIDR_REQ"},
    {cm_attribute_sidr_rep, CmKind::sidr_rep, CmSidrRep::id, CmSidrRep::size, decode_sidr_rep, "SIDR_REP"},
    {cm_attribute_lap, CmKind::lap, CmLap::id, CmLap::size, decode_lap, "LAP"},
    {cm_attribute_apr, CmKind::apr, CmApr::id, CmApr::size, decode_apr, "APR"}};
static_assert(std::size(kinds) == static_cast<std::size_t>(CmKind::unknown));

std::optional<IpCmAddresses> decode_ip_cm(const std::uint8_t* p) noexcept {
  IpCmAddresses addresses;
  addresses.source_port = read<IpCm::source_port>(p);
  if (IpCm::is_v4(p)) {
    addresses.source = IpAddress::v4(p + IpCm::source_ipv4.first_byte());
    addresses.destination = IpAddress::v4(p + IpCm::destination_ipv4.first_byte());
  } else if (IpCm::is_v6(p)) {
    addresses.source = IpAddress::v6(p + IpCm::source_ipv6.first_byte());
    addresses.destination = IpAddress::v6(p + IpCm::destination_ipv6.first_byte());
  } else {
    return std::nullopt;
  }
  return addresses;
}

}  // namespace

ServicePort service_port(std::uint64_t service_id) noexcept {
  if (service_id >> 24U != ip_cm_service_prefix) return {};
  ServicePort result{PortSpace::other, static_cast<std::uint16_t>(service_id)};
  const auto space = static_cast<PortSpace>(service_id >> 16U & 0xffU);
  if (space == PortSpace::tcp || space == PortSpace::udp || space == PortSpace::ib) result.space = space;
  return result;
}

std::string_view service_name(std::uint16_t port) noexcept {
  return name_of(cm_service_names, port);
}

std::string_view service_name_of(std::uint64_t service_id) noexcept {
  const ServicePort service = service_port(service_id);
  return service.space == PortSpace::tcp ? service_name(service.port) : std::string_view{};
}

std::optional<CmMessage> decode_cm(Bytes frame, const Dissection& dissection) noexcept {
  if (dissection.mad >= dissection.layer_count) return std::nullopt;
  const Layer& mad = dissection.layers[dissection.mad];
  if (mad.id != HeaderId::mad || std::size_t{mad.offset} + Mad::size > frame.size()) return std::nullopt;
  const std::uint8_t* p = frame.data() + mad.offset;
  if (read<Mad::management_class>(p) != mad_class_cm) return std::nullopt;

  CmMessage message;
  message.transaction_id = read<Mad::transaction_id>(p);
  const std::uint16_t attribute = read<Mad::attribute_id>(p);
  const Kind* kind = nullptr;
  for (const Kind& row : kinds) {
    if (row.attribute == attribute) kind = &row;
  }
  if (kind == nullptr) return message;
  message.kind = kind->kind;

  const std::size_t next = std::size_t{dissection.mad} + 1;
  if (next >= dissection.layer_count) return message;
  const Layer& body = dissection.layers[next];
  if (body.id != kind->id || std::size_t{body.offset} + body.length > frame.size()) return message;
  kind->decode(frame.data() + body.offset, message);
  message.whole = true;
  message.private_offset = body.offset + kind->size;
  message.private_length = body.length - kind->size;

  if (next + 1 < dissection.layer_count && dissection.layers[next + 1].id == HeaderId::ip_cm) {
    const Layer& ip_cm = dissection.layers[next + 1];
    if (std::size_t{ip_cm.offset} + ip_cm.length > frame.size()) return message;
    message.ip_cm = decode_ip_cm(frame.data() + ip_cm.offset);
    message.private_offset = ip_cm.offset + static_cast<std::uint32_t>(IpCm::size);
    message.private_length = ip_cm.length - static_cast<std::uint32_t>(IpCm::size);
  }
  return message;
}

std::string_view cm_kind_name(CmKind kind) noexcept {
  return kind < CmKind::unknown ? kinds[static_cast<std::size_t>(kind)].name : "unknown";
}

std::string_view cm_transport_name(CmTransport transport) noexcept {
  using enum CmTransport;
  static constexpr EnumNames<CmTransport, 5> names(
      {{rc, "RC"}, {uc, "UC"}, {rd, "RD"}, {xrc, "XRC"}, {unknown, "unknown"}});
  return names[transport];
}

std::string_view reject_reason_name(std::uint16_t reason) noexcept {
  return name_of(cm_rej_reason_names, reason);
}

std::string_view answered_message_name(CmKind kind, std::uint8_t message) noexcept {
  if (kind == CmKind::rej) return name_of(cm_rej_message_names, message);
  if (kind == CmKind::mra) return name_of(cm_message_names, message);
  return {};
}

std::string_view sidr_status_name(std::uint8_t status) noexcept {
  return name_of(sidr_status_names, status);
}

std::string_view apr_status_name(std::uint8_t status) noexcept {
  return name_of(apr_status_names, status);
}

}  // namespace roce::dissect
