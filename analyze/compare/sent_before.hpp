// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/compare/compare.hpp"

// Internal to compare: who sends to whom, on which side of the points, and what was sent before.
namespace roce::analyze {

/// One direction between two addresses, whatever its queue pairs.
struct AddressPair {
  dissect::IpAddress src, dst;
  std::optional<unsigned> direction;  ///< the order in which its packets pass the points
  bool either = false;                ///< it is not known: what is absent at either point was lost before it
  std::uint64_t matched = 0;
  std::uint64_t requests = 0;  ///< of reliable services, and messages of the CM: what ought to be answered
  std::uint64_t answers = 0;   ///< ACKs, responses, and messages of the CM
  std::uint64_t alone[2]{};    ///< packets that only this point shows, and the other one could have
  Counted alone_first[2];
  std::uint64_t listed = 0;  ///< of them, in the list of lost packets before any was matched
};

/// A packet on its way past the first point, for FlowBook::sent().
struct Passage {
  std::uint32_t flow = 0;
  std::uint8_t opcode = 0;
  std::uint32_t psn = 0;
  bool confirms = false;             ///< an answer with the AETH of an ACK: it acknowledges its own PSN too
  std::uint64_t number = 0;          ///< at the first point
  bool arrived = false;              ///< at the second one
  std::uint64_t arrival_number = 0;  ///< there
  std::int64_t arrival_ns = 0;
};

class FlowBook {
 public:
  static constexpr std::size_t most_flows = std::size_t{1} << 16U;
  static constexpr std::size_t most_pairs = std::size_t{1} << 16U;
  static constexpr std::uint32_t none = 0xffff'ffff;

  FlowBook();
  ~FlowBook();
  FlowBook(const FlowBook&) = delete;
  FlowBook& operator=(const FlowBook&) = delete;

  /// Counts a packet of the flow among what asks or answers between its addresses.
  void count_kind(std::uint32_t flow, std::uint8_t opcode) noexcept;
  /// The flow's place; `none` when there is no room for it.
  [[nodiscard]] std::uint32_t place_of(const FlowKey& key);
  [[nodiscard]] const FlowKey& key_of(std::uint32_t flow) const noexcept;
  [[nodiscard]] AddressPair& pair_of(std::uint32_t flow) noexcept;
  [[nodiscard]] std::vector<AddressPair>& pairs() noexcept;
  /// The pair of addresses, made if there is room; nullptr otherwise.
  [[nodiscard]] AddressPair* pair(const dissect::IpAddress& src, const dissect::IpAddress& dst);

  /// Tells repeats and overtaken packets of a direction, in the order in which they pass its first point.
  /// `lost_place`: where the packet stands in `lost`, if it is there.
  void sent(const Passage& passage, std::optional<std::uint32_t> lost_place, std::vector<LostPacket>& lost,
            CompareDirection& direction);
  /// Whether that packet came to its receiver, so that the capture at the second point missed it: it is of a
  /// reliable connection, was not sent again, and its receiver acknowledged it or its sender went on far
  /// behind it. For when all packets were seen.
  [[nodiscard]] bool arrived(const LostPacket& lost);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
