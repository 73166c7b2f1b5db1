// SPDX-License-Identifier: Apache-2.0
#include "capture/sniffer/ring_plan.hpp"

#include <algorithm>
#include <cstdio>

namespace roce::capture {
namespace {

constexpr std::uint64_t assumed_speed_bps = 100'000'000'000;
// RoCE v2: Ethernet 14, two VLAN tags 8, IPv6 40, UDP 8, BTH 12, the longest extended headers (XRCETH 4,
// AtomicETH 28), ImmDt 4, ICRC 4; as much again for a tunnel. InfiniBand has less: LRH 8, GRH 40.
constexpr std::uint32_t rdma_headers = 256;
// Other frames, in addition to the interface's MTU: Ethernet 14, two VLAN tags, FCS.
constexpr std::uint32_t ethernet_headers = 32;
constexpr std::uint32_t largest_mtu = 65'536;
constexpr std::uint32_t step = 256;     // aligns buffers to cache lines and spreads them over cache sets
constexpr std::uint64_t wire_gap = 24;  // preamble, FCS and inter-frame gap

std::uint64_t speed_of(const RingNeeds& needs) {
  return needs.speed_bps != 0 ? needs.speed_bps : assumed_speed_bps;
}

/// Bits that the longest RDMA frame takes on the link, with wire_gap.
std::uint64_t frame_bits(const RingNeeds& needs) {
  constexpr std::uint64_t common_headers = 74;  // Ethernet, IPv4, UDP, BTH, RETH or AETH at times, ICRC
  return (std::max<std::uint64_t>(needs.rdma_mtu, 256) + common_headers + wire_gap) * 8;
}

std::chrono::microseconds time_of(std::uint64_t buffers, const RingNeeds& needs) {
  return std::chrono::microseconds(buffers * frame_bits(needs) * 1'000'000 / speed_of(needs));
}

}  // namespace

std::uint32_t frame_room(std::uint32_t rdma_mtu, std::uint32_t netdev_mtu) {
  const std::uint32_t largest = std::max(std::min(rdma_mtu, largest_mtu) + rdma_headers,
                                         std::min(netdev_mtu, largest_mtu) + ethernet_headers);
  return (largest + step - 1) / step * step;
}

RingPlan plan_ring(const RingNeeds& needs) {
  RingPlan plan;
  // The IB MTU may grow up to 4096 without a change of the interface: buffers have 4352 bytes at least.
  plan.buffer_bytes = frame_room(std::max(needs.rdma_mtu, 4096U), needs.netdev_mtu);
  const auto milliseconds =
      static_cast<std::uint64_t>(std::clamp<std::int64_t>(needs.time.count(), 1, 60'000));
  std::uint64_t buffers =
      std::max<std::uint64_t>(speed_of(needs) / 1000 * milliseconds / frame_bits(needs) + 1, fewest_buffers);
  const auto at_most = [&](std::uint64_t most, RingPlan::Limit limit) {
    if (buffers <= most) return;
    buffers = most;
    plan.limit = limit;
  };
  at_most(most_ring_bytes / plan.buffer_bytes, RingPlan::Limit::memory);
  if (needs.max_receives != 0) at_most(needs.max_receives, RingPlan::Limit::device);
  if (needs.max_completions != 0) at_most(needs.max_completions, RingPlan::Limit::device);
  plan.buffers = static_cast<std::uint32_t>(buffers);
  plan.holds = time_of(plan.buffers, needs);
  return plan;
}

bool shrink(RingPlan& plan, const RingNeeds& needs) {
  if (plan.buffers / 2 < fewest_buffers) return false;
  plan.buffers /= 2;
  plan.limit = RingPlan::Limit::device;
  plan.holds = time_of(plan.buffers, needs);
  return true;
}

std::string describe(const RingPlan& plan, const RingNeeds& needs) {
  char text[192];
  const double gigabits = static_cast<double>(speed_of(needs)) / 1e9;
  std::snprintf(
      text, sizeof text, "%u buffers of %u bytes (%.0f MB), %.1f ms of full-size RDMA frames at %s%g Gbit/s",
      plan.buffers, plan.buffer_bytes, static_cast<double>(plan.bytes()) / 1e6,
      static_cast<double>(plan.holds.count()) / 1e3, needs.speed_bps != 0 ? "" : "an assumed ", gigabits);
  std::string result = text;
  if (plan.limit == RingPlan::Limit::device) result += ", the device's limit";
  if (plan.limit == RingPlan::Limit::memory) result += ", the limit of a ring's memory";
  return result;
}

}  // namespace roce::capture
