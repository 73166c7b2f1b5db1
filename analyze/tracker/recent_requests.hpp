// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

// Internal to the tracker.
namespace roce::analyze {

/// Which flows sent a request under a PSN lately, whoever looks for those that an answer can be to. Bounded:
/// the oldest are forgotten. Not thread-safe.
class RecentRequests {
 public:
  static constexpr std::size_t at_most = std::size_t{1} << 17U;

  struct Sent {
    std::uint64_t flow = 0;  ///< its id
    std::int64_t time_ns = 0;
    std::uint32_t place = 0;
  };

  /// `way`: the same for all flows from one host to another.
  void add(std::uint64_t way, std::uint32_t psn, Sent sent);

  /// Shows `visit` those that went this way with that PSN, the newest first, until it returns false or so
  /// many were passed. Others with the same hash are shown, too. Returns how many were passed: the work.
  template <class Visit>
  std::size_t newest_first(std::uint64_t way, std::uint32_t psn, std::size_t most, Visit visit) const {
    if (entries_.empty()) return 0;
    const std::uint64_t key = key_of(way, psn);
    std::size_t passed = 0;
    for (std::uint64_t at = heads_[slot_of(key)]; is_kept(at) && passed < most; ++passed) {
      const Entry& entry = entries_[at & (entries_.size() - 1)];
      if (entry.key == key && !visit(entry.sent)) break;
      if (entry.before >= at) break;
      at = entry.before;
    }
    return passed;
  }

 private:
  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t before = 0;  ///< the next older one with its slot, counted from 1; 0 = none
    Sent sent;
  };
  [[nodiscard]] static std::uint64_t key_of(std::uint64_t way, std::uint32_t psn) noexcept;
  [[nodiscard]] std::size_t slot_of(std::uint64_t key) const noexcept {
    return (key >> 32U) & (heads_.size() - 1);
  }
  [[nodiscard]] bool is_kept(std::uint64_t at) const noexcept {
    return at != 0 && added_ - at < entries_.size();
  }
  void put_first(std::uint64_t at) noexcept;
  void grow();

  std::vector<Entry> entries_;        ///< by number, in turns
  std::vector<std::uint64_t> heads_;  ///< the newest one of each slot
  std::uint64_t added_ = 0;
};

}  // namespace roce::analyze
