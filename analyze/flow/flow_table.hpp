// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/base/stable_vector.hpp"
#include "analyze/flow/flow.hpp"

namespace roce::analyze {

/// Flows by key; at most `limit`. Not thread-safe.
class FlowTable {
 public:
  static constexpr std::size_t default_limit = default_flow_limit;
  static constexpr std::uint32_t none = 0xffffffff;

  explicit FlowTable(std::size_t limit = default_limit);
  FlowTable(const FlowTable& other);
  FlowTable& operator=(const FlowTable&) = delete;
  ~FlowTable();

  /// Place (index) of a valid record's flow, a new one if its key is new. Places stay valid until evict() or
  /// free().
  std::uint32_t place_of(const PacketRecord& record);
  /// Place of the flow that currently has the key, or none.
  [[nodiscard]] std::uint32_t find(const FlowKey& key) const { return find(key, key.hash()); }
  [[nodiscard]] std::uint32_t find(const PacketRecord& record) const {
    return find(record.key, record.key_hash);
  }
  /// Probable place of the record's flow, without reading any flow: for prefetching. May be wrong, or none.
  [[nodiscard]] std::uint32_t guess(const PacketRecord& record) const noexcept {
    const std::array<Recent, 2>& both = recent_[record.key_hash % recent_size];
    const std::uint32_t tag = tag_of(record.key_hash);
    const std::uint32_t second = both[1].tag == tag ? both[1].place : none;
    return both[0].tag == tag ? both[0].place : second;
  }
  [[nodiscard]] Flow& at(std::uint32_t place) noexcept { return flows_[place]; }
  [[nodiscard]] const Flow& at(std::uint32_t place) const noexcept { return flows_[place]; }
  /// Closes a flow: the next packet with its key begins a new one; this one stays listed.
  void retire(std::uint32_t place);
  [[nodiscard]] bool full() const noexcept { return size() >= limit_; }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  /// When a place was last used, in any monotonic measure; nullopt: it must not be evicted.
  using LastUse = std::function<std::optional<std::uint64_t>(std::uint32_t place)>;
  /// Evicts the sixteenth of the places that was idle longest. Calls `leaving` for each one before.
  void evict(const LastUse& last_use, const std::function<void(std::uint32_t)>& leaving);
  /// Frees one place and adds its flow to departed().
  void free(std::uint32_t place);
  /// Adds packets of evicted flows that were buffered and never counted in the table.
  void count_evicted(std::uint64_t packets) noexcept { departed_.packets += packets; }

  /// All flows with counted packets, by id. Empties the table.
  [[nodiscard]] std::vector<Flow> take_sorted();

  /// Sums over the flows that were evicted or freed.
  [[nodiscard]] const Departed& departed() const noexcept { return departed_; }
  [[nodiscard]] Departed& departed() noexcept { return departed_; }
  [[nodiscard]] std::size_t size() const noexcept { return flows_.size() - unused_.size(); }

 private:
  struct Index;
  struct Recent {
    std::uint32_t tag = 0;
    std::uint32_t place = none;
  };
  static constexpr std::size_t recent_size = 4096;
  [[nodiscard]] static std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32U);
  }

  [[nodiscard]] std::uint32_t find(const FlowKey& key, std::uint64_t hash) const;
  void unlist(std::uint32_t place);
  void remember(std::uint64_t hash, std::uint32_t place) const noexcept;

  const std::size_t limit_;
  StableVector<Flow> flows_;  ///< by place
  std::unique_ptr<Index> index_;
  mutable std::vector<std::array<Recent, 2>> recent_;  ///< by hash: the last flows found, newest first
  std::vector<std::uint32_t> unused_;                  ///< places that were freed
  std::uint64_t next_id_ = 0;
  Departed departed_;
};

}  // namespace roce::analyze
