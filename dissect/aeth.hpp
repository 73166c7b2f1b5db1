// SPDX-License-Identifier: Apache-2.0
// The AETH syndrome: IBTA 9.3.5 (table 45), 9.7.5.2.8 (timers), 9.7.7.2.4 (credits).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace roce::dissect {

/// Bits 6-5 of the syndrome.
enum class AethKind : std::uint8_t { ack = 0, rnr_nak = 1, reserved = 2, nak = 3 };

[[nodiscard]] constexpr AethKind aeth_kind(std::uint8_t syndrome) noexcept {
  return static_cast<AethKind>((syndrome >> 5U) & 3U);
}
/// Bits 4-0: a credit code (ACK), a timer code (RNR NAK) or an error code (NAK).
[[nodiscard]] constexpr std::uint8_t aeth_code(std::uint8_t syndrome) noexcept {
  return syndrome & 0x1fU;
}

/// Receive requests (RQ credits) that an ACK's credit code grants; none for code 31 (the responder does not
/// use end-to-end flow control). Only the five low bits count.
[[nodiscard]] std::optional<std::uint32_t> credits(std::uint8_t code) noexcept;

/// The RNR timer of an RNR NAK in nanoseconds: 10 us (code 1) to 655.36 ms (code 0).
[[nodiscard]] std::uint64_t rnr_timer_ns(std::uint8_t code) noexcept;

/// "PSN sequence error", ...; empty for codes that the specification reserves.
[[nodiscard]] std::string_view nak_name(std::uint8_t code) noexcept;

/// The whole syndrome in words: "ACK", "RNR NAK 0.64 ms", "NAK PSN sequence error",
/// "NAK code 17", "reserved 0x5f". Valid for the whole run.
[[nodiscard]] std::string_view syndrome_text(std::uint8_t syndrome) noexcept;

}  // namespace roce::dissect
