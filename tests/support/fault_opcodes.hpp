// SPDX-License-Identifier: Apache-2.0
// BTH opcodes of RC that the fault simulator sends (IBTA table 38) and AETH syndromes (table 45).
#pragma once

#include <cstdint>

#include "tests/support/fault_types.hpp"

namespace roce::support {

struct OpcodeSet {
  std::uint8_t first, middle, last, only;
};
constexpr OpcodeSet send_opcodes{0x00, 0x01, 0x02, 0x04};
constexpr OpcodeSet write_opcodes{0x06, 0x07, 0x08, 0x0a};
constexpr OpcodeSet response_opcodes{0x0d, 0x0e, 0x0f, 0x10};
constexpr std::uint8_t read_request_opcode = 0x0c;
constexpr std::uint8_t acknowledge_opcode = 0x11;
constexpr std::uint8_t atomic_acknowledge_opcode = 0x12;
constexpr std::uint8_t fetch_add_opcode = 0x14;
constexpr std::uint8_t ud_send_only_opcode = 0x64;
constexpr std::uint8_t cnp_opcode = 0x81;

constexpr std::uint8_t ack_syndrome = 0x1f;  // credits not used
constexpr std::uint8_t rnr_nak_syndrome = 0x20;
constexpr std::uint8_t sequence_nak_syndrome = 0x60;
constexpr std::uint8_t access_nak_syndrome = 0x62;

constexpr std::uint8_t opcode_at(const OpcodeSet& set, std::uint32_t packet, std::uint32_t packets) {
  if (packets == 1) {
    return set.only;
  }
  return packet == 0 ? set.first : packet + 1 == packets ? set.last : set.middle;
}

}  // namespace roce::support
