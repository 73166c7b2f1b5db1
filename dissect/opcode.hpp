// SPDX-License-Identifier: Apache-2.0
// The 256 BTH opcodes, derived from 26 operation rows, the CNP and the services (IBTA table 38), and the 12
// rows of MRC.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "dissect/header_id.hpp"

namespace roce::dissect {

/// Bits 7..5 of the opcode.
enum class Service : std::uint8_t {
  rc = 0,
  uc = 1,
  rd = 2,
  ud = 3,
  cnp = 4,
  xrc = 5,
  mrc = 6,  ///< reserved by IBTA; Multipath Reliable Connection (OCP) has it
  manufacturer = 7,
  reserved = 8  ///< of no opcode: not known yet
};

enum class Operation : std::uint8_t {
  send,
  write,
  read_request,
  read_response,
  acknowledge,
  atomic_acknowledge,
  compare_swap,
  fetch_add,
  resync,
  flush,
  atomic_write,
  sack,  ///< MRC, and the rest of these
  nack,
  probe,
  endpoint_request,
  endpoint_response,
  cnp,
  unknown
};

/// Position of a packet in its message.
enum class Position : std::uint8_t { only, first, middle, last };

/// CNP, IBTA A17.9.3. Wireshark 4.0 to 4.4 does not know this value.
inline constexpr std::uint8_t opcode_cnp = 0x81;

/// Properties of an opcode. 10 bytes, because every packet needs them; the names are in another table.
struct OpcodeInfo {
  static constexpr std::uint8_t absent = 0xff;

  Service service = Service::reserved;
  Operation operation = Operation::unknown;
  Position position = Position::only;
  bool defined : 1 = false;
  bool request : 1 = false;      ///< travels in the requester's direction
  bool response : 1 = false;     ///< a response: its PSN is of the peer's PSN space
  bool has_payload : 1 = false;  ///< message data may follow the headers
  bool immediate : 1 = false;
  bool invalidate : 1 = false;
  bool atomic : 1 = false;  ///< has an AtomicETH
  /// Of MRC: in a WRITE, a bit of the BTH may add a TSETH, by which the offsets below are too small then.
  bool variable : 1 = false;
  /// Extended headers between BTH and payload, in wire order, as bits of extended_headers[].
  std::uint16_t headers = 0;
  std::uint8_t headers_size = 0;  ///< their total size in bytes
  // Offsets of the headers that the analysis reads, in bytes after the BTH, or absent.
  std::uint8_t remote_offset = absent;  ///< RETH, or AtomicETH if `atomic`
  std::uint8_t remote_size = 0;
  std::uint8_t aeth_offset = absent;

  [[nodiscard]] constexpr bool starts_message() const noexcept {
    return position == Position::only || position == Position::first;
  }
  [[nodiscard]] constexpr bool ends_message() const noexcept {
    return position == Position::only || position == Position::last;
  }
};

/// Wire order of the extended headers: bit i of OpcodeInfo::headers is extended_headers[i].
struct ExtendedHeader {
  HeaderId id;
  std::uint8_t size;
};
inline constexpr std::array<ExtendedHeader, 16> extended_headers{{{HeaderId::rdeth, 4},
                                                                  {HeaderId::deth, 8},
                                                                  {HeaderId::xrceth, 4},
                                                                  {HeaderId::feth, 4},
                                                                  {HeaderId::mrc_meth, 4},
                                                                  {HeaderId::reth, 16},
                                                                  {HeaderId::atomiceth, 28},
                                                                  {HeaderId::aeth, 4},
                                                                  {HeaderId::atomicacketh, 8},
                                                                  {HeaderId::immdt, 4},
                                                                  {HeaderId::ieth, 4},
                                                                  {HeaderId::mrc_seth, 36},
                                                                  {HeaderId::mrc_neth, 20},
                                                                  {HeaderId::mrc_peth, 16},
                                                                  {HeaderId::mrc_erth, 16},
                                                                  {HeaderId::mrc_eeth, 36}}};

extern const std::array<OpcodeInfo, 256> opcode_table;

[[nodiscard]] inline const OpcodeInfo& opcode_info(std::uint8_t opcode) noexcept {
  return opcode_table[opcode];
}

/// "RC RDMA WRITE Only", "CNP", "unknown 0xd7". The view is valid for the whole run.
[[nodiscard]] std::string_view opcode_name(std::uint8_t opcode) noexcept;
/// The same without the service: "RDMA WRITE Only".
[[nodiscard]] std::string_view operation_name(std::uint8_t opcode) noexcept;
/// "RC", "UC", "RD", "UD", "CNP", "XRC", "MRC", "manufacturer", "reserved".
[[nodiscard]] std::string_view service_name(Service service) noexcept;

}  // namespace roce::dissect
