// SPDX-License-Identifier: Apache-2.0
// Frames that one port sends to the other end of its link, byte for byte after the standards, and RoCE
// packets between such ports.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "tests/analyze/packet/literal_packet.hpp"

namespace roce::analyze {

inline const std::string host_mac = "020000000001";    ///< a NIC's port
inline const std::string switch_mac = "0200000000f1";  ///< the switch's port on the same link

[[nodiscard]] inline std::string hex_of(std::uint64_t value, unsigned digits) {
  std::string text(digits, '0');
  for (unsigned i = digits; i-- > 0; value >>= 4U) text[i] = "0123456789abcdef"[value & 15U];
  return text;
}

/// A minimal frame of 60 bytes without check sequence.
[[nodiscard]] inline std::vector<std::uint8_t> padded(std::string_view hex) {
  std::vector<std::uint8_t> bytes = bytes_of(hex);
  bytes.resize(std::max<std::size_t>(bytes.size(), 60));
  return bytes;
}

/// IEEE 802.3, 31D.2: opcode 01-01, class enable vector, eight times. `times` has pairs of priority and
/// quanta; `reserved` is the vector's high byte.
[[nodiscard]] inline std::vector<std::uint8_t> pfc(const std::string& mac,
                                                   std::initializer_list<std::pair<unsigned, unsigned>> times,
                                                   unsigned reserved = 0) {
  unsigned vector = reserved << 8U;
  std::array<unsigned, 8> quanta{};
  for (const auto& [priority, time] : times) {
    vector |= 1U << priority;
    quanta[priority] = time;
  }
  std::string hex = "0180c2000001" + mac + "8808" + "0101" + hex_of(vector, 4);
  for (const unsigned time : quanta) hex += hex_of(time, 4);
  return padded(hex);
}

/// IEEE 802.3, 31B.2: opcode 00-01 and one time.
[[nodiscard]] inline std::vector<std::uint8_t> global_pause(const std::string& mac, unsigned quanta) {
  return padded("0180c2000001" + mac + "8808" + "0001" + hex_of(quanta, 4));
}

/// An RC acknowledge from port to port, tagged with a priority or with this TOS alone.
[[nodiscard]] inline std::vector<std::uint8_t> tagged_roce(const std::string& dst, const std::string& src,
                                                           unsigned pcp, unsigned tos = 0) {
  const std::string rest(ipv4_acknowledge.substr(ipv4_acknowledge.find("0800")));
  std::vector<std::uint8_t> bytes = bytes_of(dst + src + "8100" + hex_of(pcp << 13U | 5U, 4) + rest);
  bytes[19] = static_cast<std::uint8_t>(tos);
  return bytes;
}
[[nodiscard]] inline std::vector<std::uint8_t> plain_roce(const std::string& dst, const std::string& src,
                                                          unsigned tos) {
  const std::string rest(ipv4_acknowledge.substr(ipv4_acknowledge.find("0800")));
  std::vector<std::uint8_t> bytes = bytes_of(dst + src + rest);
  bytes[15] = static_cast<std::uint8_t>(tos);
  return bytes;
}

/// The same as SEND Only with this PSN: requests of RC.
[[nodiscard]] inline std::vector<std::uint8_t> as_request(std::vector<std::uint8_t> roce, std::uint32_t psn) {
  constexpr std::uint8_t tag = 0x81;
  constexpr std::uint8_t send_only = 0x04;
  const std::size_t bth = 14U + 20U + 8U + (roce[12] == tag ? 4U : 0U);
  roce[bth] = send_only;
  for (unsigned i = 0; i < 3; ++i) roce[bth + 9 + i] = static_cast<std::uint8_t>(psn >> (16U - 8U * i));
  return roce;
}

/// IEEE 802.1AB, 8.2: chassis (MAC), port (interface name), TTL, then what is given, then the end.
[[nodiscard]] inline std::vector<std::uint8_t> lldp(const std::string& mac, const std::string& tlvs,
                                                    unsigned ttl = 120) {
  return padded("0180c200000e" + mac + "88cc" + "020704" + mac + "0405 05 65746830" + "0602" +
                hex_of(ttl, 4) + tlvs + "0000");
}
/// IEEE 802.1Q, D.2.10: flags (willing 0x80), capability, enabled priorities.
[[nodiscard]] inline std::string ieee_pfc(bool willing, unsigned enabled) {
  return "fe06 0080c2 0b" + hex_of((willing ? 0x80U : 0U) | 8U, 2) + hex_of(enabled, 2);
}
/// IEEE 802.1Q, D.2.11: one application's priority.
[[nodiscard]] inline std::string ieee_application(unsigned priority, unsigned selector, unsigned protocol) {
  return "fe08 0080c2 0c 00" + hex_of(priority << 5U | selector, 2) + hex_of(protocol, 4);
}
/// IEEE 802.1Q, D.2.8: 8 classes by priority, 8 shares in percent, ETS for all.
[[nodiscard]] inline std::string ieee_ets(bool willing, const std::string& classes,
                                          const std::string& shares) {
  return "fe19 0080c2 09" + hex_of(willing ? 0x80U : 0U, 2) + classes + shares + "0202020202020202";
}

}  // namespace roce::analyze
