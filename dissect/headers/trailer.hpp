// SPDX-License-Identifier: Apache-2.0
// What time-stamping switches put behind a packet: trailers of Metamako (MetaWatch, Arista 7130) and of
// Exablaze (ExaLINK, Nexus 3550-F).
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"

namespace roce::dissect {

/// The FCS that the frame came with, in front of the rest of the trailer.
struct MetamakoFcs {
  static constexpr HeaderId id = HeaderId::metamako_fcs;
  static constexpr std::string_view name = {}, title = "Metamako Original FCS";
  static constexpr std::size_t size = 4;
  static constexpr Field fcs = detail::hex_field("metamako.orig_fcs", "Original FCS", 0, 32, 32, {});
  static constexpr std::array fields{fcs};
};

namespace detail {
template <unsigned Tag>
constexpr bool metamako_tag_is(const std::uint8_t* p) noexcept {
  return (p[3] & 0x1fU) == Tag;
}
}  // namespace detail

/// A tag with three bytes in front of it.
struct MetamakoExtension {
  static constexpr HeaderId id = HeaderId::metamako_extension;
  static constexpr std::string_view name = {}, title = "Metamako Trailer Extension";
  static constexpr std::size_t size = 4;
  static constexpr Field sequence =
      detail::decimal_field("metamako.seqnum", "Sequence Number", 8, 16, {}, {}, detail::metamako_tag_is<0>);
  static constexpr Field fraction = detail::decimal_field(
      "metamako.sub_nanoseconds", "Sub-nanoseconds (1/2^24 ns)", 0, 24, {}, {}, detail::metamako_tag_is<1>);
  static constexpr Field last = detail::flag_field("metamako.extension.last", "Last", 26, {});
  static constexpr Field tag = detail::decimal_field("metamako.extension.tag", "Tag", 27, 5, {});
  static constexpr std::array fields{sequence, fraction, last, tag};
};

/// A tag with words in front of it.
struct MetamakoLongExtension {
  static constexpr HeaderId id = HeaderId::metamako_long_extension;
  static constexpr std::string_view name = {}, title = "Metamako Trailer Extension";
  static constexpr std::size_t size = 8;
  static constexpr Field bytes =
      detail::plain_field("metamako.extension.bytes", "Data and tag", 0, 0, Display::bytes, {});
  static constexpr std::array fields{bytes};
};

struct Metamako {
  static constexpr HeaderId id = HeaderId::metamako;
  static constexpr std::string_view name = "metamako", title = "Metamako Trailer";
  static constexpr std::size_t size = 12;
  static constexpr Field seconds = detail::decimal_field("metamako.seconds", "Seconds", 0, 32, {});
  static constexpr Field nanoseconds =
      detail::decimal_field("metamako.nanoseconds", "Nanoseconds", 32, 32, {});
  static constexpr Field flags = detail::hex_field("metamako.flags", "Flags", 64, 8, 8, {});
  static constexpr Field reserved =
      detail::plain_field("metamako.flags.reserved", "Reserved", 64, 6, Display::decimal, {});
  static constexpr Field extensions =
      detail::flag_field("metamako.flags.has_extensions", "Has Trailer Extensions", 70, {});
  static constexpr Field valid =
      detail::flag_field("metamako.flags.orig_fcs_vld", "Original FCS Valid", 71, {});
  static constexpr Field device = detail::decimal_field("metamako.srcdevice", "Source Device ID", 72, 16, {});
  static constexpr Field port = detail::decimal_field("metamako.srcport", "Source Port", 88, 8, {});
  static constexpr std::array fields{seconds, nanoseconds, flags, reserved, extensions, valid, device, port};
};

struct Exablaze {
  static constexpr HeaderId id = HeaderId::exablaze;
  static constexpr std::string_view name = "exablaze", title = "Exablaze Trailer";
  static constexpr std::size_t size = 16;
  static constexpr Field fcs = detail::hex_field("exablaze.original_fcs", "Original FCS", 0, 32, 32, {});
  static constexpr Field device = detail::decimal_field("exablaze.device", "Device ID", 32, 8, {});
  static constexpr Field port = detail::decimal_field("exablaze.port", "Port", 40, 8, {});
  static constexpr Field seconds =
      detail::decimal_field("exablaze.timestamp.seconds", "Seconds since epoch", 48, 32, {});
  static constexpr Field fraction =
      detail::decimal_field("exablaze.timestamp.fraction", "Fraction (1/2^40 s)", 80, 40, {});
  static constexpr Field reserved = detail::hex_field("exablaze.reserved", "Reserved", 120, 8, 8, {});
  static constexpr std::array fields{fcs, device, port, seconds, fraction, reserved};
};

}  // namespace roce::dissect
