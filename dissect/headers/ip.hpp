// SPDX-License-Identifier: Apache-2.0
// IPv4, IPv6 with its extension headers, UDP.
#pragma once

#include <array>

#include "dissect/header_id.hpp"

namespace roce::dissect {

inline constexpr std::uint8_t ip_proto_hop_by_hop = 0;
inline constexpr std::uint8_t ip_proto_icmp = 1;
inline constexpr std::uint8_t ip_proto_igmp = 2;
inline constexpr std::uint8_t ip_proto_ipv4 = 4;
inline constexpr std::uint8_t ip_proto_tcp = 6;
inline constexpr std::uint8_t ip_proto_udp = 17;
inline constexpr std::uint8_t ip_proto_ipv6 = 41;
inline constexpr std::uint8_t ip_proto_routing = 43;
inline constexpr std::uint8_t ip_proto_fragment = 44;
inline constexpr std::uint8_t ip_proto_gre = 47;
inline constexpr std::uint8_t ip_proto_icmpv6 = 58;
inline constexpr std::uint8_t ip_proto_none = 59;
inline constexpr std::uint8_t ip_proto_destination_options = 60;
inline constexpr std::uint8_t ip_proto_sctp = 132;
inline constexpr std::uint8_t ip_proto_mpls = 137;

inline constexpr ValueName ip_proto_names[] = {{0, "IPv6 Hop-by-Hop"},
                                               {1, "ICMP"},
                                               {ip_proto_igmp, "IGMP"},
                                               {4, "IPv4"},
                                               {6, "TCP"},
                                               {17, "UDP"},
                                               {27, "InfiniBand GRH"},
                                               {41, "IPv6"},
                                               {43, "IPv6 Routing"},
                                               {44, "IPv6 Fragment"},
                                               {47, "GRE"},
                                               {50, "ESP"},
                                               {51, "AH"},
                                               {58, "ICMPv6"},
                                               {59, "No next header"},
                                               {60, "IPv6 Destination Options"},
                                               {ip_proto_sctp, "SCTP"},
                                               {137, "MPLS"}};

inline constexpr ValueName ecn_names[] = {{0, "Not-ECT"}, {1, "ECT(1)"}, {2, "ECT(0)"}, {3, "CE"}};

inline constexpr ValueName dscp_names[] = {
    {0, "CS0"},   {8, "CS1"},   {10, "AF11"}, {12, "AF12"}, {14, "AF13"}, {16, "CS2"},  {18, "AF21"},
    {20, "AF22"}, {22, "AF23"}, {24, "CS3"},  {26, "AF31"}, {28, "AF32"}, {30, "AF33"}, {32, "CS4"},
    {34, "AF41"}, {36, "AF42"}, {38, "AF43"}, {40, "CS5"},  {46, "EF"},   {48, "CS6"},  {56, "CS7"}};

/// RFC 791, 3.1. Options follow the fixed part.
struct Ipv4 {
  static constexpr HeaderId id = HeaderId::ipv4;
  static constexpr std::string_view name = "ip", title = "Internet Protocol Version 4";
  static constexpr std::size_t size = 20;
  static constexpr Field version{"ip.version", "Version", 0, 4, Display::decimal, "RFC 791, 3.1"};
  static constexpr Field hdr_len{
      "ip.hdr_len", "Header Length", 4, 4, Display::decimal, "RFC 791, 3.1", {}, 0, 4};
  static constexpr Field dsfield{"ip.dsfield", "Differentiated Services Field", 8, 8, Display::hex,
                                 "RFC 2474, 3"};
  static constexpr Field dscp{"ip.dsfield.dscp", "DSCP", 8, 6, Display::decimal, "RFC 2474, 3", dscp_names};
  static constexpr Field ecn{"ip.dsfield.ecn", "ECN", 14, 2, Display::decimal, "RFC 3168, 5", ecn_names};
  static constexpr Field len{"ip.len", "Total Length", 16, 16, Display::decimal, "RFC 791, 3.1"};
  static constexpr Field ident{"ip.id", "Identification", 32, 16, Display::hex, "RFC 791, 3.1"};
  static constexpr Field flags{"ip.flags", "Flags", 48, 3, Display::hex, "RFC 791, 3.1", {}, 2};
  static constexpr Field df{"ip.flags.df", "Don't Fragment", 49, 1, Display::boolean, "RFC 791, 3.1"};
  static constexpr Field mf{"ip.flags.mf", "More Fragments", 50, 1, Display::boolean, "RFC 791, 3.1"};
  static constexpr Field frag_offset{"ip.frag_offset", "Fragment Offset", 51, 13,
                                     Display::decimal, "RFC 791, 3.1"};
  static constexpr Field ttl{"ip.ttl", "Time to Live", 64, 8, Display::decimal, "RFC 791, 3.1"};
  static constexpr Field proto{"ip.proto",     "Protocol",    72, 8, Display::decimal,
                               "RFC 791, 3.1", ip_proto_names};
  static constexpr Field checksum{"ip.checksum", "Header Checksum", 80, 16, Display::hex, "RFC 791, 3.1"};
  static constexpr Field src{"ip.src", "Source Address", 96, 32, Display::ipv4, "RFC 791, 3.1"};
  static constexpr Field dst{"ip.dst", "Destination Address", 128, 32, Display::ipv4, "RFC 791, 3.1"};
  static constexpr std::array fields{version, hdr_len, dsfield,     dscp, ecn,   len,      ident, flags,
                                     df,      mf,      frag_offset, ttl,  proto, checksum, src,   dst};
};

/// RFC 8200, 3.
struct Ipv6 {
  static constexpr HeaderId id = HeaderId::ipv6;
  static constexpr std::string_view name = "ipv6", title = "Internet Protocol Version 6";
  static constexpr std::size_t size = 40;
  static constexpr Field version{"ipv6.version", "Version", 0, 4, Display::decimal, "RFC 8200, 3"};
  static constexpr Field tclass{"ipv6.tclass", "Traffic Class", 4, 8, Display::hex, "RFC 8200, 7", {}, 8};
  static constexpr Field dscp{"ipv6.tclass.dscp", "DSCP", 4, 6, Display::decimal, "RFC 2474, 3", dscp_names};
  static constexpr Field ecn{"ipv6.tclass.ecn", "ECN", 10, 2, Display::decimal, "RFC 3168, 5", ecn_names};
  static constexpr Field flow{"ipv6.flow", "Flow Label", 12, 20, Display::hex, "RFC 6437", {}, 6};
  static constexpr Field plen{"ipv6.plen", "Payload Length", 32, 16, Display::decimal, "RFC 8200, 3"};
  static constexpr Field nxt{"ipv6.nxt",    "Next Header", 48, 8, Display::decimal,
                             "RFC 8200, 3", ip_proto_names};
  static constexpr Field hlim{"ipv6.hlim", "Hop Limit", 56, 8, Display::decimal, "RFC 8200, 3"};
  static constexpr Field src{"ipv6.src", "Source Address", 64, 128, Display::ipv6, "RFC 8200, 3"};
  static constexpr Field dst{"ipv6.dst", "Destination Address", 192, 128, Display::ipv6, "RFC 8200, 3"};
  static constexpr std::array fields{version, tclass, dscp, ecn, flow, plen, nxt, hlim, src, dst};
};

/// RFC 8200, 4: hop-by-hop, routing and destination options share this beginning.
template <HeaderId Id>
struct Ipv6Extension {
  static constexpr bool hop = Id == HeaderId::ipv6_hop_by_hop, route = Id == HeaderId::ipv6_routing;
  static constexpr HeaderId id = Id;
  static constexpr std::string_view name = hop ? "ipv6.hopopts" : route ? "ipv6.routing" : "ipv6.dstopts";
  static constexpr std::string_view title = hop     ? "IPv6 Hop-by-Hop Options"
                                            : route ? "IPv6 Routing Header"
                                                    : "IPv6 Destination Options";
  static constexpr std::size_t size = 8;
  static constexpr Field nxt{hop     ? std::string_view{"ipv6.hopopts.nxt"}
                             : route ? std::string_view{"ipv6.routing.nxt"}
                                     : std::string_view{"ipv6.dstopts.nxt"},
                             "Next Header",
                             0,
                             8,
                             Display::decimal,
                             "RFC 8200, 4",
                             ip_proto_names};
  static constexpr Field len{hop     ? std::string_view{"ipv6.hopopts.len"}
                             : route ? std::string_view{"ipv6.routing.len"}
                                     : std::string_view{"ipv6.dstopts.len"},
                             "Length (8-byte units beyond the first)",
                             8,
                             8,
                             Display::decimal,
                             "RFC 8200, 4"};
  static constexpr std::array fields{nxt, len};
};
using Ipv6HopByHop = Ipv6Extension<HeaderId::ipv6_hop_by_hop>;
using Ipv6Routing = Ipv6Extension<HeaderId::ipv6_routing>;
using Ipv6DestinationOptions = Ipv6Extension<HeaderId::ipv6_destination_options>;

/// RFC 8200, 4.5.
struct Ipv6Fragment {
  static constexpr HeaderId id = HeaderId::ipv6_fragment;
  static constexpr std::string_view name = "ipv6.fraghdr", title = "IPv6 Fragment Header";
  static constexpr std::size_t size = 8;
  static constexpr Field nxt{"ipv6.fraghdr.nxt", "Next Header", 0, 8, Display::decimal,
                             "RFC 8200, 4.5",    ip_proto_names};
  static constexpr Field offset{"ipv6.fraghdr.offset", "Offset (8-byte units)", 16, 13,
                                Display::decimal,      "RFC 8200, 4.5"};
  static constexpr Field more{"ipv6.fraghdr.more", "More Fragments", 31, 1,
                              Display::boolean,    "RFC 8200, 4.5"};
  static constexpr Field ident{"ipv6.fraghdr.ident", "Identification", 32, 32, Display::hex, "RFC 8200, 4.5"};
  static constexpr std::array fields{nxt, offset, more, ident};
};

inline constexpr std::uint16_t udp_port_roce_v2 = 4791;      ///< IANA; IBTA Annex A17
inline constexpr std::uint16_t udp_port_vxlan = 4789;        ///< RFC 7348
inline constexpr std::uint16_t udp_port_vxlan_linux = 8472;  ///< Linux's default before the IANA number
inline constexpr std::uint16_t udp_port_vxlan_gpe = 4790;
inline constexpr std::uint16_t udp_port_geneve = 6081;                          ///< RFC 8926
inline constexpr std::uint16_t udp_port_sflow = 6343;                           ///< IANA
inline constexpr std::uint16_t udp_port_ipfix = 4739;                           ///< IANA
inline constexpr std::uint16_t udp_ports_netflow[] = {2055, 4739, 9995, 9996};  ///< by custom

/// RFC 768.
struct Udp {
  static constexpr HeaderId id = HeaderId::udp;
  static constexpr std::string_view name = "udp", title = "User Datagram Protocol";
  static constexpr std::size_t size = 8;
  static constexpr Field srcport{"udp.srcport", "Source Port", 0, 16, Display::decimal, "RFC 768"};
  static constexpr Field dstport{"udp.dstport", "Destination Port", 16, 16, Display::decimal, "RFC 768"};
  static constexpr Field length{"udp.length", "Length", 32, 16, Display::decimal, "RFC 768"};
  static constexpr Field checksum{"udp.checksum", "Checksum", 48, 16, Display::hex, "RFC 768"};
  static constexpr std::array fields{srcport, dstport, length, checksum};
};

}  // namespace roce::dissect
