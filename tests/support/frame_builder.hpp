// SPDX-License-Identifier: Apache-2.0
// Builds RoCE frames from header values, for tests, generated captures and later for faults.
// Written without a look at dissect/: what one reads, the other writes, so a slip in either shows.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace roce::support {

using MacAddress = std::array<std::uint8_t, 6>;
using Ipv4Address = std::array<std::uint8_t, 4>;
using Ipv6Address = std::array<std::uint8_t, 16>;

// One 802.1Q or 802.1ad tag, outermost first in RoceFrame::vlans.
struct VlanTag {
  std::uint16_t tpid = 0x8100;
  std::uint8_t pcp = 0;  // 0..7
  bool dei = false;
  std::uint16_t vid = 0;  // 0..4095
};

struct Ipv4 {
  Ipv4Address source{};
  Ipv4Address destination{};
  std::uint8_t tos = 0;  // DSCP << 2 | ECN
  std::uint16_t id = 0;
  bool dont_fragment = true;
  std::uint8_t ttl = 64;
};

struct Ipv6 {
  Ipv6Address source{};
  Ipv6Address destination{};
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t hop_limit = 64;
};

// RoCE v1: ethertype 0x8915, no UDP header.
struct Grh {
  Ipv6Address source{};
  Ipv6Address destination{};
  std::uint8_t traffic_class = 0;
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t hop_limit = 64;
};

// IBTA 9.2. The pad count is computed from the payload.
struct Bth {
  std::uint8_t opcode = 0;
  bool solicited = false;
  bool migrated = false;
  std::uint8_t version = 0;  // 4 bits
  std::uint16_t pkey = 0xffff;
  bool fecn = false;
  bool becn = false;
  std::uint32_t dest_qp = 0;  // 24 bits
  bool ack_request = false;
  std::uint32_t psn = 0;  // 24 bits
};

// The headers between BTH and payload, in the order of the calls (IBTA 9.3). Nothing checks that
// they suit the opcode, so that wrong frames can be built too.
class ExtendedHeaders {
 public:
  ExtendedHeaders& reth(std::uint64_t address, std::uint32_t rkey, std::uint32_t dma_length);
  ExtendedHeaders& aeth(std::uint8_t syndrome, std::uint32_t msn);
  ExtendedHeaders& deth(std::uint32_t qkey, std::uint32_t source_qp);
  ExtendedHeaders& atomic(std::uint64_t address, std::uint32_t rkey, std::uint64_t swap_or_add,
                          std::uint64_t compare);
  ExtendedHeaders& atomic_ack(std::uint64_t original);
  ExtendedHeaders& immediate(std::uint32_t value);
  ExtendedHeaders& invalidate(std::uint32_t rkey);
  ExtendedHeaders& flush(std::uint8_t placement, std::uint8_t selectivity);
  ExtendedHeaders& xrc(std::uint32_t srqn);
  ExtendedHeaders& cnp_reserved();
  void clear() { size_ = 0; }
  std::span<const std::uint8_t> bytes() const { return std::span(bytes_).first(size_); }

 private:
  void put(std::uint64_t value, std::size_t width);  // big-endian

  std::array<std::uint8_t, 64> bytes_{};
  std::size_t size_ = 0;
};

struct RoceFrame {
  MacAddress destination_mac{};
  MacAddress source_mac{};
  std::vector<VlanTag> vlans{};
  std::variant<Ipv4, Ipv6, Grh> network{};
  std::uint16_t udp_source = 0;
  std::uint16_t udp_destination = 4791;
  Bth bth{};
  ExtendedHeaders extended{};
  std::span<const std::uint8_t> payload{};  // borrowed until build() returns
  std::optional<std::uint32_t> icrc{};      // instead of the right one; as a number of the CRC
};

// Writes the frame, without Ethernet FCS and not padded to 60 bytes, over whatever `out` held.
// IP header checksum and ICRC are right, UDP checksum 0. Headers and payload must fit 65535 bytes.
void build(const RoceFrame& frame, std::vector<std::uint8_t>& out);
std::vector<std::uint8_t> build(const RoceFrame& frame);

// CRC-32 of IEEE 802.3, without the final complement: start with 0xffffffff and feed piece by piece.
std::uint32_t crc32_update(std::uint32_t crc, std::span<const std::uint8_t> bytes);

// UDP source ports as Linux chooses them. RC and UC: from both QPNs, the same in both directions,
// when the address handle's flow label is 0. UD: from the sender's own QPN.
std::uint16_t rc_source_port(std::uint32_t local_qp, std::uint32_t remote_qp);
std::uint16_t ud_source_port(std::uint32_t own_qp);

}  // namespace roce::support
