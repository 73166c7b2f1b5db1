// SPDX-License-Identifier: Apache-2.0
// Makes the bytes of simulated packets. A packet sent again has the transport bytes of its first time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/support/fault_simulator.hpp"
#include "tests/support/frame_builder.hpp"

namespace roce::support {

struct FaultFrame {
  std::span<const std::uint8_t> bytes;  // valid until the next call
  std::uint32_t interface = 0;
};

struct FrameMarks {
  std::uint8_t dscp = 26;
  std::uint8_t ecn = 2;
  std::uint8_t ttl = 64;
  std::optional<std::uint16_t> vlan{};
  std::uint8_t pcp = 0;
};

class FaultFrames {
 public:
  explicit FaultFrames(const FaultOptions& options);

  // `copy`: as the capture sees a packet for the second time (options.mirror).
  FaultFrame make(const Packet& packet, const Endpoints& endpoints, bool copy);

  // The marks of what is made from now on.
  void set_marks(const FrameMarks& marks) { marks_ = marks; }
  // A congestion notification.
  FaultFrame make_cnp(End sender, const Endpoints& endpoints, const FrameMarks& marks);

  // A CM message, without faults.
  FaultFrame make(CmMessage message, std::uint32_t connection, const Endpoints& endpoints);

  static std::uint32_t interfaces(const FaultOptions& options);

 private:
  void address(End sender, const Endpoints& endpoints, std::uint16_t ip_id, bool copy);
  void extend(const Packet& packet);
  void trim(const Packet& packet);
  void flip_bit(std::uint32_t which);

  const FaultOptions options_;
  std::vector<std::uint8_t> data_;  // payload is cut from this
  RoceFrame frame_;
  std::vector<std::uint8_t> bytes_;
  std::uint32_t cm_psn_ = 0;
  FrameMarks marks_{};
};

MacAddress host_mac(std::uint32_t host);
Ipv4Address host_ipv4(std::uint32_t host);
Ipv6Address host_ipv6(std::uint32_t host);

}  // namespace roce::support
