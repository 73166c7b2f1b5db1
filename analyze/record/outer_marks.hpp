// SPDX-License-Identifier: Apache-2.0
// What the fabric sees of a packet in a tunnel: the header that its queues go by.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyze/record/packet_record.hpp"
#include "capture/core/frame.hpp"
#include "dissect/dissection.hpp"

namespace roce::analyze {

/// Index of the first layer after a mirror's own headers (ERSPAN); 0 without a mirror.
[[nodiscard]] std::size_t end_of_mirror(const dissect::Dissection& dissection) noexcept;

/// Index of the outermost IP header of a packet in VXLAN, Geneve, GRE or IP in IP; Dissection::none for one
/// in no such tunnel. ERSPAN is a mirror's: the headers after it count.
[[nodiscard]] std::uint8_t outer_network(const dissect::Dissection& dissection) noexcept;

/// That header, and the tag in front of it.
struct OuterMarks {
  dissect::IpAddress from;  ///< the tunnel's end that sends, e.g. a VTEP
  dissect::IpAddress to;
  dissect::Tunnel tunnel{};
  std::uint8_t traffic_class = 0;   ///< DSCP and ECN
  std::optional<std::uint8_t> pcp;  ///< of the outermost tag

  [[nodiscard]] std::uint8_t dscp() const noexcept { return traffic_class >> 2U; }
  [[nodiscard]] std::uint8_t ecn() const noexcept { return traffic_class & 3U; }
  [[nodiscard]] auto operator<=>(const OuterMarks&) const noexcept = default;
};
[[nodiscard]] std::optional<OuterMarks> outer_marks(const std::uint8_t* frame,
                                                    const dissect::Dissection& dissection) noexcept;

/// Packets of a flow with the same marks inside and outside of a tunnel at one capture point.
struct OuterRow {
  OuterMarks outer;
  std::uint8_t inner = 0;   ///< DSCP and ECN of the packet itself
  std::uint16_t point = 0;  ///< capture::Frame::point
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;  ///< on the wire
  std::uint64_t first_packet = 0;
  std::int64_t first_time_ns = capture::no_time;
  std::int64_t last_time_ns = capture::no_time;

  [[nodiscard]] std::uint8_t inner_dscp() const noexcept { return inner >> 2U; }
  [[nodiscard]] std::uint8_t inner_ecn() const noexcept { return inner & 3U; }
};

}  // namespace roce::analyze
