// SPDX-License-Identifier: Apache-2.0
// READs of one requester, and their responses.
#pragma once

#include "tests/analyze/tracker/tracker_support.hpp"

namespace roce::analyze::tracker_reads_test {

inline constexpr End a{1, 0x11};
inline constexpr End b{2, 0x22};

inline constexpr std::uint8_t first = 0x0d;
inline constexpr std::uint8_t middle = 0x0e;
inline constexpr std::uint8_t last = 0x0f;

/// A READ of `count` packets, or what is still missing of it.
inline std::uint32_t read(Wire& wire, std::uint32_t psn, std::uint32_t count) {
  PacketRecord r = wire.make(a, b, read_request, psn);
  r.dma_length = count * 1024;
  return wire.send(r);
}

inline PacketRecord response(Wire& wire, std::uint32_t psn, std::uint8_t opcode) {
  PacketRecord r = wire.make(b, a, opcode, psn);
  r.payload = 1024;
  return r;
}

/// All responses from `psn` on to the end of the READ before `end`.
inline void respond(Wire& wire, std::uint32_t psn, std::uint32_t end, bool begins = true) {
  for (std::uint32_t at = psn; at < end; ++at) {
    const bool starts = at == psn && begins;
    wire.send(response(wire, at, at + 1 == end ? last : starts ? first : middle));
  }
}

/// Path MTU and IPv4 IDs are known after this.
inline void warm_up(Wire& wire) {
  wire.talk(a, b, 100, 20);
  read(wire, 120, 4);
  respond(wire, 120, 124);
}

inline constexpr std::int64_t timer_ns = 1'000'000;

}  // namespace roce::analyze::tracker_reads_test
