// SPDX-License-Identifier: Apache-2.0
// Shells that hide what they carry: IPsec ESP and AH, and PSP. MACsec is in ethernet.hpp.
#pragma once

#include <array>

#include "dissect/header_id.hpp"
#include "dissect/headers/field_kinds.hpp"
#include "dissect/headers/ip.hpp"

namespace roce::dissect {

inline constexpr std::uint8_t ip_proto_esp = 50;
inline constexpr std::uint8_t ip_proto_ah = 51;
inline constexpr std::uint16_t udp_port_psp = 1000;
inline constexpr std::uint16_t udp_port_ipsec_nat = 4500;  ///< RFC 3948: ESP, IKE and keep-alives

/// RFC 4303, 2. Ciphertext follows.
struct Esp {
  static constexpr HeaderId id = HeaderId::esp;
  static constexpr std::string_view name = "esp", title = "Encapsulating Security Payload";
  static constexpr std::size_t size = 8;
  static constexpr Field spi{"esp.spi", "SPI", 0, 32, Display::hex, "RFC 4303, 2.1"};
  static constexpr Field sequence{"esp.sequence",   "Sequence Number", 32, 32,
                                  Display::decimal, "RFC 4303, 2.2"};
  static constexpr std::array fields{spi, sequence};
};

/// RFC 4302, 2. What follows it can be read.
struct Ah {
  static constexpr HeaderId id = HeaderId::ah;
  static constexpr std::string_view name = "ah", title = "Authentication Header";
  static constexpr std::size_t size = 12;
  static constexpr Field next{"ah.next_header", "Next Header", 0, 8, Display::decimal,
                              "RFC 4302, 2.1",  ip_proto_names};
  static constexpr Field length{"ah.length",    "Length (4-byte units less 2)", 8, 8, Display::decimal,
                                "RFC 4302, 2.2"};
  static constexpr Field spi{"ah.spi", "SPI", 32, 32, Display::hex, "RFC 4302, 2.4"};
  static constexpr Field sequence{"ah.sequence",    "Sequence Number", 64, 32,
                                  Display::decimal, "RFC 4302, 2.5"};
  static constexpr std::array fields{next, length, spi, sequence};
};

/// PSP Security Protocol. Wireshark 4.0 does not know it.
struct Psp {
  static constexpr HeaderId id = HeaderId::psp;
  static constexpr std::string_view name = "psp", title = "PSP Security Protocol";
  static constexpr std::size_t size = 16;
  static constexpr std::string_view at = "PSP Architecture Specification, PSP Header";
  static constexpr Field next =
      detail::decimal_field("psp.next_header", "Next Header", 0, 8, at, ip_proto_names);
  static constexpr Field length =
      detail::decimal_field("psp.length", "Header Length (8-byte units beyond the first)", 8, 8, at);
  static constexpr Field crypt_offset =
      detail::decimal_field("psp.crypt_offset", "Crypt Offset (4-byte units)", 18, 6, at);
  static constexpr Field sample = detail::flag_field("psp.sample", "Sample", 24, at);
  static constexpr Field drop = detail::flag_field("psp.drop", "Drop", 25, at);
  static constexpr Field version = detail::decimal_field("psp.version", "Version", 26, 4, at);
  static constexpr Field has_vc =
      detail::flag_field("psp.vc_present", "Virtualization Cookie present", 30, at);
  static constexpr Field one = detail::flag_field("psp.one", "Always 1", 31, at);
  static constexpr Field spi = detail::hex_field("psp.spi", "SPI", 32, 32, 32, at);
  static constexpr Field iv = detail::decimal_field("psp.iv", "Initialization Vector", 64, 64, at);
  static constexpr Field vc{"psp.vc",
                            "Virtualization Cookie",
                            128,
                            0,
                            Display::bytes,
                            at,
                            {},
                            0,
                            1,
                            [](const std::uint8_t* p) noexcept { return (p[3] & 2U) != 0; }};
  static constexpr std::array fields{next,   length, crypt_offset, sample, drop, version,
                                     has_vc, one,    spi,          iv,     vc};
};

}  // namespace roce::dissect
