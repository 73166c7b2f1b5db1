// SPDX-License-Identifier: Apache-2.0
// Tunnels and mirror encapsulations that may carry RoCE.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/ethernet.hpp"

namespace roce::dissect {

/// RFC 2784, fixed part. Checksum, key and sequence number follow if their bits are set.
struct Gre {
  static constexpr HeaderId id = HeaderId::gre;
  static constexpr std::string_view name = "gre", title = "Generic Routing Encapsulation";
  static constexpr std::size_t size = 4;
  static constexpr Field has_checksum{"gre.flags.checksum", "Checksum Bit", 0, 1,
                                      Display::boolean,     "RFC 2784, 2.1"};
  static constexpr Field has_routing{"gre.flags.routing", "Routing Bit", 1, 1, Display::boolean, "RFC 1701"};
  static constexpr Field has_key{"gre.flags.key", "Key Bit", 2, 1, Display::boolean, "RFC 2890, 2"};
  static constexpr Field has_sequence{
      "gre.flags.sequence_number", "Sequence Number Bit", 3, 1, Display::boolean, "RFC 2890, 2"};
  static constexpr Field version{"gre.flags.version", "Version", 13, 3, Display::decimal, "RFC 2784, 2.3"};
  static constexpr Field proto{"gre.proto",     "Protocol Type", 16, 16, Display::hex,
                               "RFC 2784, 2.4", ethertype_names};
  static constexpr std::array fields{has_checksum, has_routing, has_key, has_sequence, version, proto};
};

struct GreChecksum {
  static constexpr HeaderId id = HeaderId::gre_checksum;
  static constexpr std::string_view name = {}, title = "GRE Checksum";
  static constexpr std::size_t size = 4;
  static constexpr Field checksum{"gre.checksum", "Checksum", 0, 16, Display::hex, "RFC 2784, 2.5"};
  static constexpr Field offset{"gre.offset", "Offset", 16, 16, Display::decimal, "RFC 1701"};
  static constexpr std::array fields{checksum, offset};
};

struct GreKey {
  static constexpr HeaderId id = HeaderId::gre_key;
  static constexpr std::string_view name = {}, title = "GRE Key";
  static constexpr std::size_t size = 4;
  static constexpr Field key{"gre.key", "Key", 0, 32, Display::hex, "RFC 2890, 2.1"};
  static constexpr std::array fields{key};
};

struct GreSequence {
  static constexpr HeaderId id = HeaderId::gre_sequence;
  static constexpr std::string_view name = {}, title = "GRE Sequence Number";
  static constexpr std::size_t size = 4;
  static constexpr Field sequence{"gre.sequence_number", "Sequence Number", 0, 32,
                                  Display::decimal,      "RFC 2890, 2.2"};
  static constexpr std::array fields{sequence};
};

/// ERSPAN II (draft-foschiano-erspan-03, 4.2). Type I has no header of its own.
struct Erspan2 {
  static constexpr HeaderId id = HeaderId::erspan2;
  static constexpr std::string_view name = "erspan", title = "ERSPAN Type II";
  static constexpr std::size_t size = 8;
  static constexpr Field version{
      "erspan.version", "Version", 0, 4, Display::decimal, "draft-foschiano-erspan, 4.2"};
  static constexpr Field vlan{"erspan.vlan", "VLAN", 4, 12};
  static constexpr Field cos{"erspan.cos", "COS", 16, 3};
  static constexpr Field encap{"erspan.encap", "Encapsulation", 19, 2};
  static constexpr Field truncated{"erspan.truncated", "Truncated", 21, 1};
  static constexpr Field spanid{"erspan.spanid", "Session ID", 22, 10};
  static constexpr Field index{"erspan.index", "Index", 44, 20};
  static constexpr std::array fields{version, vlan, cos, encap, truncated, spanid, index};
};

/// ERSPAN III (draft-foschiano-erspan-03, 4.3); an 8-byte platform subheader follows if O is set.
struct Erspan3 {
  static constexpr HeaderId id = HeaderId::erspan3;
  static constexpr std::string_view name = "erspan", title = "ERSPAN Type III";
  static constexpr std::size_t size = 12;
  static constexpr Field version{
      "erspan.version", "Version", 0, 4, Display::decimal, "draft-foschiano-erspan, 4.3"};
  static constexpr Field vlan{"erspan.vlan", "VLAN", 4, 12};
  static constexpr Field cos{"erspan.cos", "COS", 16, 3};
  static constexpr Field bso{"erspan.bso", "Bad/Short/Oversized", 19, 2};
  static constexpr Field truncated{"erspan.truncated", "Truncated", 21, 1};
  static constexpr Field spanid{"erspan.spanid", "Session ID", 22, 10};
  static constexpr Field timestamp{"erspan.timestamp", "Timestamp", 32, 32};
  static constexpr Field sgt{"erspan.sgt", "Security Group Tag", 64, 16};
  static constexpr Field pdu{"erspan.p", "Has Ethernet PDU", 80, 1};
  static constexpr Field frame_type{"erspan.ft", "Frame Type", 81, 5};
  static constexpr Field hardware{"erspan.hw", "Hardware ID", 86, 6};
  static constexpr Field direction{"erspan.direction", "Direction", 92, 1, Display::boolean};
  static constexpr Field granularity{"erspan.gra", "Timestamp granularity", 93, 2};
  static constexpr Field optional{"erspan.o", "Optional subheader", 95, 1};
  static constexpr std::array fields{version, vlan, cos,        bso,      truncated, spanid,      timestamp,
                                     sgt,     pdu,  frame_type, hardware, direction, granularity, optional};
};

/// RFC 7348, 5; with the group policy extension.
struct Vxlan {
  static constexpr HeaderId id = HeaderId::vxlan;
  static constexpr std::string_view name = "vxlan", title = "Virtual eXtensible LAN";
  static constexpr std::size_t size = 8;
  static constexpr Field flags{"vxlan.flags", "Flags", 0, 16, Display::hex, "RFC 7348, 5"};
  static constexpr Field gbp{"vxlan.gbp", "Group Policy ID", 16,
                             16,          Display::decimal,  "draft-smith-vxlan-group-policy"};
  static constexpr Field vni{"vxlan.vni", "VXLAN Network Identifier", 32,
                             24,          Display::decimal,           "RFC 7348, 5"};
  static constexpr std::array fields{flags, gbp, vni};
};

/// draft-ietf-nvo3-vxlan-gpe: as VXLAN, with a next protocol.
struct VxlanGpe {
  static constexpr HeaderId id = HeaderId::vxlan_gpe;
  static constexpr std::string_view name = "vxlan", title = "VXLAN Generic Protocol Extension";
  static constexpr std::size_t size = 8;
  static constexpr Field flags{"vxlan.flags", "Flags", 0, 8, Display::hex, "draft-ietf-nvo3-vxlan-gpe, 3"};
  static constexpr Field next{"vxlan.next_proto", "Next Protocol", 24, 8};
  static constexpr Field vni{"vxlan.vni", "VXLAN Network Identifier", 32, 24};
  static constexpr std::array fields{flags, next, vni};
};

/// RFC 8926, 3.4; options follow.
struct Geneve {
  static constexpr HeaderId id = HeaderId::geneve;
  static constexpr std::string_view name = "geneve", title = "Generic Network Virtualization Encapsulation";
  static constexpr std::size_t size = 8;
  static constexpr Field version{"geneve.version", "Version", 0, 2, Display::decimal, "RFC 8926, 3.4"};
  static constexpr Field optlen{
      "geneve.option.length", "Options length", 2, 6, Display::decimal, "RFC 8926, 3.4", {}, 0, 4};
  static constexpr Field proto{"geneve.proto_type", "Protocol Type", 16, 16, Display::hex,
                               "RFC 8926, 3.4",     ethertype_names};
  static constexpr Field vni{
      "geneve.vni", "Virtual Network Identifier", 32, 24, Display::hex, "RFC 8926, 3.4", {}, 6};
  static constexpr std::array fields{version, optlen, proto, vni};
};

}  // namespace roce::dissect
