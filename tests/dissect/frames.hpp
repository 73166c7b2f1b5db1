// SPDX-License-Identifier: Apache-2.0
// Frames put together from the inside out: every function wraps a payload in one header and takes
// what the header declares of its length as a difference to the truth, so that it can lie.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "tests/dissect/hex.hpp"

namespace roce::dissect::test {

using Packet = std::vector<std::uint8_t>;

inline void put(Packet& out, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = bytes; i-- > 0;) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

inline Packet operator+(Packet a, const Packet& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

using dissect::hex;

inline Packet filled(std::size_t size, std::uint8_t value = 0xa5) {
  return Packet(size, value);
}

inline Packet ethernet(std::uint16_t type, const Packet& payload) {
  Packet out = hex("525400000b01 525400000a01");
  put(out, type, 2);
  return out + payload;
}

inline Packet vlan(std::uint16_t tci, std::uint16_t type, const Packet& payload) {
  Packet out;
  put(out, tci, 2);
  put(out, type, 2);
  return out + payload;
}

struct Ip {
  int length_lie = 0;          ///< added to the true length
  std::uint16_t fragment = 0;  ///< flags and offset of IPv4
  std::size_t options = 0;     ///< bytes of IPv4 options, a multiple of 4
  std::uint8_t tos = 0x02;
  bool damaged = false;  ///< the header checksum is wrong
};

inline Packet ipv4(std::uint8_t protocol, const Packet& payload, Ip ip = {}) {
  Packet out;
  const std::size_t header = 20 + ip.options;
  put(out, 0x40 | header / 4, 1);
  put(out, ip.tos, 1);
  put(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(header + payload.size()) + ip.length_lie), 2);
  put(out, 0x1234, 2);
  put(out, ip.fragment, 2);
  put(out, 64, 1);
  put(out, protocol, 1);
  put(out, 0, 2);
  out = out + hex("0a4d0001 0a4d0002") + filled(ip.options, 1);
  std::uint32_t sum = ip.damaged ? 1 : 0;
  for (std::size_t i = 0; i < header; i += 2) sum += out[i] * 256U + out[i + 1];
  sum = ~((sum & 0xffffU) + (sum >> 16U));
  out[10] = static_cast<std::uint8_t>(sum >> 8U);
  out[11] = static_cast<std::uint8_t>(sum);
  return out + payload;
}

inline Packet ipv6(std::uint8_t next, const Packet& payload, int length_lie = 0) {
  Packet out = hex("60200000");
  put(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(payload.size()) + length_lie), 2);
  put(out, next, 1);
  put(out, 64, 1);
  return out + hex("fd770000000000000000000000000001 fd770000000000000000000000000002") + payload;
}

/// Hop-by-hop, routing or destination options of `units` × 8 bytes.
inline Packet ipv6_extension(std::uint8_t next, std::size_t units, const Packet& payload) {
  Packet out;
  put(out, next, 1);
  put(out, units - 1, 1);
  return out + filled(units * 8 - 2, 1) + payload;
}

inline Packet ipv6_fragment(std::uint8_t next, std::uint16_t offset_and_more, const Packet& payload) {
  Packet out;
  put(out, next, 1);
  put(out, 0, 1);
  put(out, offset_and_more, 2);
  put(out, 0xcafe, 4);
  return out + payload;
}

inline Packet udp(std::uint16_t port, const Packet& payload, int length_lie = 0,
                  std::uint16_t source = 0xc0de) {
  Packet out;
  put(out, source, 2);
  put(out, port, 2);
  put(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(8 + payload.size()) + length_lie), 2);
  put(out, 0, 2);
  return out + payload;
}

/// BTH to QP 0x22 with PSN 7, then `rest` (headers, payload, pad) and four bytes in place of the ICRC.
inline Packet bth(std::uint8_t opcode, const Packet& rest, std::uint32_t qp = 0x22) {
  Packet out;
  put(out, opcode, 1);
  put(out, 0x40, 1);
  put(out, 0xffff, 2);
  put(out, qp, 4);
  put(out, 0x80000007, 4);
  return out + rest + hex("deadbeef");
}

/// A CNP over IPv6 with these destination options, of a switch.
inline Packet fast_cnp(std::string_view options) {
  const Packet body = hex(options);
  Packet extension;
  put(extension, 17, 1);
  put(extension, (2 + body.size()) / 8 - 1, 1);
  return ethernet(0x86dd, ipv6(60, extension + body + udp(4791, bth(0x81, filled(16, 0)))));
}

inline Packet roce_v2(std::uint8_t opcode, const Packet& rest) {
  return udp(4791, bth(opcode, rest));
}

inline Packet grh(const Packet& payload, int length_lie = 0, std::uint8_t next = 0x1b) {
  Packet out = hex("60000000");
  put(out, static_cast<std::uint64_t>(static_cast<std::int64_t>(payload.size()) + length_lie), 2);
  put(out, next, 1);
  put(out, 1, 1);
  return out + hex("fe800000000000000000000000000001 fe800000000000000000000000000002") + payload;
}

/// LRH, with the true length in words unless `words` says otherwise, and two bytes of VCRC.
inline Packet lrh(std::uint8_t next, const Packet& payload, int words = -1) {
  Packet out;
  const int truth = static_cast<int>((8 + payload.size()) / 4);
  put(out, 0x10, 1);
  put(out, 0x50U | next, 1);
  put(out, 0x0003, 2);
  put(out, static_cast<std::uint64_t>(words < 0 ? truth : words) & 0x7ff, 2);
  put(out, 0x0004, 2);
  return out + payload + hex("cdef");
}

}  // namespace roce::dissect::test
