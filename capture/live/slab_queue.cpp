// SPDX-License-Identifier: Apache-2.0
#include "capture/live/slab_queue.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <type_traits>
#include <utility>

namespace roce::capture {
namespace {

static_assert(std::is_trivially_copyable_v<Frame> && alignof(Frame) <= alignof(std::max_align_t));

/// A queue has several slabs, so that one can be filled while another is read.
constexpr std::size_t slabs_at_least = 4;
constexpr std::size_t smallest_slab = 4096;
/// Batches of large frames end early, as several batches may be in use at a time.
constexpr std::size_t batch_bytes_at_most = std::size_t{16} << 20U;

std::size_t slab_size(std::size_t queue_bytes, std::size_t slab_bytes) {
  return std::max(smallest_slab, std::min(slab_bytes, queue_bytes / slabs_at_least));
}

constexpr std::size_t rounded(std::size_t bytes) noexcept {
  return (bytes + alignof(Frame) - 1) / alignof(Frame) * alignof(Frame);
}

}  // namespace

SlabQueue::SlabQueue(std::size_t queue_bytes, std::size_t slab_bytes)
    : limit_(std::max(queue_bytes, smallest_slab)), pool_(rounded(slab_size(queue_bytes, slab_bytes))) {}

void SlabQueue::drop(std::uint64_t frames) noexcept {
  // Written by the producer only.
  received_.store(received() + frames, std::memory_order_relaxed);
  dropped_.store(dropped() + frames, std::memory_order_relaxed);
}

bool SlabQueue::open_slab(std::size_t bytes) {
  const std::size_t wanted = std::max(pool_.slab_bytes(), rounded(bytes + sizeof(Frame)));
  hand_over(true);
  const std::size_t waiting = last_seen_.load(std::memory_order_relaxed);
  // A frame larger than the queue is accepted while the queue is empty.
  if (waiting != 0 && waiting + wanted > limit_) {
    drop(1);
    return false;
  }
  try {
    slab_ = pool_.take(wanted);
  } catch (const std::bad_alloc&) {
    drop(1);
    return false;
  }
  begin_ = part_begin_ = 0;
  end_ = part_top_ = slab_->size / alignof(Frame) * alignof(Frame);
  return true;
}

/// `whole`: the slab is finished, and its unused bytes count for this part.
void SlabQueue::hand_over(bool whole) noexcept {
  if (filling_ != 0) {
    const std::size_t used = (begin_ - part_begin_) + (part_top_ - end_);
    const std::uint64_t frames = std::exchange(filling_, 0);
    bool wake = false;
    try {
      const std::lock_guard lock(mutex_);
      parts_.push_back({slab_, part_top_, static_cast<std::size_t>(frames), used + (whole ? room() : 0)});
      waiting_bytes_ += parts_.back().bytes;
      last_seen_.store(waiting_bytes_, std::memory_order_relaxed);
      received_.store(received() + frames, std::memory_order_relaxed);
      wake = hungry_;
    } catch (const std::bad_alloc&) {
      drop(frames);
    }
    if (wake) arrived_.notify_one();
    part_begin_ = begin_;
    part_top_ = end_;
  }
  if (!whole) return;
  slab_.reset();
  begin_ = end_ = part_begin_ = part_top_ = 0;
}

bool SlabQueue::push(const Frame& frame) {
  std::uint8_t* const to = reserve(frame.captured);
  if (to == nullptr) return false;
  if (frame.captured != 0) std::memcpy(to, frame.data, frame.captured);
  put(frame);
  return true;
}

void SlabQueue::flush() noexcept {
  hand_over(false);
}

void SlabQueue::close() noexcept {
  hand_over(true);
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  arrived_.notify_one();
}

bool SlabQueue::next_part(bool wait) {
  std::unique_lock lock(mutex_);
  if (wait && parts_.empty() && !closed_) {
    hungry_ = true;
    arrived_.wait(lock, [this] { return closed_ || !parts_.empty(); });
    hungry_ = false;
  }
  if (parts_.empty()) return false;
  current_ = std::move(parts_.front());
  parts_.pop_front();
  waiting_bytes_ -= current_.bytes;
  last_seen_.store(waiting_bytes_, std::memory_order_relaxed);
  return true;
}

std::size_t SlabQueue::take(FrameBatch& batch, std::size_t limit) {
  std::size_t taken = 0;
  std::size_t bytes = 0;
  while (taken < limit) {
    if (current_.frames == 0) {
      // Waits for the first frame only.
      if (bytes >= batch_bytes_at_most || !next_part(taken == 0)) break;
      bytes += current_.bytes;
    }
    const std::size_t count = std::min(limit - taken, current_.frames);
    const auto* const top = reinterpret_cast<const Frame*>(current_.slab->bytes.get() + current_.top);
    if (batch.keep_alive.empty() || batch.keep_alive.back() != current_.slab) {
      batch.keep_alive.push_back(current_.slab);
    }
    batch.frames.insert(batch.frames.end(), std::make_reverse_iterator(top),
                        std::make_reverse_iterator(top - count));
    current_.frames -= count;
    current_.top -= count * sizeof(Frame);
    taken += count;
    taken_.store(this->taken() + count, std::memory_order_relaxed);
    if (current_.frames == 0) current_ = {};  // releases the slab
  }
  return taken;
}

}  // namespace roce::capture
