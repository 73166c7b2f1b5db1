// SPDX-License-Identifier: Apache-2.0
// CM messages that set up and end simulated connections (IBTA 12.6; RDMA IP CM service of annex A11).
#pragma once

#include <array>
#include <cstdint>

#include "tests/support/fault_options.hpp"
#include "tests/support/fault_types.hpp"
#include "tests/support/frame_builder.hpp"

namespace roce::support {

enum class CmMessage : std::uint8_t { request, reply, ready, disconnect, disconnected };
// A sends request, ready and disconnect, B the others.
constexpr End sender_of(CmMessage message) {
  return message == CmMessage::reply || message == CmMessage::disconnected ? End::b : End::a;
}

// What a CM message says, of both ends (A 0, B 1).
struct CmFacts {
  std::uint32_t connection = 0;
  std::uint32_t qp[2] = {};
  std::uint32_t first_psn[2] = {};
  Ipv6Address gid[2] = {};  // IPv4 as ::ffff:a.b.c.d
};

constexpr std::uint32_t cm_qp = 1;
constexpr std::uint32_t cm_qkey = 0x80010000;

// The MAD, to follow a DETH.
std::array<std::uint8_t, 256> make_cm_mad(CmMessage message, const CmFacts& facts,
                                          const FaultOptions& options);

}  // namespace roce::support
