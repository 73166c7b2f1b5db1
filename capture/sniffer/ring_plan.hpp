// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

// Internal: number and size of the buffers of a sniffer's ring.
namespace roce::capture {

struct RingNeeds {
  std::uint64_t speed_bps = 0;  ///< of the link; 0 = unknown: 100 Gbit/s are assumed
  std::chrono::milliseconds time{50};
  std::uint32_t rdma_mtu = 4096;      ///< IB MTU: bytes of payload
  std::uint32_t netdev_mtu = 0;       ///< of the interface: all frames are sniffed, not only RoCE; 0 = none
  std::uint32_t max_receives = 0;     ///< device limit for one queue; 0 = unknown
  std::uint32_t max_completions = 0;  ///< device limit for one completion queue; 0 = unknown
};

struct RingPlan {
  enum class Limit : std::uint8_t { none, device, memory };

  std::uint32_t buffers = 0;
  std::uint32_t buffer_bytes = 0;  ///< fits a whole frame, as the device does not truncate to the snap length
  Limit limit{};
  /// How long the ring lasts with full-size RDMA frames at link speed.
  std::chrono::microseconds holds{};

  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{buffers} * buffer_bytes; }
};

inline constexpr std::uint32_t fewest_buffers = 512;
inline constexpr std::uint64_t most_ring_bytes = std::uint64_t{1} << 30U;

[[nodiscard]] RingPlan plan_ring(const RingNeeds& needs);

/// UnpairedConnections the number of buffers, because the device refused it; false if it is `fewest_buffers`
/// already.
[[nodiscard]] bool shrink(RingPlan& plan, const RingNeeds& needs);

/// "8192 buffers of 4352 bytes (36 MB), 2.8 ms of full-size RDMA frames at 100 Gbit/s".
[[nodiscard]] std::string describe(const RingPlan& plan, const RingNeeds& needs);

/// Bytes of a buffer for frames of these MTUs with all headers.
[[nodiscard]] std::uint32_t frame_room(std::uint32_t rdma_mtu, std::uint32_t netdev_mtu);

}  // namespace roce::capture
