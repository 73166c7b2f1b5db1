// SPDX-License-Identifier: Apache-2.0
// LLDP, IEEE 802.1AB-2016, chapter 8: one header per TLV, including its two bytes of type and length.
// The TLVs of DCBX are in lldp_dcbx.hpp. A layer covers its whole TLV; a Field that runs to the end
// of the header and shows an address is present only if the TLV has that many bytes.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

// IEEE 802.1AB, table 8-1.
inline constexpr std::uint8_t lldp_type_end = 0, lldp_type_chassis_id = 1, lldp_type_port_id = 2,
                              lldp_type_ttl = 3, lldp_type_port_description = 4, lldp_type_system_name = 5,
                              lldp_type_system_description = 6, lldp_type_capabilities = 7,
                              lldp_type_management = 8, lldp_type_organisational = 127;

inline constexpr std::uint32_t lldp_oui_8021 = 0x0080c2;  ///< IEEE 802.1
inline constexpr std::uint32_t lldp_oui_8023 = 0x00120f;  ///< IEEE 802.3
inline constexpr std::uint32_t lldp_oui_cee = 0x001b21;   ///< DCBX before its standard ("CEE")

inline constexpr ValueName lldp_type_names[] = {{0, "End of LLDPDU"},
                                                {1, "Chassis ID"},
                                                {2, "Port ID"},
                                                {3, "Time to Live"},
                                                {4, "Port Description"},
                                                {5, "System Name"},
                                                {6, "System Description"},
                                                {7, "System Capabilities"},
                                                {8, "Management Address"},
                                                {127, "Organizationally Specific"}};
inline constexpr ValueName lldp_chassis_subtype_names[] = {
    {1, "chassis component"}, {2, "interface alias"}, {3, "port component"}, {4, "MAC address"},
    {5, "network address"},   {6, "interface name"},  {7, "local"}};
inline constexpr ValueName lldp_port_subtype_names[] = {
    {1, "interface alias"}, {2, "port component"},   {3, "MAC address"}, {4, "network address"},
    {5, "interface name"},  {6, "agent circuit ID"}, {7, "local"}};
inline constexpr ValueName lldp_interface_subtype_names[] = {
    {1, "unknown"}, {2, "ifIndex"}, {3, "system port number"}};
/// IANA address family numbers.
inline constexpr ValueName address_family_names[] = {{1, "IPv4"}, {2, "IPv6"}, {6, "802"}};

/// IEEE 802.1AB, 8.4: the first two bytes of every TLV.
struct LldpTlv {
  static constexpr std::uint32_t header_size = 2;
  static constexpr Field type{"lldp.tlv.type",       "TLV Type",     0, 7, Display::decimal,
                              "IEEE 802.1AB, 8.4.1", lldp_type_names};
  static constexpr Field length{"lldp.tlv.len", "TLV Length", 7, 9, Display::decimal, "IEEE 802.1AB, 8.4.2"};
  /// Bytes after the two of type and length.
  [[nodiscard]] static constexpr std::uint32_t information_length(const std::uint8_t* p) noexcept {
    return load_be16(p) & 0x1ffU;
  }
  template <std::uint8_t Subtype, std::uint32_t Information>
  static constexpr bool holds(const std::uint8_t* p) noexcept {
    return p[2] == Subtype && information_length(p) == Information;
  }
  /// A network address of the family, IEEE 802.1AB, 8.5.2.3.
  template <std::uint8_t Subtype, std::uint8_t Family, std::uint32_t Size>
  static constexpr bool holds_address(const std::uint8_t* p) noexcept {
    return holds<Subtype, Size + 2>(p) && p[3] == Family;
  }
};

/// IEEE 802.1AB, 8.5.2.
struct LldpChassisId : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_chassis_id;
  static constexpr std::string_view name = "lldp", title = "Chassis ID";
  static constexpr std::size_t size = 4;  // an identifier has at least one byte
  static constexpr std::string_view at = "IEEE 802.1AB, 8.5.2";
  static constexpr bool is_mac(const std::uint8_t* p) noexcept { return holds<4, 7>(p); }
  static constexpr bool is_ipv4(const std::uint8_t* p) noexcept { return holds_address<5, 1, 4>(p); }
  static constexpr bool is_ipv6(const std::uint8_t* p) noexcept { return holds_address<5, 2, 16>(p); }
  static constexpr bool is_other(const std::uint8_t* p) noexcept {
    return !is_mac(p) && !is_ipv4(p) && !is_ipv6(p);
  }
  static constexpr Field subtype{"lldp.chassis.subtype",    "Subtype", 16, 8, Display::decimal, at,
                                 lldp_chassis_subtype_names};
  static constexpr Field mac{"lldp.chassis.id.mac", "Chassis ID", 24, 0, Display::mac, at, {}, 0, 1, is_mac};
  static constexpr Field ipv4{
      "lldp.chassis.id.ip4", "Chassis ID", 32, 0, Display::ipv4, at, {}, 0, 1, is_ipv4};
  static constexpr Field ipv6{
      "lldp.chassis.id.ip6", "Chassis ID", 32, 0, Display::ipv6, at, {}, 0, 1, is_ipv6};
  static constexpr Field other{"lldp.chassis.id", "Chassis ID", 24, 0, Display::bytes, at, {}, 0, 1,
                               is_other};
  static constexpr std::array fields{type, length, subtype, mac, ipv4, ipv6, other};
};

/// IEEE 802.1AB, 8.5.3.
struct LldpPortId : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_port_id;
  static constexpr std::string_view name = "lldp", title = "Port ID";
  static constexpr std::size_t size = 4;
  static constexpr std::string_view at = "IEEE 802.1AB, 8.5.3";
  static constexpr bool is_mac(const std::uint8_t* p) noexcept { return holds<3, 7>(p); }
  static constexpr bool is_ipv4(const std::uint8_t* p) noexcept { return holds_address<4, 1, 4>(p); }
  static constexpr bool is_ipv6(const std::uint8_t* p) noexcept { return holds_address<4, 2, 16>(p); }
  static constexpr bool is_other(const std::uint8_t* p) noexcept {
    return !is_mac(p) && !is_ipv4(p) && !is_ipv6(p);
  }
  static constexpr Field subtype{"lldp.port.subtype",    "Subtype", 16, 8, Display::decimal, at,
                                 lldp_port_subtype_names};
  static constexpr Field mac{"lldp.port.id.mac", "Port ID", 24, 0, Display::mac, at, {}, 0, 1, is_mac};
  static constexpr Field ipv4{"lldp.port.id.ip4", "Port ID", 32, 0, Display::ipv4, at, {}, 0, 1, is_ipv4};
  static constexpr Field ipv6{"lldp.port.id.ip6", "Port ID", 32, 0, Display::ipv6, at, {}, 0, 1, is_ipv6};
  static constexpr Field other{"lldp.port.id", "Port ID", 24, 0, Display::text, at, {}, 0, 1, is_other};
  static constexpr std::array fields{type, length, subtype, mac, ipv4, ipv6, other};
};

/// IEEE 802.1AB, 8.5.4. 0 withdraws everything announced before.
struct LldpTtl : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_ttl;
  static constexpr std::string_view name = "lldp", title = "Time to Live";
  static constexpr std::size_t size = 4;
  static constexpr Field seconds{"lldp.time_to_live",  "Seconds", 16, 16, Display::decimal,
                                 "IEEE 802.1AB, 8.5.4"};
  static constexpr std::array fields{type, length, seconds};
};

/// IEEE 802.1AB, 8.5.5 to 8.5.7: a text of up to 255 bytes.
template <HeaderId Id>
struct LldpText : LldpTlv {
  static constexpr bool is_port = Id == HeaderId::lldp_port_description,
                        is_name = Id == HeaderId::lldp_system_name;
  static constexpr HeaderId id = Id;
  static constexpr std::string_view name = "lldp", title = is_port   ? "Port Description"
                                                           : is_name ? "System Name"
                                                                     : "System Description";
  static constexpr std::size_t size = header_size;
  static constexpr Field text{is_port   ? "lldp.port.desc"
                              : is_name ? "lldp.tlv.system.name"
                                        : "lldp.tlv.system.desc",
                              title,
                              16,
                              0,
                              Display::text,
                              is_port   ? "IEEE 802.1AB, 8.5.5"
                              : is_name ? "IEEE 802.1AB, 8.5.6"
                                        : "IEEE 802.1AB, 8.5.7"};
  static constexpr std::array fields{type, length, text};
};
using LldpPortDescription = LldpText<HeaderId::lldp_port_description>;
using LldpSystemName = LldpText<HeaderId::lldp_system_name>;
using LldpSystemDescription = LldpText<HeaderId::lldp_system_description>;

/// IEEE 802.1AB, 8.5.8, table 8-4.
struct LldpCapabilities : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_capabilities;
  static constexpr std::string_view name = "lldp", title = "System Capabilities";
  static constexpr std::size_t size = 6;
  static constexpr std::string_view at = "IEEE 802.1AB, 8.5.8";
  static constexpr Field capabilities{"lldp.tlv.system_cap", "Capabilities", 16, 16, Display::hex, at};
  static constexpr Field enabled{
      "lldp.tlv.enable_system_cap", "Enabled Capabilities", 32, 16, Display::hex, at};
  static constexpr std::array fields{
      type,
      length,
      capabilities,
      detail::flag_field("lldp.tlv.system_cap.other", "Other", 31, at),
      detail::flag_field("lldp.tlv.system_cap.repeater", "Repeater", 30, at),
      detail::flag_field("lldp.tlv.system_cap.bridge", "Bridge", 29, at),
      detail::flag_field("lldp.tlv.system_cap.wlan_access_pt", "WLAN access point", 28, at),
      detail::flag_field("lldp.tlv.system_cap.router", "Router", 27, at),
      detail::flag_field("lldp.tlv.system_cap.telephone", "Telephone", 26, at),
      detail::flag_field("lldp.tlv.system_cap.docsis_cable_device", "DOCSIS cable device", 25, at),
      detail::flag_field("lldp.tlv.system_cap.station_only", "Station only", 24, at),
      enabled,
      detail::flag_field("lldp.tlv.enable_system_cap.other", "Other", 47, at),
      detail::flag_field("lldp.tlv.enable_system_cap.repeater", "Repeater", 46, at),
      detail::flag_field("lldp.tlv.enable_system_cap.bridge", "Bridge", 45, at),
      detail::flag_field("lldp.tlv.enable_system_cap.wlan_access_pt", "WLAN access point", 44, at),
      detail::flag_field("lldp.tlv.enable_system_cap.router", "Router", 43, at),
      detail::flag_field("lldp.tlv.enable_system_cap.telephone", "Telephone", 42, at),
      detail::flag_field("lldp.tlv.enable_system_cap.docsis_cable_device", "DOCSIS cable device", 41, at),
      detail::flag_field("lldp.tlv.enable_system_cap.station_only", "Station only", 40, at)};
};

/// IEEE 802.1AB, 8.5.9, up to the address; LldpManagementInterface follows.
struct LldpManagement : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_management;
  static constexpr std::string_view name = "lldp", title = "Management Address";
  static constexpr std::size_t size = 5;  // an address has at least one byte
  static constexpr std::string_view at = "IEEE 802.1AB, 8.5.9";
  // Byte 2 counts the subtype and the address.
  static constexpr bool is_ipv4(const std::uint8_t* p) noexcept { return p[2] == 5 && p[3] == 1; }
  static constexpr bool is_ipv6(const std::uint8_t* p) noexcept { return p[2] == 17 && p[3] == 2; }
  static constexpr bool is_other(const std::uint8_t* p) noexcept { return !is_ipv4(p) && !is_ipv6(p); }
  static constexpr Field address_length{
      "lldp.mgn.address.len", "Address String Length", 16, 8, Display::decimal, at};
  static constexpr Field subtype{"lldp.mgn.address.subtype", "Address Subtype", 24, 8, Display::decimal, at,
                                 address_family_names};
  static constexpr Field ipv4{
      "lldp.mgn.addr.ip4", "Management Address", 32, 0, Display::ipv4, at, {}, 0, 1, is_ipv4};
  static constexpr Field ipv6{
      "lldp.mgn.addr.ip6", "Management Address", 32, 0, Display::ipv6, at, {}, 0, 1, is_ipv6};
  static constexpr Field other{
      "lldp.mgn.addr.hex", "Management Address", 32, 0, Display::bytes, at, {}, 0, 1, is_other};
  static constexpr std::array fields{type, length, address_length, subtype, ipv4, ipv6, other};
};

/// The rest of a management address TLV, IEEE 802.1AB, 8.5.9.5 to 8.5.9.8.
struct LldpManagementInterface {
  static constexpr HeaderId id = HeaderId::lldp_management_interface;
  static constexpr std::string_view name = "lldp", title = "Management Interface";
  static constexpr std::size_t size = 6;
  static constexpr Field subtype{
      "lldp.mgn.interface.subtype", "Interface Subtype",         0, 8, Display::decimal,
      "IEEE 802.1AB, 8.5.9.5",      lldp_interface_subtype_names};
  static constexpr Field number{"lldp.mgn.interface.number", "Interface Number", 8, 32, Display::decimal,
                                "IEEE 802.1AB, 8.5.9.6"};
  static constexpr Field object_length{"lldp.mgn.obj.len", "OID String Length",    40, 8,
                                       Display::decimal,   "IEEE 802.1AB, 8.5.9.7"};
  /// BER contents of the object identifier; may be empty. Wireshark shows lldp.mgn.obj.id dotted.
  static constexpr Field object{"lldp.mgn.obj.id.bytes", "Object Identifier",    48, 0,
                                Display::bytes,          "IEEE 802.1AB, 8.5.9.8"};
  static constexpr std::array fields{subtype, number, object_length, object};
};

/// IEEE 802.1AB, 8.6: an organisationally specific TLV that is not dissected further.
struct LldpOrganisational : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_organisational;
  static constexpr std::string_view name = "lldp", title = "Organizationally Specific TLV";
  static constexpr std::size_t size = 6;
  static constexpr std::string_view at = "IEEE 802.1AB, 8.6.1";
  static constexpr bool is_8021(const std::uint8_t* p) noexcept { return load_be24(p + 2) == lldp_oui_8021; }
  static constexpr bool is_8023(const std::uint8_t* p) noexcept { return load_be24(p + 2) == lldp_oui_8023; }
  static constexpr bool is_ieee(const std::uint8_t* p) noexcept { return is_8021(p) || is_8023(p); }
  static constexpr bool is_other(const std::uint8_t* p) noexcept { return !is_ieee(p); }
  static constexpr Field oui{"lldp.orgtlv.oui", "Organization Unique Code", 16, 24, Display::decimal, at};
  static constexpr Field subtype_8021{
      "lldp.ieee.802_1.subtype", "IEEE 802.1 Subtype", 40, 8, Display::hex, at, {}, 2, 1, is_8021};
  static constexpr Field subtype_8023{
      "lldp.ieee.802_3.subtype", "IEEE 802.3 Subtype", 40, 8, Display::hex, at, {}, 2, 1, is_8023};
  static constexpr Field subtype{
      "lldp.unknown_subtype", "Subtype", 40, 8, Display::decimal, at, {}, 0, 1, is_other};
  static constexpr Field content =
      detail::plain_field("lldp.unknown_subtype.content", "Content", 48, 0, Display::bytes, at, {}, is_other);
  /// TLVs of IEEE 802.1 and 802.3, which Wireshark dissects.
  static constexpr Field content_ieee =
      detail::plain_field("lldp.orgtlv.content", "Content", 48, 0, Display::bytes, at, {}, is_ieee);
  static constexpr std::array fields{type,         length,  oui,     subtype_8021,
                                     subtype_8023, subtype, content, content_ieee};
};

/// A TLV of a reserved type.
struct LldpUnknown : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_unknown;
  static constexpr std::string_view name = "lldp", title = "Reserved TLV";
  static constexpr std::size_t size = header_size;
  static constexpr Field content{"lldp.tlv.content", "Content", 16, 0, Display::bytes, "IEEE 802.1AB, 8.4"};
  static constexpr std::array fields{type, length, content};
};

/// IEEE 802.1AB, 8.5.1.
struct LldpEnd : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_end;
  static constexpr std::string_view name = "lldp", title = "End of LLDPDU";
  static constexpr std::size_t size = header_size;
  static constexpr std::array fields{type, length};
};

}  // namespace roce::dissect
