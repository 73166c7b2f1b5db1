// SPDX-License-Identifier: Apache-2.0
// DCBX: TLVs of IEEE 802.1Qaz (IEEE 802.1Q-2018, Annex D.2) and of its precursor CEE ("DCB Capability
// Exchange Protocol Base Specification Rev 1.01", 2008).
#pragma once

#include <array>

#include "dissect/headers/lldp.hpp"

namespace roce::dissect {

// Subtypes under lldp_oui_8021, IEEE 802.1Q, table D-1.
inline constexpr std::uint8_t dcbx_ets_configuration = 0x09, dcbx_ets_recommendation = 0x0a, dcbx_pfc = 0x0b,
                              dcbx_application = 0x0c;
/// Subtype under lldp_oui_cee, and the types of its sub-TLVs.
inline constexpr std::uint8_t cee_subtype = 2;
inline constexpr std::uint8_t cee_control = 1, cee_priority_groups = 2, cee_pfc = 3, cee_application = 4;

/// IEEE 802.1Q, table D-9.
inline constexpr ValueName dcbx_selector_names[] = {{1, "Ethertype"},
                                                    {2, "TCP or SCTP port"},
                                                    {3, "UDP or DCCP port"},
                                                    {4, "TCP, SCTP, UDP or DCCP port"},
                                                    {5, "DSCP"}};
/// IEEE 802.1Q, table D-6.
inline constexpr ValueName dcbx_tsa_names[] = {{0, "strict priority"},
                                               {1, "credit-based shaper"},
                                               {2, "enhanced transmission selection"},
                                               {255, "vendor specific"}};

/// The first bytes of every TLV of IEEE 802.1.
struct DcbxTlv : LldpTlv {
  static constexpr Field oui = LldpOrganisational::oui;
  static constexpr Field subtype{"lldp.ieee.802_1.subtype", "IEEE 802.1 Subtype", 40, 8, Display::hex,
                                 "IEEE 802.1Q, D.1"};
};

/// IEEE 802.1Q, D.2.8 (configuration) and D.2.9 (recommendation).
template <HeaderId Id>
struct LldpDcbxEts : DcbxTlv {
  static constexpr bool is_configuration = Id == HeaderId::lldp_dcbx_ets_configuration;
  static constexpr HeaderId id = Id;
  static constexpr std::string_view name = "lldp",
                                    title = is_configuration ? "ETS Configuration" : "ETS Recommendation";
  static constexpr std::size_t size = 27;
  static constexpr std::string_view at = is_configuration ? "IEEE 802.1Q, D.2.8" : "IEEE 802.1Q, D.2.9";
  static constexpr Field willing = detail::flag_field("lldp.dcbx.ieee.willing", "Willing", 48, at);
  static constexpr Field cbs = detail::flag_field("lldp.dcbx.ieee.ets.cbs", "Credit-Based Shaper", 49, at);
  static constexpr Field max_classes =
      detail::decimal_field("lldp.dcbx.ieee.ets.maxtcs", "Maximum Number of Traffic Classes", 53, 3, at);
  static constexpr std::array common{
      type,
      length,
      oui,
      subtype,
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio0", "Traffic Class of Priority 0", 56, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio1", "Traffic Class of Priority 1", 60, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio2", "Traffic Class of Priority 2", 64, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio3", "Traffic Class of Priority 3", 68, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio4", "Traffic Class of Priority 4", 72, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio5", "Traffic Class of Priority 5", 76, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio6", "Traffic Class of Priority 6", 80, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.pgid_prio7", "Traffic Class of Priority 7", 84, 4, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per0", "Bandwidth of Class 0 (%)", 88, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per1", "Bandwidth of Class 1 (%)", 96, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per2", "Bandwidth of Class 2 (%)", 104, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per3", "Bandwidth of Class 3 (%)", 112, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per4", "Bandwidth of Class 4 (%)", 120, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per5", "Bandwidth of Class 5 (%)", 128, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per6", "Bandwidth of Class 6 (%)", 136, 8, at),
      detail::decimal_field("lldp.dcbx.feature.pg.per7", "Bandwidth of Class 7 (%)", 144, 8, at),
      detail::decimal_field("lldp.dcbx.ieee.ets.tsa0", "Selection of Class 0", 152, 8, at, dcbx_tsa_names),
      detail::decimal_field("lldp.dcbx.ieee.ets.tsa1", "Selection of Class 1", 160, 8, at, dcbx_tsa_names),
      detail::decimal_field("lldp.dcbx.ieee.ets.tsa2", "Selection of Class 2", 168, 8, at, dcbx_tsa_names),
      detail::decimal_field("lldp.dcbx.ieee.ets.tsa3", "Selection of Class 3", 176, 8, at, dcbx_tsa_names),
      detail::decimal_field("lldp.dcbx.ieee.ets.tsa4", "Selection of Class 4", 184, 8, at, dcbx_tsa_names),
      detail::decimal_field("lldp.dcbx.ieee.ets.tsa5", "Selection of Class 5", 192, 8, at, dcbx_tsa_names),
      detail::decimal_field("lldp.dcbx.ieee.ets.tsa6", "Selection of Class 6", 200, 8, at, dcbx_tsa_names),
      detail::decimal_field("lldp.dcbx.ieee.ets.tsa7", "Selection of Class 7", 208, 8, at, dcbx_tsa_names)};
  // Only in a configuration TLV: a recommendation has a reserved byte here.
  static constexpr auto fields = [] {
    if constexpr (is_configuration) {
      std::array<Field, common.size() + 3> all{};
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = i < 4 ? common[i] : i == 4 ? willing : i == 5 ? cbs : i == 6 ? max_classes : common[i - 3];
      }
      return all;
    } else {
      return common;
    }
  }();
};
using LldpDcbxEtsConfiguration = LldpDcbxEts<HeaderId::lldp_dcbx_ets_configuration>;
using LldpDcbxEtsRecommendation = LldpDcbxEts<HeaderId::lldp_dcbx_ets_recommendation>;

/// IEEE 802.1Q, D.2.10.
struct LldpDcbxPfc : DcbxTlv {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_pfc;
  static constexpr std::string_view name = "lldp", title = "Priority-based Flow Control Configuration";
  static constexpr std::size_t size = 8;
  static constexpr std::string_view at = "IEEE 802.1Q, D.2.10";
  static constexpr Field willing = detail::flag_field("lldp.dcbx.ieee.willing", "Willing", 48, at);
  static constexpr Field mbc =
      detail::flag_field("lldp.dcbx.ieee.pfc.mbc", "MACsec Bypass Capability", 49, at);
  static constexpr Field max_classes =
      detail::decimal_field("lldp.dcbx.ieee.pfc.numtcs", "Max PFC Enabled Traffic Classes", 52, 4, at);
  /// All eight bits, priority 7 first; Wireshark has only the single bits.
  static constexpr Field enabled{"lldp.dcbx.feature.pfc.enabled", "PFC Enable", 56, 8, Display::hex, at};
  static constexpr std::array fields{
      type,
      length,
      oui,
      subtype,
      willing,
      mbc,
      max_classes,
      enabled,
      detail::flag_field("lldp.dcbx.feature.pfc.prio0", "PFC for Priority 0", 63, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio1", "PFC for Priority 1", 62, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio2", "PFC for Priority 2", 61, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio3", "PFC for Priority 3", 60, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio4", "PFC for Priority 4", 59, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio5", "PFC for Priority 5", 58, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio6", "PFC for Priority 6", 57, at),
      detail::flag_field("lldp.dcbx.feature.pfc.prio7", "PFC for Priority 7", 56, at)};
};

/// IEEE 802.1Q, D.2.11; entries follow.
struct LldpDcbxApplication : DcbxTlv {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_application;
  static constexpr std::string_view name = "lldp", title = "Application Priority Table";
  static constexpr std::size_t size = 7;
  static constexpr Field reserved{"lldp.dcbx.ieee.app.reserved", "Reserved", 48, 8, Display::hex};
  static constexpr std::array fields{type, length, oui, subtype, reserved};
};

/// IEEE 802.1Q, D.2.11.3.
struct LldpDcbxApplicationEntry {
  static constexpr HeaderId id = HeaderId::lldp_dcbx_application_entry;
  static constexpr std::string_view name = "lldp", title = "Application Priority";
  static constexpr std::size_t size = 3;
  static constexpr std::string_view at = "IEEE 802.1Q, D.2.11.3";
  static constexpr Field priority =
      detail::decimal_field("lldp.dcbx.ieee.app.prio", "Application Priority", 0, 3, at);
  static constexpr Field selector =  // the name is Wireshark's
      detail::decimal_field("lldp.dcbx.iee.app.sf", "Application Selector", 5, 3, at, dcbx_selector_names);
  static constexpr Field protocol{
      "lldp.dcbx.feature.app.proto", "Application Protocol ID", 8, 16, Display::hex, at};
  static constexpr std::array fields{priority, selector, protocol};
};

}  // namespace roce::dissect
