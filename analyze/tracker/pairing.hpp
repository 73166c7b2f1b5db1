// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyze/record/packet_record.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// The UDP source port that Linux and mlx5 derive from both queue pair numbers of an RC or UC connection
/// when the address handle's flow label is 0. The same in both directions.
[[nodiscard]] constexpr std::uint16_t source_port_of(std::uint32_t qpn, std::uint32_t other_qpn) noexcept {
  std::uint64_t v = std::uint64_t{qpn} * other_qpn;
  v ^= v >> 20U;
  v ^= v >> 40U;
  const std::uint64_t label = v & 0xfffffU;
  return static_cast<std::uint16_t>(((label & 0x3fffU) ^ (label >> 14U)) | 0xc000U);
}

/// The same for all flows from one host to another; with `back`, for those the other way.
[[nodiscard]] std::uint64_t way_of(const FlowKey& key, bool back = false) noexcept;

/// Flows whose other direction is not known yet, to be found by addresses and by source port. Places are
/// those of the flow table. Not thread-safe.
class UnpairedFlows {
 public:
  UnpairedFlows();
  UnpairedFlows(const UnpairedFlows& other);
  UnpairedFlows(UnpairedFlows&&) noexcept;
  UnpairedFlows& operator=(UnpairedFlows&&) noexcept;
  ~UnpairedFlows();

  void add(std::uint32_t place, const PacketRecord& record);
  void remove(std::uint32_t place, const PacketRecord& record);

  /// A flow is seen for the first time.
  void note_port(const PacketRecord& record);
  /// Whether so many flows to other queue pairs use its source port, between whatever hosts, that ports here
  /// do not follow from the numbers: then some fit by chance.
  [[nodiscard]] bool on_shared_port(const PacketRecord& record) const;

  /// Flows between the same two addresses, in either direction; the key may also gather others, so
  /// compare the addresses.
  [[nodiscard]] std::span<const std::uint32_t> between(const PacketRecord& record) const;
  /// The same with the same source port.
  [[nodiscard]] std::span<const std::uint32_t> on_port(const PacketRecord& record) const;

  /// One of them has sent its first request, or one that had sent any leaves.
  void add_requester(const PacketRecord& record);
  void remove_requester(const PacketRecord& record);
  /// Flows in the opposite direction that have sent requests.
  [[nodiscard]] std::size_t requesters_to(const PacketRecord& record) const;

  /// Which flow the answers of a flow fit best; `none` before or after: no flow.
  void change_favourite(std::uint32_t place, std::uint32_t before, std::uint32_t after, std::uint32_t none);
  /// Flows with that favourite, between any addresses.
  [[nodiscard]] std::span<const std::uint32_t> with_favourite(std::uint32_t favourite) const;

  /// Elements of lists that remove() has looked at so far: its work.
  [[nodiscard]] std::uint64_t steps() const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::analyze
