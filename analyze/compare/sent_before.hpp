// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/compare/compare.hpp"
#include "analyze/compare/sent_flow.hpp"

// Internal to compare: pairs of addresses, their direction, and the transmissions before a packet.
namespace roce::analyze {

/// One direction between two addresses, all queue pairs.
struct AddressPair {
  dissect::IpAddress src, dst;
  std::optional<unsigned> direction;  ///< the order in which its packets pass the points
  bool either = false;                ///< the order is unknown: packets missing at either point are lost
  std::uint64_t matched = 0;
  std::uint64_t requests = 0;  ///< requests of reliable services, and CM messages, which need a response
  std::uint64_t answers = 0;   ///< ACKs, responses, and CM messages
  std::uint64_t alone[2]{};    ///< packets seen only at this point while the other one was capturing
  Counted alone_first[2];
  std::uint64_t listed = 0;  ///< of them, those in the list of lost packets before any was matched
};

/// Finds retransmissions and reordering. Bounded; not thread-safe.
class SentBefore {
 public:
  static constexpr std::size_t most_flows = std::size_t{1} << 16U;
  static constexpr std::size_t most_pairs = std::size_t{1} << 16U;
  static constexpr std::uint32_t none = SentFlow::none;

  /// `repeats_limit`: runs of repeats that are listed.
  explicit SentBefore(std::size_t repeats_limit);
  ~SentBefore();
  SentBefore(const SentBefore&) = delete;
  SentBefore& operator=(const SentBefore&) = delete;

  /// Counts a packet of the flow as request or response of its pair of addresses.
  void count_kind(std::uint32_t flow, std::uint8_t opcode) noexcept;
  /// The flow's place; `none` if the limit is reached. `port`: UDP source port of its packet.
  [[nodiscard]] std::uint32_t place_of(const FlowKey& key, std::uint16_t port);
  [[nodiscard]] const FlowKey& key_of(std::uint32_t flow) const noexcept;
  [[nodiscard]] AddressPair& pair_of(std::uint32_t flow) noexcept;
  /// Its place in pairs().
  [[nodiscard]] std::uint32_t pair_place(std::uint32_t flow) const noexcept;
  [[nodiscard]] std::vector<AddressPair>& pairs() noexcept;
  /// The pair of addresses, added if there is room; nullptr otherwise.
  [[nodiscard]] AddressPair* pair(const dissect::IpAddress& src, const dissect::IpAddress& dst);

  /// Detects retransmissions and reordering. Call for each packet of a direction in the order in which it
  /// passes the first point. `lost_place`: its index in the list of lost packets, if it is there.
  void sent(const Passage& passage, std::optional<std::uint32_t> lost_place, unsigned direction,
            CompareResult& result);
  /// Why packets were sent again, after all of them. `ends_ns`: the last time of each capture.
  void finish_repeats(const std::optional<std::int64_t> (&ends_ns)[2], CompareResult& result);
  /// Whether that packet reached its receiver and was only not captured at the second point: it is of a
  /// reliable connection, was not retransmitted, and was acknowledged or its sender continued far beyond it.
  /// Only valid after all packets.
  [[nodiscard]] bool arrived(const LostPacket& lost);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
