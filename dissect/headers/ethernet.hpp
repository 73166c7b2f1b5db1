// SPDX-License-Identifier: Apache-2.0
// Ethernet, VLAN tags, MPLS, MACsec and the link types that replace Ethernet in captures.
#pragma once

#include <array>

#include "dissect/header_id.hpp"

namespace roce::dissect {

inline constexpr std::uint16_t ethertype_ipv4 = 0x0800;
inline constexpr std::uint16_t ethertype_arp = 0x0806;
inline constexpr std::uint16_t ethertype_teb = 0x6558;  ///< transparent Ethernet bridging, in GRE and Geneve
inline constexpr std::uint16_t ethertype_vlan = 0x8100;
inline constexpr std::uint16_t ethertype_ipv6 = 0x86dd;
inline constexpr std::uint16_t ethertype_mac_control = 0x8808;
inline constexpr std::uint16_t ethertype_mpls = 0x8847;
inline constexpr std::uint16_t ethertype_mpls_multicast = 0x8848;
inline constexpr std::uint16_t ethertype_erspan = 0x88be;    ///< ERSPAN I and II, in GRE
inline constexpr std::uint16_t ethertype_erspan3 = 0x22eb;   ///< ERSPAN III, in GRE
inline constexpr std::uint16_t ethertype_qinq = 0x88a8;      ///< IEEE 802.1ad service tag
inline constexpr std::uint16_t ethertype_qinq_old = 0x9100;  ///< pre-standard QinQ
inline constexpr std::uint16_t ethertype_lldp = 0x88cc;
inline constexpr std::uint16_t ethertype_macsec = 0x88e5;
/// IEEE 802.3: values below are lengths, not ethertypes.
inline constexpr std::uint16_t min_ethertype = 0x600;
inline constexpr std::uint16_t ethertype_arista = 0xd28b;   ///< time stamps of Arista switches
inline constexpr std::uint16_t ethertype_roce_v1 = 0x8915;  ///< IBTA Annex A16

inline constexpr ValueName ethertype_names[] = {
    {ethertype_ipv4, "IPv4"},
    {ethertype_arp, "ARP"},
    {ethertype_teb, "Transparent Ethernet bridging"},
    {ethertype_vlan, "802.1Q VLAN"},
    {ethertype_ipv6, "IPv6"},
    {ethertype_mac_control, "MAC control"},
    {ethertype_mpls, "MPLS"},
    {ethertype_mpls_multicast, "MPLS multicast"},
    {ethertype_erspan, "ERSPAN"},
    {ethertype_erspan3, "ERSPAN III"},
    {ethertype_qinq, "802.1ad service VLAN"},
    {ethertype_qinq_old, "QinQ (0x9100)"},
    {ethertype_lldp, "LLDP"},
    {ethertype_macsec, "MACsec"},
    {ethertype_arista, "Arista timestamp"},
    {ethertype_roce_v1, "RoCE v1"},
};

/// IEEE 802.3, 3.1.1.
struct Ethernet {
  static constexpr HeaderId id = HeaderId::ethernet;
  static constexpr std::string_view name = "eth", title = "Ethernet II";
  static constexpr std::size_t size = 14;
  static constexpr Field dst{"eth.dst", "Destination", 0, 48, Display::mac, "IEEE 802.3, 3.2.3"};
  static constexpr Field src{"eth.src", "Source", 48, 48, Display::mac, "IEEE 802.3, 3.2.3"};
  static constexpr Field type{"eth.type",
                              "Type",
                              96,
                              16,
                              Display::hex,
                              "IEEE 802.3, 3.2.6",
                              ethertype_names,
                              0,
                              1,
                              [](const std::uint8_t* p) noexcept { return load_be16(p + 12) >= 0x600; }};
  static constexpr Field len{"eth.len",
                             "Length",
                             96,
                             16,
                             Display::decimal,
                             "IEEE 802.3, 3.2.6",
                             {},
                             0,
                             1,
                             [](const std::uint8_t* p) noexcept { return load_be16(p + 12) < 0x600; }};
  static constexpr std::array fields{dst, src, type, len};
};

/// IEEE 802.1Q customer tag, from its TCI on (the tag's ethertype belongs to the header before it).
struct Vlan {
  static constexpr HeaderId id = HeaderId::vlan;
  static constexpr std::string_view name = "vlan", title = "802.1Q Virtual LAN";
  static constexpr std::size_t size = 4;
  static constexpr Field priority{"vlan.priority",  "Priority (PCP)",  0, 3,
                                  Display::decimal, "IEEE 802.1Q, 9.6"};
  static constexpr Field dei{"vlan.dei", "Drop Eligible Indicator", 3,
                             1,          Display::decimal,          "IEEE 802.1Q, 9.6"};
  static constexpr Field vid{"vlan.id", "VLAN Identifier", 4, 12, Display::decimal, "IEEE 802.1Q, 9.6"};
  static constexpr Field etype{"vlan.etype",       "Type",         16, 16, Display::hex,
                               "IEEE 802.1Q, 9.6", ethertype_names};
  static constexpr std::array fields{priority, dei, vid, etype};
};

/// IEEE 802.1ad service tag (ethertype 0x88a8).
struct ServiceVlan {
  static constexpr HeaderId id = HeaderId::service_vlan;
  static constexpr std::string_view name = "ieee8021ad", title = "802.1ad Service VLAN";
  static constexpr std::size_t size = 4;
  static constexpr Field priority{"ieee8021ad.priority", "Priority (PCP)",  0, 3,
                                  Display::decimal,      "IEEE 802.1Q, 9.6"};
  static constexpr Field dei{"ieee8021ad.dei", "Drop Eligible Indicator", 3, 1,
                             Display::decimal, "IEEE 802.1Q, 9.6"};
  static constexpr Field vid{"ieee8021ad.id", "VLAN Identifier", 4, 12, Display::decimal, "IEEE 802.1Q, 9.6"};
  static constexpr Field etype{"ieee8021ad.etype", "Type",         16, 16, Display::hex,
                               "IEEE 802.1Q, 9.6", ethertype_names};
  static constexpr std::array fields{priority, dei, vid, etype};
};

/// RFC 3032, one label stack entry.
struct Mpls {
  static constexpr HeaderId id = HeaderId::mpls;
  static constexpr std::string_view name = "mpls", title = "MPLS Label";
  static constexpr std::size_t size = 4;
  static constexpr Field label{"mpls.label", "Label", 0, 20, Display::decimal, "RFC 3032, 2.1"};
  static constexpr Field exp{"mpls.exp", "Traffic Class", 20, 3, Display::decimal, "RFC 5462"};
  static constexpr Field bottom{"mpls.bottom", "Bottom of Stack", 23, 1, Display::decimal, "RFC 3032, 2.1"};
  static constexpr Field ttl{"mpls.ttl", "Time to Live", 24, 8, Display::decimal, "RFC 3032, 2.1"};
  static constexpr std::array fields{label, exp, bottom, ttl};
};

/// IEEE 802.1AE SecTAG after its ethertype; the 8-byte SCI follows where SC is set.
struct MacSec {
  static constexpr HeaderId id = HeaderId::macsec;
  static constexpr std::string_view name = "macsec", title = "MACsec SecTAG";
  static constexpr std::size_t size = 6;
  static constexpr Field version{"macsec.TCI.V", "Version", 0, 1, Display::hex, "IEEE 802.1AE, 9.5", {}, 2};
  static constexpr Field end_station{"macsec.TCI.ES",  "End Station",      1, 1,
                                     Display::boolean, "IEEE 802.1AE, 9.5"};
  static constexpr Field sc{"macsec.TCI.SC", "SCI present", 2, 1, Display::boolean, "IEEE 802.1AE, 9.5"};
  static constexpr Field scb{"macsec.TCI.SCB", "Single Copy Broadcast", 3, 1,
                             Display::boolean, "IEEE 802.1AE, 9.5"};
  static constexpr Field encrypted{"macsec.TCI.E", "Encrypted", 4, 1, Display::boolean, "IEEE 802.1AE, 9.5"};
  static constexpr Field changed{"macsec.TCI.C", "Changed Text", 5, 1, Display::boolean, "IEEE 802.1AE, 9.5"};
  static constexpr Field an{"macsec.AN",  "Association Number", 6,  2,
                            Display::hex, "IEEE 802.1AE, 9.6",  {}, 2};
  static constexpr Field sl{"macsec.SL", "Short Length", 8, 8, Display::decimal, "IEEE 802.1AE, 9.7"};
  static constexpr Field pn{"macsec.PN", "Packet Number", 16, 32, Display::decimal, "IEEE 802.1AE, 9.8"};
  static constexpr Field sci{"macsec.SCI",
                             "Secure Channel Identifier",
                             48,
                             0,
                             Display::bytes,
                             "IEEE 802.1AE, 9.9",
                             {},
                             0,
                             1,
                             [](const std::uint8_t* p) noexcept { return (p[0] & 0x20U) != 0; }};
  static constexpr std::array fields{version, end_station, sc, scb, encrypted, changed, an, sl, pn, sci};
};

/// Linux cooked capture, LINKTYPE_LINUX_SLL.
struct Sll {
  static constexpr HeaderId id = HeaderId::sll;
  static constexpr std::string_view name = "sll", title = "Linux cooked capture v1";
  static constexpr std::size_t size = 16;
  static constexpr Field pkttype{
      "sll.pkttype", "Packet type", 0, 16, Display::decimal, "tcpdump.org LINKTYPE_LINUX_SLL"};
  static constexpr Field hatype{"sll.hatype", "Link-layer address type", 16, 16};
  static constexpr Field halen{"sll.halen", "Link-layer address length", 32, 16};
  static constexpr Field eth{
      "sll.src.eth", "Source", 48, 48, Display::mac, {}, {}, 0, 1, [](const std::uint8_t* p) noexcept {
        return load_be16(p + 4) == 6;
      }};
  static constexpr Field etype{"sll.etype", "Protocol", 112, 16, Display::hex, {}, ethertype_names};
  static constexpr std::array fields{pkttype, hatype, halen, eth, etype};
};

/// Linux cooked capture v2, LINKTYPE_LINUX_SLL2.
struct Sll2 {
  static constexpr HeaderId id = HeaderId::sll2;
  static constexpr std::string_view name = "sll", title = "Linux cooked capture v2";
  static constexpr std::size_t size = 20;
  static constexpr Field etype{
      "sll.etype", "Protocol", 0, 16, Display::hex, "tcpdump.org LINKTYPE_LINUX_SLL2", ethertype_names};
  static constexpr Field ifindex{"sll.ifindex", "Interface index", 32, 32};
  static constexpr Field hatype{"sll.hatype", "Link-layer address type", 64, 16};
  static constexpr Field pkttype{"sll.pkttype", "Packet type", 80, 8};
  static constexpr Field halen{"sll.halen", "Link-layer address length", 88, 8};
  static constexpr Field eth{
      "sll.src.eth", "Source", 96, 48, Display::mac, {}, {}, 0, 1, [](const std::uint8_t* p) noexcept {
        return p[11] == 6;
      }};
  static constexpr std::array fields{etype, ifindex, hatype, pkttype, halen, eth};
};

/// BSD loopback: an address family in the capturing host's byte order (NULL) or network order (LOOP).
struct NullLoop {
  static constexpr HeaderId id = HeaderId::null_loop;
  static constexpr std::string_view name = "null", title = "Null/Loopback";
  static constexpr std::size_t size = 4;
  static constexpr Field family{"null.family", "Family", 0, 32, Display::bytes, "tcpdump.org LINKTYPE_NULL"};
  static constexpr std::array fields{family};
};

inline constexpr ValueName erf_type_names[] = {{2, "Ethernet"}, {21, "InfiniBand"}, {25, "InfiniBand link"}};

/// Endace ERF record header; 8-byte extension headers and a 2-byte Ethernet pad may follow.
struct Erf {
  static constexpr HeaderId id = HeaderId::erf;
  static constexpr std::string_view name = "erf", title = "Extensible Record Format";
  static constexpr std::size_t size = 16;
  static constexpr Field extension{
      "erf.types.ext_header", "Extension header present", 64, 1, Display::decimal, "Endace ERF"};
  static constexpr Field type{"erf.types.type", "Type",        65, 7, Display::decimal,
                              "Endace ERF",     erf_type_names};
  static constexpr Field interface_id{"erf.flags.cap", "Capture interface", 78, 2};
  static constexpr Field record_length{"erf.rlen", "Record length", 80, 16};
  static constexpr Field loss{"erf.lctr", "Loss counter", 96, 16};
  static constexpr Field wire_length{"erf.wlen", "Wire length", 112, 16};
  static constexpr std::array fields{extension, type, interface_id, record_length, loss, wire_length};
};

}  // namespace roce::dissect
