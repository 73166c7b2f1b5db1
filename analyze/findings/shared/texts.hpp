// SPDX-License-Identifier: Apache-2.0
// Texts that findings share: who, how much, which packets.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analyze/base/address_text.hpp"
#include "analyze/findings/shared/grouping.hpp"

namespace roce::analyze {

/// "10.0.0.1 QP 0x000047"; "10.0.0.1 QP ?" if no packet shows the number.
[[nodiscard]] std::string endpoint_text(const Endpoint& endpoint);
/// "10.0.0.1 QP 0x000047 > 10.0.0.2 QP 0x000048": from `side` to its peer.
[[nodiscard]] std::string ends_text(const Connection& connection, unsigned side = 0);

/// Who a finding is about: a connection's ends, a pair of hosts, a host.
[[nodiscard]] std::string subject_text(const Group& group);
/// "" for one connection, else "In 17 connections from 10.0.0.1 to 10.0.0.2: ".
[[nodiscard]] std::string scope_text(const Group& group);
/// "" for one connection, else " Most in connection 12 (10.0.0.1 QP ... ): 37.".
[[nodiscard]] std::string worst_text(const Group& group);
/// The address of the sending side, or "the senders" if there are several; to_text(): of the receiving side.
[[nodiscard]] std::string from_text(const Group& group);
[[nodiscard]] std::string to_text(const Group& group);

/// "4.10 µs"; values above the largest std::int64_t are shown as that.
[[nodiscard]] std::string wait_text(std::uint64_t nanoseconds);
/// The verb for a number of things: `one` for 1, else `many`.
[[nodiscard]] constexpr std::string_view verb(std::uint64_t n, std::string_view one,
                                              std::string_view many) noexcept {
  return n == 1 ? one : many;
}
/// "once", "twice", "17 times".
[[nodiscard]] std::string times_text(std::uint64_t n);
/// "37 of 3742 packets (1.0 %)"; "37 packets" where `whole` is 0.
[[nodiscard]] std::string share_text(std::uint64_t part, std::uint64_t whole,
                                     std::string_view what = "packets");
/// " Goodput 61.0 Mb/s, on the wire 74.2 Mb/s (82.2 %)."; empty where it is not known.
[[nodiscard]] std::string goodput_text(const Group& group);
/// "3 after a sequence NAK, 1 after a timeout", "all after a timeout"; empty if nothing was retransmitted.
[[nodiscard]] std::string repeats_text(const Group& group);

/// Packets that one side retransmitted, for any cause.
[[nodiscard]] std::uint64_t repeats_of(const Events& sent) noexcept;
/// Message bytes of both sides, each once.
[[nodiscard]] std::uint64_t new_bytes_of(const Connection& connection) noexcept;

/// The local ACK timeout code (4.096 us times 2^code, IBTA 9.7.6.1.3) closest to a spacing of
/// retransmissions, 0..31.
[[nodiscard]] unsigned timeout_code_of(std::uint64_t spacing_ns) noexcept;
/// The CM exchange of a connection, or nullptr; belongs to the snapshot.
[[nodiscard]] const CmExchange* exchange_of(const Snapshot& snapshot, const Connection& connection) noexcept;

}  // namespace roce::analyze
