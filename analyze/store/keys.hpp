// SPDX-License-Identifier: Apache-2.0
// Keys by which rows of many hosts meet. Every host computes them alike, whatever its byte order, and so does
// ClickHouse: sipHash64(text) % 9223372036854775808.
#pragma once

#include <cstdint>
#include <string_view>

namespace roce::analyze {

/// SipHash-2-4 with a key of zeros.
[[nodiscard]] std::uint64_t sip_hash(std::string_view text) noexcept;
/// The same without its highest bit, because SQLite and JSON have signed numbers.
[[nodiscard]] std::uint64_t store_key(std::string_view text) noexcept;

// `fabric` is empty, or a name where address spaces overlap. Addresses as text (10.77.0.1).

/// Of two addresses, in any order: both directions, both ends and all queue pairs of two hosts have the same.
[[nodiscard]] std::uint64_t hash_of_pair(std::string_view fabric, std::string_view a, std::string_view b);
/// Of one direction to one queue pair: what every point can tell from every packet.
[[nodiscard]] std::uint64_t hash_of_flow(std::string_view fabric, std::string_view src, std::string_view dst,
                                         std::uint32_t dst_qp);
/// Of two queue pairs, in any order.
[[nodiscard]] std::uint64_t hash_of_connection(std::string_view fabric, std::string_view a,
                                               std::uint32_t a_qp, std::string_view b, std::uint32_t b_qp);

}  // namespace roce::analyze
