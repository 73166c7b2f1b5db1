// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace roce::analyze {

/// A packet in two bytes, for an index of all packets. A plain value.
struct PacketSummary {
  enum Bit : std::uint8_t {
    transport = 1,      ///< it has a BTH; otherwise `opcode` is undefined
    ce = 2,             ///< ECN: congestion experienced
    icrc_wrong = 4,     ///< its ICRC was checked and does not match
    nak = 8,            ///< an AETH with a NAK
    rnr_nak = 16,       ///< an AETH with an RNR NAK
    management = 32,    ///< to queue pair 0 or 1
    link_control = 64,  ///< MAC control or LLDP
    exported = 128      ///< a datagram of samples, records or drops that a switch exports
  };
  std::uint8_t opcode = 0;
  std::uint8_t bits = 0;

  [[nodiscard]] bool has(Bit bit) const noexcept { return (bits & bit) != 0; }
};
static_assert(sizeof(PacketSummary) == 2);

/// Receives the glances of frames `first`, `first` + 1 ... (numbers start at 1), in their order.
using TakeSummaries = std::function<void(std::uint64_t first, std::span<const PacketSummary> summaries)>;

}  // namespace roce::analyze
