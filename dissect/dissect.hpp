// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "dissect/bytes.hpp"
#include "dissect/dissection.hpp"

namespace roce::dissect {

/// Link types of the tcpdump.org LINKTYPE registry that dissect() supports.
inline constexpr std::uint16_t link_null = 0, link_ethernet = 1, link_raw = 101, link_loop = 108,
                               link_linux_sll = 113, link_erf = 197, link_ipv4 = 228, link_ipv6 = 229,
                               link_infiniband = 247, link_linux_sll2 = 276;

/// Numbers of protocols that only the user knows, because nobody assigned them; 0 = none.
struct NamedNumbers {
  std::uint16_t falcon_port = 0;  ///< of UDP
  std::uint16_t veroce_port = 0;
  std::uint8_t ifa_protocol = 0;  ///< of IP
  std::uint16_t csig_type = 0;    ///< EtherType of the tag
};

struct Options {
  /// Also read IP packets of this protocol number as BTH directly over IP ("RRoCE over IP"); 0 = none.
  std::uint8_t roce_ip_protocol = 0;
  /// UDP port besides 4791 on which MRC is looked for, where the packet looks like it; 0 = none. MRC 1.0
  /// prints 4971, probably 4791 with two digits swapped.
  std::uint16_t mrc_port = 4971;
  /// DSCPs that switches give to packets that they trim, a bit each. None is known by itself: what is shorter
  /// than its IP length says is taken for trimmed only if it has one of these.
  std::uint64_t trimmed_dscps = 0;
  NamedNumbers named;
  [[nodiscard]] bool is_trimmed_dscp(unsigned dscp) const noexcept {
    return (trimmed_dscps >> dscp & 1U) != 0;
  }
};

/// Finds the headers of one frame. `wire_length` is the frame's length on the wire in bytes (at least
/// frame.size()); `link_type` is one of the numbers above, of another one out.stop is unknown_link_type.
/// `out` is overwritten. Thread-safe, allocates nothing, reads only inside `frame`.
void dissect(Bytes frame, std::uint32_t wire_length, std::uint16_t link_type, Dissection& out,
             const Options& options = {}) noexcept;

/// Adds the headers of a frame that a switch shows in `frame`, in the `shown` bytes from `offset` on (inside
/// of it), to those of `out`, as sampled ones. `wire`: how long it was; 0: not known. Where there is no room
/// for them, out.stop says so.
void dissect_shown(Bytes frame, std::uint32_t offset, std::uint32_t shown, std::uint32_t wire,
                   std::uint16_t link_type, Dissection& out, const Options& options = {}) noexcept;

/// The values of the field roce.stop: "cut by the capture", ... All three views are valid for the whole run.
[[nodiscard]] std::string_view stop_name(Stop stop) noexcept;
[[nodiscard]] std::string_view transport_name(Transport transport) noexcept;
[[nodiscard]] std::string_view tunnel_name(Tunnel tunnel) noexcept;

}  // namespace roce::dissect
