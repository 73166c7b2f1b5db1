// SPDX-License-Identifier: Apache-2.0
// Management datagrams and the connection manager (CM), IBTA Architecture Specification Volume 1:
// 13.4 (MAD), 12.6 (CM messages), 12.11 (SIDR); Annex A11 (RDMA IP CM service).
//
// Names and number bases are Wireshark 4.0's. It shows wrong values for the flow label and the
// packet rate of a REQ (it reads 3 and 1 bytes where the words have 4) and does not know MRA, SIDR, LAP
// and APR; their names here follow its pattern.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

inline constexpr std::uint8_t mad_class_cm = 0x07;  ///< IBTA 13.4.4, table 111
inline constexpr std::uint32_t mad_total_size = 256;
inline constexpr std::uint32_t mad_body_size = mad_total_size - 24;

// Attributes of the class CM, IBTA 12.6 and table 296.
inline constexpr std::uint16_t cm_attribute_req = 0x10, cm_attribute_mra = 0x11, cm_attribute_rej = 0x12,
                               cm_attribute_rep = 0x13, cm_attribute_rtu = 0x14, cm_attribute_dreq = 0x15,
                               cm_attribute_drep = 0x16, cm_attribute_sidr_req = 0x17,
                               cm_attribute_sidr_rep = 0x18, cm_attribute_lap = 0x19, cm_attribute_apr = 0x1a;

/// IBTA A11.2: the first five bytes of service ids of the RDMA IP CM service.
inline constexpr std::uint64_t ip_cm_service_prefix = 0x0000000001;

namespace detail {

constexpr bool is_ipv4_gid(const std::uint8_t* gid) noexcept {
  return load_be<8>(gid) == 0 && load_be32(gid + 8) == 0xffff;
}
template <unsigned Offset>
constexpr bool gid_is_ipv4(const std::uint8_t* header) noexcept {
  return is_ipv4_gid(header + Offset);
}
template <unsigned Offset>
constexpr bool gid_is_not_ipv4(const std::uint8_t* header) noexcept {
  return !is_ipv4_gid(header + Offset);
}
template <unsigned Offset>
constexpr bool service_is_ip_cm(const std::uint8_t* header) noexcept {
  return load_be<5>(header + Offset) == ip_cm_service_prefix;
}
template <unsigned Offset>
constexpr bool service_is_not_ip_cm(const std::uint8_t* header) noexcept {
  return !service_is_ip_cm<Offset>(header);
}

}  // namespace detail

inline constexpr ValueName mad_class_names[] = {
    {0x01, "subnet management, LID routed"}, {0x81, "subnet management, directed route"},
    {0x03, "subnet administration"},         {0x04, "performance management"},
    {0x05, "baseboard management"},          {0x06, "device management"},
    {0x07, "communication management"},      {0x08, "SNMP tunneling"}};
inline constexpr ValueName mad_method_names[] = {
    {0x01, "Get"},  {0x02, "Set"},    {0x81, "GetResp"},    {0x03, "Send"},
    {0x05, "Trap"}, {0x06, "Report"}, {0x86, "ReportResp"}, {0x07, "TrapRepress"}};

/// IBTA 13.4.3. The body follows: a CM message, or for other classes the rest of this header.
struct Mad {
  static constexpr HeaderId id = HeaderId::mad;
  static constexpr std::string_view name = "infiniband.mad", title = "Management Datagram";
  static constexpr std::size_t size = 24;
  static constexpr bool is_not_cm(const std::uint8_t* p) noexcept { return p[1] != mad_class_cm; }
  static constexpr Field base_version =
      detail::hex_field("infiniband.mad.baseversion", "Base Version", 0, 8, 8, "IBTA 13.4.3");
  static constexpr Field management_class = detail::hex_field("infiniband.mad.mgmtclass", "Management Class",
                                                              8, 8, 8, "IBTA 13.4.4", mad_class_names);
  static constexpr Field class_version =
      detail::hex_field("infiniband.mad.classversion", "Class Version", 16, 8, 8, "IBTA 13.4.3");
  static constexpr Field method =
      detail::hex_field("infiniband.mad.method", "Method", 24, 8, 8, "IBTA 13.4.5", mad_method_names);
  static constexpr Field status =
      detail::hex_field("infiniband.mad.status", "Status", 32, 16, 16, "IBTA 13.4.7");
  static constexpr Field class_specific =
      detail::hex_field("infiniband.mad.classspecific", "Class Specific", 48, 16, 16, "IBTA 13.4.3");
  static constexpr Field transaction_id =
      detail::hex_field("infiniband.mad.transactionid", "Transaction ID", 64, 64, 64, "IBTA 13.4.6.4");
  static constexpr Field attribute_id =
      detail::hex_field("infiniband.mad.attributeid", "Attribute ID", 128, 16, 16, "IBTA 13.4.8");
  static constexpr Field reserved = detail::reserved_bytes(144, 16);
  static constexpr Field attribute_modifier =
      detail::hex_field("infiniband.mad.attributemodifier", "Attribute Modifier", 160, 32, 32, "IBTA 13.4.8");
  static constexpr Field data = detail::plain_field("infiniband.mad.data", "MAD Data Payload", 192, 0,
                                                    Display::bytes, "IBTA 13.4.2", {}, is_not_cm);
  static constexpr std::array fields{
      base_version, management_class, class_version,      method, status, class_specific, transaction_id,
      attribute_id, reserved,         attribute_modifier, data};
};

/// IBTA A11.3: the first 36 bytes of the private data of REQ and SIDR_REQ to an IP CM service; the
/// consumer's own private data follows.
struct IpCm {
  static constexpr HeaderId id = HeaderId::ip_cm;
  static constexpr std::string_view name = "infiniband.cm.req.ip_cm", title = "RDMA IP CM";
  static constexpr std::size_t size = 36;
  static constexpr bool is_v4(const std::uint8_t* p) noexcept { return p[1] >> 4U == 4; }
  static constexpr bool is_v6(const std::uint8_t* p) noexcept { return p[1] >> 4U == 6; }
  static constexpr Field major_version =
      detail::hex_field("infiniband.cm.req.ip_cm.majv", "Major Version", 0, 4, 8, "IBTA A11.3");
  static constexpr Field minor_version =
      detail::hex_field("infiniband.cm.req.ip_cm.minv", "Minor Version", 4, 4, 8, "IBTA A11.3");
  static constexpr Field ip_version =
      detail::hex_field("infiniband.cm.req.ip_cm.ipv", "IP Version", 8, 4, 8, "IBTA A11.3");
  static constexpr Field reserved =
      detail::hex_field("infiniband.cm.req.ip_cm.reserved", "Reserved", 12, 4, 8, {});
  static constexpr Field source_port =
      detail::hex_field("infiniband.cm.req.ip_cm.sport", "Source Port", 16, 16, 16, "IBTA A11.3");
  static constexpr Field source_ipv6 = detail::plain_field("infiniband.cm.req.ip_cm.sip6", "Source IP", 32,
                                                           128, Display::ipv6, "IBTA A11.3", {}, is_v6);
  static constexpr Field source_ipv4 = detail::plain_field("infiniband.cm.req.ip_cm.sip4", "Source IP", 128,
                                                           32, Display::ipv4, "IBTA A11.3", {}, is_v4);
  static constexpr Field destination_ipv6 = detail::plain_field(
      "infiniband.cm.req.ip_cm.dip6", "Destination IP", 160, 128, Display::ipv6, "IBTA A11.3", {}, is_v6);
  static constexpr Field destination_ipv4 = detail::plain_field(
      "infiniband.cm.req.ip_cm.dip4", "Destination IP", 256, 32, Display::ipv4, "IBTA A11.3", {}, is_v4);
  static constexpr Field private_data = detail::plain_field(
      "infiniband.cm.req.ip_cm.private", "Consumer Private Data", 288, 0, Display::bytes, "IBTA A11.3");
  static constexpr std::array fields{major_version,    minor_version, ip_version,  reserved,
                                     source_port,      source_ipv6,   source_ipv4, destination_ipv6,
                                     destination_ipv4, private_data};
};

}  // namespace roce::dissect
