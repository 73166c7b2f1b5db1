// SPDX-License-Identifier: Apache-2.0
// A frame as the link sees it that carries it: what priority flow control and LLDP are about.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

/// The Ethernet header that a port reads: the outermost, or the first behind a mirror's own headers
/// (ERSPAN). MAC addresses are in the low 48 bits.
struct LinkView {
  std::uint64_t dst = 0;
  std::uint64_t src = 0;
  std::optional<std::uint8_t> pcp;  ///< of the outermost tag
  std::uint8_t dscp = 0;  ///< of the first IP header behind it; 0 without one: no switch looks into a GRH
};
/// Nothing for a frame without Ethernet header.
[[nodiscard]] std::optional<LinkView> link_view(const std::uint8_t* frame,
                                                const dissect::Dissection& dissection) noexcept;
/// The same for an Ethernet frame whose IP packet (or GRH) stands behind two tags at most and that is no
/// GRE, so no mirror's; nothing for any other, which needs its dissection.
[[nodiscard]] std::optional<LinkView> link_view_fast(const capture::Frame& frame) noexcept;

/// What a frame without RoCE is that one port sends to the one at the other end of its link.
enum class LinkControl : std::uint8_t { none, mac_control, lldp };
[[nodiscard]] LinkControl link_control_of(const dissect::Dissection& dissection) noexcept;

}  // namespace roce::analyze
