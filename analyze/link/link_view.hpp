// SPDX-License-Identifier: Apache-2.0
// The link-level view of a frame, for priority flow control and LLDP.
#pragma once

#include <cstdint>
#include <optional>

#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

/// The Ethernet header that a port evaluates: the outermost, or the first after the headers of a mirror
/// (ERSPAN). MAC addresses are in the low 48 bits.
struct LinkView {
  std::uint64_t dst = 0;
  std::uint64_t src = 0;
  std::optional<std::uint8_t> pcp;  ///< of the outermost tag
  std::uint8_t dscp = 0;  ///< of the first IP header after it; 0 without one (switches do not read a GRH)
};
/// The link view of a dissected frame; absent for a frame without Ethernet header.
[[nodiscard]] std::optional<LinkView> link_view(const std::uint8_t* frame,
                                                const dissect::Dissection& dissection) noexcept;
/// link_view() without a dissection, for an Ethernet frame with at most two tags before its IP packet (or
/// GRH) and without GRE, which may be a mirror's. Absent for all other frames: use link_view().
[[nodiscard]] std::optional<LinkView> link_view_fast(const capture::Frame& frame) noexcept;

/// Kinds of frames that a port sends to the port at the other end of its link.
enum class LinkControl : std::uint8_t { none, mac_control, lldp };
[[nodiscard]] LinkControl link_control_of(const dissect::Dissection& dissection) noexcept;

}  // namespace roce::analyze
