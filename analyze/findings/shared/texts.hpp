// SPDX-License-Identifier: Apache-2.0
// The words that findings share: who, how much, which packets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/findings/shared/grouping.hpp"

namespace roce::analyze {

/// "10.0.0.1 QP 0x000047"; "10.0.0.1 QP ?" where its packets would have to tell and were not captured.
[[nodiscard]] std::string endpoint_text(const Endpoint& endpoint);
/// "10.0.0.1 QP 0x000047 > 10.0.0.2 QP 0x000048": from side to the other.
[[nodiscard]] std::string ends_text(const Connection& connection, unsigned side = 0);

/// Who a finding is about: a connection's ends, a pair of hosts, a host.
[[nodiscard]] std::string subject_text(const Group& group);
/// "" for one connection, else "In 17 connections from 10.0.0.1 to 10.0.0.2: ".
[[nodiscard]] std::string scope_text(const Group& group);
/// "" for one connection, else " Most in connection 12 (10.0.0.1 QP ... ): 37.".
[[nodiscard]] std::string worst_text(const Group& group);
/// The host of the sending side, "the senders" where there are several.
[[nodiscard]] std::string from_text(const Group& group);
[[nodiscard]] std::string to_text(const Group& group);

/// "4.10 µs"; beyond what fits a signed number, the largest that does.
[[nodiscard]] std::string wait_text(std::uint64_t nanoseconds);
/// The verb to a number of things: "repeats" of one, "repeat" of others.
[[nodiscard]] constexpr std::string_view verb(std::uint64_t n, std::string_view one,
                                              std::string_view many) noexcept {
  return n == 1 ? one : many;
}
/// "once", "twice", "17 times".
[[nodiscard]] std::string times_text(std::uint64_t n);
/// "37 of 3742 packets (1.0 %)"; without the part in brackets where `whole` is 0.
[[nodiscard]] std::string share_text(std::uint64_t part, std::uint64_t whole,
                                     std::string_view what = "packets");
/// " Goodput 61.0 Mb/s, on the wire 74.2 Mb/s (82.2 %)."; empty where nothing can be said.
[[nodiscard]] std::string goodput_text(const Group& group);
/// "3 after a sequence NAK, 1 after a timeout", "all after a timeout"; empty if nothing was repeated.
[[nodiscard]] std::string repeats_text(const Group& group);

/// Packets that one side sent again, for whatever cause.
[[nodiscard]] std::uint64_t repeats_of(const Events& sent) noexcept;
/// Message bytes of both sides, each once.
[[nodiscard]] std::uint64_t new_bytes_of(const Connection& connection) noexcept;

/// 4.096 us times 2^code: the code that comes closest to a spacing of resends.
[[nodiscard]] unsigned timeout_code_of(std::uint64_t spacing_ns) noexcept;
/// The CM exchange of a connection, or nullptr.
[[nodiscard]] const CmExchange* exchange_of(const Snapshot& snapshot, const Connection& connection) noexcept;

}  // namespace roce::analyze
