// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "analyze/base/prefetch.hpp"
#include "analyze/connection/connection.hpp"
#include "dissect/opcode.hpp"

// Internal to the tracker.
namespace roce::analyze {

/// A message in flight, or a part of one of which others were not captured (yet). A cache line.
struct alignas(64) Pending {
  std::int64_t first = 0;
  std::int64_t last = -1;  ///< -1 while its end was not seen
  std::int64_t start_ns = 0;
  std::uint64_t frame = 0;
  std::uint64_t virtual_address = 0;
  std::uint32_t r_key = 0;
  std::uint32_t length = 0;  ///< announced
  std::uint32_t bytes = 0;   ///< saturating: messages have 2^31 at most (IBTA 9.7.7)
  std::uint32_t packets = 0;
  std::uint8_t opcode = 0;
  OperationKind kind = OperationKind::send;
  bool has_reth : 1 = false;
  bool retried : 1 = false;
  bool broken : 1 = false;    ///< a part: not measured
  bool open_end : 1 = false;  ///< a READ whose number of PSNs is not known yet
  bool done : 1 = false;
  bool ended : 1 = false;        ///< of a part: the message's last packet is in it
  bool asked_again : 1 = false;  ///< of a READ or atomic: after all its answers were captured
  bool counts : 1 = false;       ///< its last packet was selected
  bool booked : 1 = false;       ///< among the operations, but for its latency

  /// Of a part: the message's first packet is in it.
  [[nodiscard]] bool begun() const noexcept { return dissect::opcode_info(opcode).starts_message(); }
  /// Of a part, also one that is still being sent: behind its last packet.
  [[nodiscard]] std::int64_t end() const noexcept { return last >= 0 ? last + 1 : first + packets; }
  /// Takes in the part that follows.
  void append(const Pending& next) noexcept {
    last = next.last;
    constexpr std::uint32_t most = 0xffffffff;
    packets += next.packets;
    bytes += std::min(next.bytes, most - bytes);
    retried = retried || next.retried;
    ended = next.ended;
    counts = next.counts;
    broken = !begun() || (last >= 0 && !ended);
  }

  void add_packet(std::uint32_t payload) noexcept {
    constexpr std::uint32_t most = 0xffffffff;
    ++packets;
    bytes += std::min(payload, most - bytes);
  }
  /// Acknowledged, it is complete, and nothing else has to be thought of.
  [[nodiscard]] bool plain() const noexcept {
    return !retried && !broken && !open_end && !done && counts && kind <= OperationKind::write;
  }
  [[nodiscard]] bool answered_on_its_own() const noexcept { return kind > OperationKind::write; }
};
static_assert(sizeof(Pending) == 64 && OperationKind::send < OperationKind::write);

/// The messages in flight, oldest first: a ring that grows, for most connections have one or two.
class PendingQueue {
 public:
  static constexpr std::size_t limit = 1024;

  PendingQueue() noexcept = default;
  PendingQueue(const PendingQueue& other)
      : head_(other.head_), size_(other.size_), capacity_(other.capacity_) {
    if (capacity_ == 0) return;
    slots_ = std::make_unique<Pending[]>(capacity_);
    for (std::uint32_t i = 0; i < size_; ++i) (*this)[i] = other[i];
  }
  PendingQueue(PendingQueue&&) noexcept = default;
  PendingQueue& operator=(const PendingQueue&) = delete;
  PendingQueue& operator=(PendingQueue&&) noexcept = default;
  ~PendingQueue() = default;

  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// As many as were in it at a time, or somewhat more.
  [[nodiscard]] std::size_t room() const noexcept { return capacity_; }
  [[nodiscard]] Pending& operator[](std::size_t i) noexcept { return slots_[(head_ + i) & (capacity_ - 1U)]; }
  [[nodiscard]] const Pending& operator[](std::size_t i) const noexcept {
    return slots_[(head_ + i) & (capacity_ - 1U)];
  }
  [[nodiscard]] Pending& front() noexcept { return (*this)[0]; }
  [[nodiscard]] Pending& back() noexcept { return (*this)[size_ - 1U]; }
  [[nodiscard]] const Pending& back() const noexcept { return (*this)[size_ - 1U]; }
  [[nodiscard]] bool full() const noexcept { return size_ == limit; }
  /// A new one behind the others. Beyond the limit the oldest goes.
  Pending& add(const Pending& op) {
    if (size_ == capacity_) make_room();
    ++size_;
    return back() = op;
  }
  /// A new one before the one at `place`. False, and nothing done, if there is no room.
  bool insert(std::size_t place, const Pending& op) {
    if (size_ == limit) return false;
    add(op);
    for (std::size_t i = size_ - 1U; i > place; --i) std::swap((*this)[i], (*this)[i - 1]);
    return true;
  }
  void erase(std::size_t place) noexcept {
    for (std::size_t i = place; i + 1 < size_; ++i) (*this)[i] = (*this)[i + 1];
    if (--size_ == 0) head_ = 0;
  }
  void pop_front() noexcept {
    ++head_;
    if (--size_ == 0) head_ = 0;  // the memory used last is the nearest
  }
  /// Asks for the memory of the first ones, which an answer completes: of a few.
  static constexpr std::size_t completed_at_once = 4;
  void fetch_front() const noexcept {
    // Every other line: processors fetch pairs of them.
    for (std::size_t i = 0; i < std::min<std::size_t>(size_, completed_at_once); i += 2)
      prefetch(&(*this)[i]);
  }
  /// Where the next one comes.
  void fetch_back() const noexcept {
    if (capacity_ != 0) prefetch(&(*this)[size_]);
  }

 private:
  void make_room() {
    if (size_ == limit) {
      pop_front();
      return;
    }
    const std::uint32_t wanted = capacity_ == 0 ? 2 : capacity_ * 2;
    auto bigger = std::make_unique<Pending[]>(wanted);
    for (std::uint32_t i = 0; i < size_; ++i) bigger[i] = (*this)[i];
    slots_ = std::move(bigger);
    capacity_ = wanted;
    head_ = 0;
  }

  std::unique_ptr<Pending[]> slots_;
  std::uint32_t head_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;  ///< a power of two
};

}  // namespace roce::analyze
