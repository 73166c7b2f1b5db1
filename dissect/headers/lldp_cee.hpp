// SPDX-License-Identifier: Apache-2.0
// DCBX before its standard: "DCB Capability Exchange Protocol Base Specification Rev 1.01" (2008),
// an organisationally specific LLDP TLV of sub-TLVs, which begin with two bytes of type and length too.
#pragma once

#include <array>

#include "dissect/headers/lldp_dcbx.hpp"

namespace roce::dissect {

inline constexpr ValueName cee_type_names[] = {
    {1, "Control"}, {2, "Priority Groups"}, {3, "Priority-based Flow Control"}, {4, "Application Protocol"}};

/// The TLV up to its sub-TLVs.
struct LldpDcbxCee : LldpTlv {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_cee;
  static constexpr std::string_view name = "lldp", title = "DCBX (CEE)";
  static constexpr std::size_t size = 6;
  static constexpr Field oui = LldpOrganisational::oui;
  static constexpr Field subtype{"lldp.dcbx.proto", "DCBX Protocol", 40, 8, Display::hex, "DCBX 1.01, 2.2"};
  static constexpr std::array fields{type, length, oui, subtype};
};

/// The first two bytes of every sub-TLV.
struct CeeTlv {
  static constexpr Field type =
      detail::decimal_field("lldp.dcbx.type", "DCBX TLV Type", 0, 7, "DCBX 1.01, 3.1", cee_type_names);
  static constexpr Field length =
      detail::decimal_field("lldp.dcbx.len", "DCBX TLV Length", 7, 9, "DCBX 1.01, 3.1");
  static constexpr Field version{"lldp.dcbx.version", "Operating Version", 16, 8,
                                 Display::hex,        "DCBX 1.01, 3.1"};
  static constexpr Field max_version{"lldp.dcbx.max_version", "Max Version", 24, 8, Display::hex,
                                     "DCBX 1.01, 3.1"};
};

/// The bytes that follow in every feature's sub-TLV.
struct CeeFeatureTlv : CeeTlv {
  static constexpr Field enabled =
      detail::flag_field("lldp.dcbx.feature.enabled", "Enabled", 32, "DCBX 1.01, 3.1.3");
  static constexpr Field willing =
      detail::flag_field("lldp.dcbx.feature.willing", "Willing", 33, "DCBX 1.01, 3.1.3");
  static constexpr Field error =
      detail::flag_field("lldp.dcbx.feature.error", "Error", 34, "DCBX 1.01, 3.1.3");
  static constexpr Field subtype{"lldp.dcbx.feature.subtype", "Subtype", 40, 8, Display::hex,
                                 "DCBX 1.01, 3.1.3"};
};

struct LldpDcbxCeeControl : CeeTlv {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_cee_control;
  static constexpr std::string_view name = "lldp", title = "DCBX Control";
  static constexpr std::size_t size = 12;
  static constexpr Field sequence =
      detail::decimal_field("lldp.dcbx.control.seq", "Sequence Number", 32, 32, "DCBX 1.01, 3.1.2");
  static constexpr Field acknowledge =
      detail::decimal_field("lldp.dcbx.control.ack", "Acknowledge Number", 64, 32, "DCBX 1.01, 3.1.2");
  static constexpr std::array fields{type, length, version, max_version, sequence, acknowledge};
};

struct LldpDcbxCeePriorityGroups : CeeFeatureTlv {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_cee_priority_groups;
  static constexpr std::string_view name = "lldp", title = "DCBX Priority Groups";
  static constexpr std::size_t size = 19;
  static constexpr std::string_view at = "DCBX 1.01, 3.1.4";
  static constexpr Field classes{
      "lldp.dcbx.feature.pg.numtcs", "Number of Traffic Classes Supported", 144, 8, Display::hex, at};
  static constexpr std::array fields{
      type,
      length,
      version,
      max_version,
      enabled,
      willing,
      error,
      subtype,
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio0", "Group of Priority 0", 48, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio1", "Group of Priority 1", 52, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio2", "Group of Priority 2", 56, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio3", "Group of Priority 3", 60, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio4", "Group of Priority 4", 64, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio5", "Group of Priority 5", 68, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio6", "Group of Priority 6", 72, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio7", "Group of Priority 7", 76, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per0", "Bandwidth of Group 0 (%)", 80, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per1", "Bandwidth of Group 1 (%)", 88, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per2", "Bandwidth of Group 2 (%)", 96, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per3", "Bandwidth of Group 3 (%)", 104, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per4", "Bandwidth of Group 4 (%)", 112, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per5", "Bandwidth of Group 5 (%)", 120, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per6", "Bandwidth of Group 6 (%)", 128, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per7", "Bandwidth of Group 7 (%)", 136, 8, at),
      classes};
};

struct LldpDcbxCeePfc : CeeFeatureTlv {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_cee_pfc;
  static constexpr std::string_view name = "lldp", title = "DCBX Priority-based Flow Control";
  static constexpr std::size_t size = 8;
  static constexpr std::string_view at = "DCBX 1.01, 3.1.5";
  static constexpr Field priorities{"lldp.dcbx.feature.pfc.enabled", "PFC Enable", 48, 8, Display::hex, at};
  static constexpr Field classes{
      "lldp.dcbx.feature.pfc.numtcs", "Number of Traffic Classes Supported", 56, 8, Display::hex, at};
  static constexpr std::array fields{
      type,
      length,
      version,
      max_version,
      enabled,
      willing,
      error,
      subtype,
      priorities,
      detail::flag_field("lldp.dcbx.feature.pfc.prio0", "PFC for Priority 0", 55, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio1", "PFC for Priority 1", 54, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio2", "PFC for Priority 2", 53, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio3", "PFC for Priority 3", 52, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio4", "PFC for Priority 4", 51, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio5", "PFC for Priority 5", 50, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio6", "PFC for Priority 6", 49, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio7", "PFC for Priority 7", 48, at),
      classes};
};

/// The entries follow.
struct LldpDcbxCeeApplication : CeeFeatureTlv {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_cee_application;
  static constexpr std::string_view name = "lldp", title = "DCBX Application Protocol";
  static constexpr std::size_t size = 6;
  static constexpr std::array fields{type, length, version, max_version, enabled, willing, error, subtype};
};

struct LldpDcbxCeeApplicationEntry {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_cee_application_entry;
  static constexpr std::string_view name = "lldp", title = "Application Priority";
  static constexpr std::size_t size = 6;
  static constexpr std::string_view at = "DCBX 1.01, 3.1.6";
  static constexpr ValueName selector_names[] = {{0, "Ethertype"}, {1, "TCP or UDP port"}};
  static constexpr Field protocol{
      "lldp.dcbx.feature.app.proto", "Application Protocol ID", 0, 16, Display::hex, at};
  /// The organisation code is split around the selector; Wireshark shows the two parts as one number.
  static constexpr Field oui_high{
      "lldp.dcbx.feature.app.oui.high", "Application OUI (upper 6 bits)", 16, 6, Display::hex, at};
  static constexpr Field selector =
      detail::decimal_field("lldp.dcbx.feature.app.sf", "Selector Field", 22, 2, at, selector_names);
  static constexpr Field oui_low{
      "lldp.dcbx.feature.app.oui.low", "Application OUI (lower 16 bits)", 24, 16, Display::hex, at};
  /// A bitmap: bit 3 set = priority 3.
  static constexpr Field priorities =
      detail::decimal_field("lldp.dcbx.feature.app.prio", "Application Priority (bitmap)", 40, 8, at);
  static constexpr std::array fields{protocol, oui_high, selector, oui_low, priorities};
};

/// A sub-TLV of another type.
struct LldpDcbxCeeUnknown : CeeTlv {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_cee_unknown;
  static constexpr std::string_view name = "lldp", title = "DCBX TLV of unknown type";
  static constexpr std::size_t size = 2;
  static constexpr Field content{"lldp.dcbx.content", "Content", 16, 0, Display::bytes, "DCBX 1.01, 3.1"};
  static constexpr std::array fields{type, length, content};
};

}  // namespace roce::dissect
