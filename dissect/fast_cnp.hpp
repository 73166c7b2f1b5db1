// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "dissect/bytes.hpp"
#include "dissect/dissection.hpp"

namespace roce::dissect {

/// A CNP that a switch sends to the sender of a packet that met congestion there: over IPv6, with the queue
/// pair of the *receiver* in its BTH, and the receiver's address in an option before UDP. One source
/// (draft-xiao-rtgwg-rocev2-fast-cnp), never seen on hardware; the number of the option is not public, so it
/// is the first one with room for an address. Where that address begins in `frame`; nothing: it is none.
[[nodiscard]] std::optional<std::uint32_t> fast_cnp_address(Bytes frame, const Dissection& d) noexcept;

}  // namespace roce::dissect
