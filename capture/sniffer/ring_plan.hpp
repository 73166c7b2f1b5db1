// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

// Internal: how many buffers of which size a sniffer's ring gets.
namespace roce::capture {

struct RingNeeds {
  std::uint64_t speed_bps = 0;  ///< of the link; 0 = unknown: 100 Gbit/s are assumed
  std::chrono::milliseconds time{50};
  std::uint32_t rdma_mtu = 4096;      ///< bytes of payload
  std::uint32_t netdev_mtu = 0;       ///< the sniffer sees all frames of the port, not RoCE alone; 0 = none
  std::uint32_t max_receives = 0;     ///< the device's, of one queue; 0 = unknown
  std::uint32_t max_completions = 0;  ///< the device's, of one completion queue; 0 = unknown
};

struct RingPlan {
  enum class Limit : std::uint8_t { none, device, memory };

  std::uint32_t buffers = 0;
  std::uint32_t buffer_bytes = 0;  ///< a whole frame, whatever the snap length: the device cuts none
  Limit limit{};
  /// Frames as long as the RDMA MTU allows, one after the other on the link, for so long.
  std::chrono::microseconds holds{};

  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{buffers} * buffer_bytes; }
};

inline constexpr std::uint32_t fewest_buffers = 512;
inline constexpr std::uint64_t most_ring_bytes = std::uint64_t{1} << 30U;

[[nodiscard]] RingPlan plan_ring(const RingNeeds& needs);

/// Half as many buffers, because the device takes no more; false where it has the fewest already.
[[nodiscard]] bool shrink(RingPlan& plan, const RingNeeds& needs);

/// "8192 buffers of 4352 bytes (36 MB), 2.8 ms of frames of full size at 100 Gbit/s".
[[nodiscard]] std::string describe(const RingPlan& plan, const RingNeeds& needs);

/// Room for a frame of that MTU with all headers that a frame may have.
[[nodiscard]] std::uint32_t frame_room(std::uint32_t rdma_mtu, std::uint32_t netdev_mtu);

}  // namespace roce::capture
