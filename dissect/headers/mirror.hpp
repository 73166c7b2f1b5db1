// SPDX-License-Identifier: Apache-2.0
// What mirrors and time-stamping switches add: the subheader of ERSPAN III, stamps in front of and behind the
// frame.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/ethernet.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

namespace detail {
template <unsigned... Ids>
constexpr bool platform_is(const std::uint8_t* p) noexcept {
  return ((p[0] >> 2U == Ids) || ...);
}
constexpr Field of_platform(std::string_view name, std::string_view label, unsigned bit, unsigned bits,
                            Field::Presence present) {
  return decimal_field(name, label, bit, bits, "draft-foschiano-erspan, 4.3", {}, present);
}
}  // namespace detail

/// The platform-specific subheader of ERSPAN III. What other platforms mean by it is not known.
struct ErspanPlatform {
  static constexpr HeaderId id = HeaderId::erspan_platform;
  static constexpr std::string_view name = "erspan", title = "ERSPAN Platform Subheader";
  static constexpr std::size_t size = 8;
  static constexpr Field platform =
      detail::decimal_field("erspan.platid", "Platform ID", 0, 6, "draft-foschiano-erspan, 4.3");
  static constexpr Field domain =
      detail::of_platform("erspan.pid1.vsmid", "VSM Domain ID", 20, 12, detail::platform_is<1>);
  static constexpr Field port1 =
      detail::of_platform("erspan.pid1.port_index", "Port ID/Index", 32, 32, detail::platform_is<1>);
  static constexpr Field port3 =
      detail::of_platform("erspan.pid3.port_index", "Port ID/Index", 18, 14, detail::platform_is<3>);
  static constexpr Field upper3 =
      detail::of_platform("erspan.pid3.timestamp", "Upper 32-bit Timestamp", 32, 32, detail::platform_is<3>);
  static constexpr Field switch_id =
      detail::of_platform("erspan.pid5.switchid", "Switch ID", 6, 10, detail::platform_is<5, 6>);
  static constexpr Field port5 =
      detail::of_platform("erspan.pid5.port_index", "Port ID/Index", 16, 16, detail::platform_is<5, 6>);
  static constexpr Field seconds =
      detail::of_platform("erspan.pid5.timestamp", "Timestamp (seconds)", 32, 32, detail::platform_is<5, 6>);
  static constexpr Field source =
      detail::of_platform("erspan.pid7.source_index", "Source Index", 12, 20, detail::platform_is<7, 0>);
  static constexpr Field upper7 = detail::of_platform("erspan.pid7.timestamp", "Upper 32-bit Timestamp", 32,
                                                      32, detail::platform_is<7, 0>);
  static constexpr std::array fields{platform,  domain, port1,   port3,  upper3,
                                     switch_id, port5,  seconds, source, upper7};
};

namespace detail {
constexpr bool arista_is_64_bit(const std::uint8_t* p) noexcept {
  return (p[2] & 0x0fU) == 1;
}
constexpr bool arista_is_48_bit(const std::uint8_t* p) noexcept {
  return (p[2] & 0x0fU) == 2;
}
}  // namespace detail

/// The time stamp of Arista switches, behind the source MAC address; the ethertype of the frame follows.
struct AristaStamp {
  static constexpr HeaderId id = HeaderId::arista_stamp;
  static constexpr std::string_view name = "arista", title = "Arista Timestamp";
  static constexpr std::size_t size = 10;  ///< of the shorter format, without the ethertype
  static constexpr std::size_t long_size = 12;
  static constexpr std::uint16_t timestamps = 1;  ///< of `subtype`
  static constexpr Field subtype = detail::hex_field("arista.subtype", "Subtype", 0, 16, 16, {});
  static constexpr Field scale =
      detail::decimal_field("arista.timescale", "Timescale (0 TAI, 1 UTC)", 16, 4, {});
  static constexpr Field format =
      detail::decimal_field("arista.format", "Format (1: 64 bits, 2: 48 bits)", 20, 4, {});
  static constexpr Field hardware = detail::hex_field("arista.hardware", "Hardware", 24, 8, 8, {});
  static constexpr Field seconds =
      detail::decimal_field("arista.seconds", "Seconds", 32, 32, {}, {}, detail::arista_is_64_bit);
  static constexpr Field seconds16 = detail::decimal_field("arista.seconds", "Seconds (low 16 bits)", 32, 16,
                                                           {}, {}, detail::arista_is_48_bit);
  static constexpr Field nanoseconds16 =
      detail::decimal_field("arista.nanoseconds", "Nanoseconds", 48, 32, {}, {}, detail::arista_is_48_bit);
  static constexpr Field rest{"arista.time", "Time", 32, 0, Display::bytes};
  static constexpr std::array fields{subtype, scale,     format,        hardware,
                                     seconds, seconds16, nanoseconds16, rest};
  /// Nanoseconds of the longer format, which end behind the fixed part.
  [[nodiscard]] static constexpr std::uint32_t nanoseconds64(const std::uint8_t* p) noexcept {
    return load_be32(p + 8);
  }
};

inline constexpr ValueName csig_type_names[] = {{0, "least available bandwidth"},
                                                {1, "least available share of bandwidth"},
                                                {2, "longest delay"},
                                                {3, "deepest queue"}};

/// The congestion signal that switches write into a packet, behind the MAC addresses or VLAN tags; only of
/// the EtherType that the user names. The signal is a bucket of the switches' own table.
struct Csig {
  static constexpr HeaderId id = HeaderId::csig;
  static constexpr std::string_view name = "csig", title = "Congestion Signaling";
  static constexpr std::size_t size = 4;
  static constexpr std::string_view at = "draft-ravi-ippm-csig";
  static constexpr Field type = detail::decimal_field("csig.type", "Type", 0, 3, at, csig_type_names);
  static constexpr Field reserved = detail::decimal_field("csig.reserved", "Reserved", 3, 1, at);
  static constexpr Field signal = detail::decimal_field("csig.signal", "Signal (bucket)", 4, 5, at);
  static constexpr Field locator = detail::decimal_field("csig.locator", "Locator", 9, 7, at);
  static constexpr Field etype = detail::hex_field("csig.etype", "EtherType", 16, 16, 16, at);
  static constexpr std::array fields{type, reserved, signal, locator, etype};
};

}  // namespace roce::dissect
