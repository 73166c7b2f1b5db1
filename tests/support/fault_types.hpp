// SPDX-License-Identifier: Apache-2.0
// What the parts of the fault simulator hand each other: packets, PSN arithmetic, causes.
#pragma once

#include <cstdint>

namespace roce::support {

using Time = std::uint64_t;  // nanoseconds since the simulation began

// 24-bit circular PSNs (IBTA 9.7.1): the sign of the distance orders two of them.
constexpr std::uint32_t psn_mask = 0xffffff;
constexpr std::uint32_t psn_add(std::uint32_t psn, std::uint32_t count) {
  return (psn + count) & psn_mask;
}
constexpr std::int32_t psn_distance(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::int32_t>((to - from) << 8) >> 8;
}
constexpr bool psn_before(std::uint32_t a, std::uint32_t b) {
  return psn_distance(a, b) > 0;
}

enum class Kind : std::uint8_t {
  write,
  send,
  read_request,
  atomic_request,
  read_response,
  atomic_response,
  ack,
  sequence_nak,
  rnr_nak,
  access_nak,
};
constexpr bool is_response(Kind kind) {
  return kind >= Kind::read_response;
}
// Takes one PSN of the space for itself, so that its absence leaves a hole.
constexpr bool fills_psn(Kind kind) {
  return kind <= Kind::atomic_response;
}

constexpr bool is_nak(Kind kind) {
  return kind >= Kind::sequence_nak;
}

// Requests that an ACK of a later PSN does not answer.
constexpr bool is_answered_apart(Kind kind) {
  return kind == Kind::read_request || kind == Kind::atomic_request;
}

// Why a sender sent again: `roce.analysis.retransmission.cause` of the interface, without `unknown`.
enum class Cause : std::uint8_t { none, nak, timeout, rnr, read_retry };
constexpr std::uint8_t cause_bit(Cause cause) {
  return static_cast<std::uint8_t>(1U << static_cast<unsigned>(cause));
}
constexpr std::uint8_t any_cause = 0x1e;

// What a sender knows of a packet that it sends again.
struct Repeat {
  bool repeated = false;
  bool alone = false;  // selective repeat: what follows is not sent again
  Cause cause = Cause::none;
  std::uint8_t also = 0;  // cause bits that the definitions allow as well, with a reason in fault_truth.hpp
  bool trigger_captured = true;  // the NAK or request that made the sender repeat is in the capture
  bool contract_silent = false;  // the definitions do not say whether this is a retransmission
  bool by_timer = false;         // READ request: the timer sent it, because its first response is missing
  bool executed = false;         // READ response, not sent before: the responder had executed the READ before
  bool first_answer = false;     // READ response, not sent before: to a READ that had to be issued again
};

// One PSN space: requests of one end of a connection and the answers to them.
// Number 2 * connection for requests of end A, + 1 for those of end B.
using SpaceId = std::uint32_t;
enum class End : std::uint8_t { a, b };
constexpr End requester_of(SpaceId space) {
  return (space & 1U) == 0 ? End::a : End::b;
}
constexpr End other(End end) {
  return end == End::a ? End::b : End::a;
}

struct Packet {
  SpaceId space = 0;
  Kind kind = Kind::ack;
  std::uint8_t opcode = 0;
  bool ack_request = false;
  bool ends_message = false;
  std::uint8_t syndrome = 0;
  std::uint16_t ip_id = 0;
  std::uint32_t psn = 0;
  std::uint32_t psn_count = 1;  // READ request: PSNs of the responses it asks for
  std::uint32_t payload = 0;    // bytes
  std::uint32_t dma_length = 0;
  std::uint64_t address = 0;
  std::uint32_t msn = 0;
  std::uint32_t msn_of_request = 0;  // READ response: count of messages with the READ. Not on the wire
  // Not on the wire:
  Repeat repeat{};
  std::uint32_t run = 0;          // of its stream; a new one begins where the sender went back
  std::uint32_t damage = 0;       // which of its bits flipped; 0: none
  bool trimmed = false;           // a switch before the capture cut it
  bool remarked = false;          // ... or left it whole, but marked it as if
  std::uint32_t twin = 0;         // of a transmission that the network doubled, both copies the same; 0: none
  bool sure_to_be_taken = false;  // response: its requester lacked nothing before it
  std::uint64_t sequence = 0;     // of transmissions in its stream, 1 ...
  std::uint64_t frame = 0;        // its number in the capture; 0: not captured
};

constexpr End sender_of(const Packet& packet) {
  const End requester = requester_of(packet.space);
  return is_response(packet.kind) ? other(requester) : requester;
}

}  // namespace roce::support
