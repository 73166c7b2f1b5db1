// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "gui/models/packet_matcher.hpp"

namespace roce::gui {

/// Finds the packets that match a question, on its own threads and in order; keeps one bit per packet. The
/// owner polls state(). All members are callable from any thread.
class PacketSearch {
 public:
  /// `threads` 0: one per core.
  [[nodiscard]] static std::shared_ptr<PacketSearch> start(std::shared_ptr<const PacketStore> store,
                                                           PacketQuestion question, unsigned threads = 0);

  /// The store may have more packets; with `all`, it is complete.
  void extend(bool all);
  /// Asks its threads to end.
  void abandon();

  struct State {
    std::uint64_t looked_at = 0;  ///< packets examined, from the first on without a gap
    std::uint64_t found = 0;      ///< matches among them
    std::uint64_t unreadable = 0;
    bool complete = false;  ///< all packets have been examined
  };
  [[nodiscard]] State state() const;
  /// Number of the match in row `row`, counted from 0; 0: there is none.
  [[nodiscard]] std::uint64_t number_of(std::uint64_t row) const;
  /// Number of matches before packet `number`: its row, if it matches.
  [[nodiscard]] std::uint64_t found_before(std::uint64_t number) const;
  [[nodiscard]] bool is_found(std::uint64_t number) const;

 private:
  static constexpr std::uint64_t block_packets = 1U << 14U;
  static constexpr std::size_t block_words = block_packets / 64;
  struct Block {
    std::uint32_t covered = 0;
    std::uint32_t found = 0;
    bool busy = false;
    std::vector<std::uint64_t> bits;  ///< empty: none match, or all covered ones do
  };

  PacketSearch(std::shared_ptr<const PacketStore> store, PacketQuestion question)
      : store_(std::move(store)), question_(std::move(question)) {}
  void run();
  [[nodiscard]] bool take(std::size_t& block, std::uint32_t& wanted, std::unique_lock<std::mutex>& lock);
  void publish();
  [[nodiscard]] static bool has(const Block& block, std::uint32_t i) noexcept;

  const std::shared_ptr<const PacketStore> store_;
  const PacketQuestion question_;
  std::atomic<bool> abandoned_ = false;

  mutable std::mutex mutex_;  ///< for all below
  std::condition_variable more_;
  std::vector<Block> blocks_;
  std::vector<std::uint64_t> found_before_;  ///< by block, of published blocks
  std::size_t next_ = 0;                     ///< blocks before it are done or taken
  std::size_t published_ = 0;                ///< whole blocks without a gap
  std::uint64_t target_ = 0;
  bool all_ = false;
  State state_;
};

}  // namespace roce::gui
