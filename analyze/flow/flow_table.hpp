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

/// Flows by key, bounded. Not thread-safe.
class FlowTable {
 public:
  static constexpr std::size_t default_limit = default_flow_limit;
  static constexpr std::uint32_t none = 0xffffffff;

  explicit FlowTable(std::size_t limit = default_limit);
  FlowTable(const FlowTable& other);
  FlowTable& operator=(const FlowTable&) = delete;
  ~FlowTable();

  /// Place of a valid record's flow, a new one if its key is new. Places stay until evict().
  std::uint32_t place_of(const PacketRecord& record);
  /// Place of the flow that has the key now, or none.
  [[nodiscard]] std::uint32_t find(const FlowKey& key) const { return find(key, key.hash()); }
  [[nodiscard]] std::uint32_t find(const PacketRecord& record) const {
    return find(record.key, record.key_hash);
  }
  /// Where the record's flow probably is, without looking at any flow: to be fetched before it is asked
  /// for. May be wrong, or none.
  [[nodiscard]] std::uint32_t guess(const PacketRecord& record) const noexcept {
    const std::array<Recent, 2>& both = recent_[record.key_hash % recent_size];
    const std::uint32_t tag = tag_of(record.key_hash);
    const std::uint32_t second = both[1].tag == tag ? both[1].place : none;
    return both[0].tag == tag ? both[0].place : second;
  }
  [[nodiscard]] Flow& at(std::uint32_t place) noexcept { return flows_[place]; }
  [[nodiscard]] const Flow& at(std::uint32_t place) const noexcept { return flows_[place]; }
  /// The next packet with its key begins a new flow; this one stays listed.
  void retire(std::uint32_t place);
  [[nodiscard]] bool full() const noexcept { return size() >= limit_; }
  [[nodiscard]] std::size_t limit() const noexcept { return limit_; }
  /// When a place was used last, in any rising measure; nullopt: it must stay.
  using LastUse = std::function<std::optional<std::uint64_t>(std::uint32_t place)>;
  /// Frees the sixteenth of the places that was idle longest. Calls `leaving` for each before.
  void evict(const LastUse& last_use, const std::function<void(std::uint32_t)>& leaving);
  /// Frees one place; its flow has departed.
  void free(std::uint32_t place);
  /// Packets of flows in the table that were never counted in it are lost with an eviction.
  void count_evicted(std::uint64_t packets) noexcept { departed_.packets += packets; }

  /// Flows in the table with packets that count, by id. Empties the table.
  [[nodiscard]] std::vector<Flow> take_sorted();

  /// When the table is full, the longest idle sixteenth leaves it; this counts what left.
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
  Chunks<Flow> flows_;  ///< by place
  std::unique_ptr<Index> index_;
  mutable std::vector<std::array<Recent, 2>> recent_;  ///< by hash: what was found last, newest first
  std::vector<std::uint32_t> unused_;                  ///< places that were freed
  std::uint64_t next_id_ = 0;
  Departed departed_;
};

}  // namespace roce::analyze
