// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "analyze/base/deep_ptr.hpp"
#include "analyze/base/prefetch.hpp"
#include "capture/core/frame.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// One transmission that was captured.
struct Seen {
  std::int64_t psn = -1;  ///< extended, see PsnSpace; -1 = nothing
  std::int64_t time_ns = 0;
  std::uint64_t frame : 48 = 0;    ///< number
  std::uint64_t content : 16 = 0;  ///< content_of()
  std::uint32_t path = 0;
  std::uint16_t ip_id = 0;
  std::uint8_t opcode = 0;
  std::uint8_t cause : 3 = 0;    ///< Cause: why it was sent again, if it was
  std::uint8_t late : 1 = 0;     ///< came after PSNs behind it
  std::uint8_t ask : 1 = 0;      ///< of a request: AckReq was set
  std::uint8_t trimmed : 1 = 0;  ///< what it carried was cut off

  static constexpr std::uint64_t last_frame = (std::uint64_t{1} << 48U) - 1;
  /// Sent once, and in its turn: what answers it answers this transmission.
  [[nodiscard]] bool only_one() const noexcept { return late == 0 && cause == 0; }
};
static_assert(sizeof(Seen) == 32);

/// Bytes that all rings of a tracker may take together.
struct RingBudget {
  static constexpr std::size_t total = std::size_t{32} << 20U;
  std::size_t left = total;
  /// Little is left: what is only nice to know has to go.
  [[nodiscard]] bool scarce() const noexcept { return left < total / 2; }
  bool twice = false;           ///< the capture shows packets again: also what is confirmed
  std::uint64_t forgotten = 0;  ///< transmissions overwritten although they were not yet confirmed
};

/// The last transmissions of one PSN space in one direction, by PSN. Grows while what it would
/// overwrite is still needed and the budget lasts; then the oldest go.
class PsnRing {
 public:
  static constexpr std::size_t first_size = 4;
  static constexpr std::size_t largest_size = std::size_t{1} << 16U;

  PsnRing() noexcept = default;
  PsnRing(const PsnRing& other);
  PsnRing(PsnRing&&) noexcept = default;
  PsnRing& operator=(const PsnRing&) = delete;
  PsnRing& operator=(PsnRing&&) noexcept = default;
  ~PsnRing() = default;

  /// The last transmission of that PSN, or nullptr.
  [[nodiscard]] Seen* find(std::int64_t psn) noexcept {
    if (size_ == 0) return nullptr;
    Seen& seen = slots_[static_cast<std::size_t>(psn) & (size_ - 1)];
    return seen.psn == psn ? &seen : nullptr;
  }

  /// The place for a transmission of `psn`, to be filled; what is at or above `needed_from` should not be
  /// lost for it.
  [[nodiscard]] Seen& slot_for(std::int64_t psn, std::int64_t needed_from, RingBudget& budget) {
    if (size_ != 0) [[likely]] {
      Seen& slot = slots_[static_cast<std::size_t>(psn) & (size_ - 1)];
      if (slot.psn < needed_from) [[likely]]
        return slot;
      if (slot.psn < 0 || slot.psn == psn) return slot;
    }
    return make_slot(psn, needed_from, budget);
  }
  /// Puts a transmission in its place.
  Seen& put(const Seen& seen, std::int64_t needed_from, RingBudget& budget) {
    return slot_for(seen.psn, needed_from, budget) = seen;
  }

  /// The transmissions with PSNs in [from, to), in any order; no longer than the ring, whatever the range.
  template <class Each>
  void for_each_in(std::int64_t from, std::int64_t to, Each each) {
    // Few PSNs are looked up, else all slots are looked through.
    const std::int64_t size = static_cast<std::int64_t>(size_);
    const bool few = to - from < size;
    for (std::int64_t i = few ? from : 0; i < (few ? to : size); ++i) {
      Seen& seen = slots_[static_cast<std::size_t>(i) & (size_ - 1)];
      if (few ? seen.psn == i : seen.psn >= from && seen.psn < to) each(seen);
    }
  }

  /// Asks for the memory of that PSN's slot.
  void fetch(std::int64_t psn) const noexcept {
    if (size_ != 0) prefetch(&slots_[static_cast<std::size_t>(psn) & (size_ - 1)]);
  }

  void release(RingBudget& budget) noexcept {
    budget.left += size_ * sizeof(Seen);
    slots_.reset();
    size_ = 0;
  }

 private:
  Seen& make_slot(std::int64_t psn, std::int64_t needed_from, RingBudget& budget);
  bool grow(RingBudget& budget) {
    const std::size_t wanted = size_ == 0 ? first_size : size_ * 2;
    const std::size_t more = (wanted - size_) * sizeof(Seen);
    if (wanted > largest_size || more > budget.left) return false;
    auto bigger = std::make_unique<Seen[]>(wanted);
    for (std::size_t i = 0; i < size_; ++i) {
      if (slots_[i].psn >= 0) bigger[static_cast<std::size_t>(slots_[i].psn) & (wanted - 1)] = slots_[i];
    }
    slots_ = std::move(bigger);
    budget.left -= more;
    size_ = wanted;
    return true;
  }

  std::unique_ptr<Seen[]> slots_;
  std::size_t size_ = 0;
  static inline thread_local Seen nothing_;
};

/// PSNs that were not captured in their place.
struct PsnGap {
  std::int64_t from = 0;
  std::int64_t to = 0;  ///< one behind the last
  std::int64_t time_ns = 0;
  std::uint64_t frame = 0;   ///< the packet that showed it
  std::uint64_t before = 0;  ///< the last one of its kind before; 0: not known
  std::int64_t before_ns = capture::no_time;
  std::uint32_t row = no_row;  ///< of CaptureGaps, once nothing of it is expected any more
  bool asked_again = false;    ///< of responses: the requester may lack any of them

  static constexpr std::uint32_t no_row = 0xffffffff;
};

/// A few gaps, in the order in which they showed. Bounded: the oldest go first.
class PsnGaps {
 public:
  static constexpr std::size_t limit = 64;

  [[nodiscard]] bool empty() const noexcept { return list_ == nullptr || list_->empty(); }
  void add(const PsnGap& gap);
  /// The oldest gap, where it would go soon; nullptr if there is room for more.
  [[nodiscard]] const PsnGap* oldest_of_many() const noexcept {
    return list_ == nullptr || list_->size() < limit / 2 ? nullptr : &list_->front();
  }
  void forget_oldest() { list_->erase(list_->begin()); }
  /// The gap that has `psn`; nullptr if none.
  [[nodiscard]] const PsnGap* find(std::int64_t psn) const noexcept;
  [[nodiscard]] bool any_in(std::int64_t from, std::int64_t to) const noexcept {
    return list_ != nullptr && std::any_of(list_->begin(), list_->end(),
                                           [&](const PsnGap& gap) { return gap.from < to && gap.to > from; });
  }
  /// Responses to [psn, psn + count) are asked for again. `goes_back`: as the oldest that the requester
  /// lacks, so that a gap is split there: it has what is before.
  void ask_again(std::int64_t psn, std::int64_t count, bool goes_back);
  /// Takes [psn, psn + count) out of all gaps.
  void fill(std::int64_t psn, std::int64_t count);
  template <class Each>
  void for_each(Each each) const {
    if (list_ == nullptr) return;
    for (const PsnGap& gap : *list_) each(gap);
  }

 private:
  DeepPtr<std::vector<PsnGap>> list_;
};

}  // namespace roce::analyze
