// SPDX-License-Identifier: Apache-2.0
#include "gui/models/packet_search.hpp"

#include <algorithm>
#include <bit>
#include <thread>
#include <utility>

#include "gui/models/worker_threads.hpp"

namespace roce::gui {

std::shared_ptr<PacketSearch> PacketSearch::start(std::shared_ptr<const PacketStore> store,
                                                  PacketQuestion question, unsigned threads) {
  std::shared_ptr<PacketSearch> search(new PacketSearch(std::move(store), std::move(question)));
  if (threads == 0) threads = std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  for (unsigned i = 0; i < threads; ++i) run_in_background([search] { search->run(); });
  return search;
}

void PacketSearch::extend(bool all) {
  const std::lock_guard lock(mutex_);
  target_ = std::max(target_, store_->size());
  all_ = all_ || all;
  const std::size_t blocks = (target_ + block_packets - 1) / block_packets;
  if (blocks > blocks_.size()) blocks_.resize(blocks);
  // The last block may have grown.
  if (next_ > 0) {
    const Block& last = blocks_[next_ - 1];
    const std::uint64_t wanted = std::min(block_packets, target_ - (next_ - 1) * block_packets);
    if (!last.busy && last.covered < wanted) --next_;
  }
  publish();
  more_.notify_all();
}

void PacketSearch::abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  more_.notify_all();
}

/// Waits for a block to search; false: there will be none.
bool PacketSearch::take(std::size_t& block, std::uint32_t& wanted, std::unique_lock<std::mutex>& lock) {
  more_.wait(lock, [this] { return abandoned_ || next_ < blocks_.size() || (all_ && state_.complete); });
  if (abandoned_ || next_ >= blocks_.size()) return false;
  block = next_++;
  wanted = static_cast<std::uint32_t>(std::min(block_packets, target_ - block * block_packets));
  blocks_[block].busy = true;
  return true;
}

void PacketSearch::run() {
  PacketMatcher matcher(store_, question_);
  std::vector<std::uint64_t> bits(block_words);
  std::uint64_t unreadable = 0;
  std::unique_lock lock(mutex_);
  std::size_t number = 0;
  std::uint32_t wanted = 0;
  while (take(number, wanted, lock)) {
    // The last block may have grown meanwhile: then it is searched again.
    for (bool again = true; again;) {
      lock.unlock();
      const std::uint64_t first = number * block_packets + 1;
      std::uint32_t found = 0;
      std::fill(bits.begin(), bits.end(), 0);
      for (std::uint32_t i = 0; i < wanted; ++i) {
        if (i % 256 == 0 && abandoned_.load(std::memory_order_relaxed)) return;
        if (!matcher.matches(first + i)) continue;
        bits[i / 64] |= std::uint64_t{1} << i % 64;
        ++found;
      }
      lock.lock();
      Block& block = blocks_[number];
      block.bits = found == 0 || found == wanted ? std::vector<std::uint64_t>() : bits;
      block.covered = wanted;
      block.found = found;
      state_.unreadable += matcher.unreadable() - std::exchange(unreadable, matcher.unreadable());
      wanted = static_cast<std::uint32_t>(std::min(block_packets, target_ - number * block_packets));
      block.busy = again = block.covered < wanted;
      publish();
    }
  }
}

/// Publishes the blocks that are complete without a gap from the first packet on.
void PacketSearch::publish() {
  while (published_ < blocks_.size()) {
    const Block& block = blocks_[published_];
    if (block.busy || block.covered == 0) break;
    const std::uint64_t before =
        published_ == 0 ? 0 : found_before_[published_ - 1] + blocks_[published_ - 1].found;
    if (found_before_.size() == published_) found_before_.push_back(before);
    state_.looked_at = published_ * block_packets + block.covered;
    state_.found = before + block.found;
    if (block.covered < block_packets) break;
    ++published_;
  }
  state_.complete = all_ && state_.looked_at == target_;
  if (state_.complete) more_.notify_all();
}

PacketSearch::State PacketSearch::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

bool PacketSearch::has(const Block& block, std::uint32_t i) noexcept {
  if (i >= block.covered || block.found == 0) return false;
  return block.bits.empty() || (block.bits[i / 64] >> i % 64 & 1U) != 0;
}

std::uint64_t PacketSearch::number_of(std::uint64_t row) const {
  const std::lock_guard lock(mutex_);
  if (row >= state_.found) return 0;
  const auto behind = std::upper_bound(found_before_.begin(), found_before_.end(), row);
  const auto number = static_cast<std::size_t>(behind - found_before_.begin()) - 1;
  const Block& block = blocks_[number];
  auto rest = static_cast<std::uint32_t>(row - found_before_[number]);
  const std::uint64_t first = number * block_packets + 1;
  if (block.bits.empty()) return rest < block.found ? first + rest : 0;
  for (std::uint32_t word = 0; word < block_words; ++word) {
    std::uint64_t bits = block.bits[word];
    const auto count = static_cast<std::uint32_t>(std::popcount(bits));
    if (rest >= count) {
      rest -= count;
      continue;
    }
    for (; rest > 0; --rest) bits &= bits - 1;
    return first + word * 64 + static_cast<unsigned>(std::countr_zero(bits));
  }
  return 0;
}

std::uint64_t PacketSearch::found_before(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  if (number <= 1 || found_before_.empty()) return 0;
  const std::size_t place = (number - 1) / block_packets;
  if (place >= found_before_.size()) return state_.found;
  const Block& block = blocks_[place];
  const auto i = std::min(static_cast<std::uint32_t>((number - 1) % block_packets), block.covered);
  std::uint64_t found = found_before_[place];
  if (block.bits.empty()) return found + (block.found == 0 ? 0 : i);
  for (std::uint32_t word = 0; word < i / 64; ++word)
    found += static_cast<unsigned>(std::popcount(block.bits[word]));
  if (i % 64 != 0)
    found += static_cast<unsigned>(std::popcount(block.bits[i / 64] & ((std::uint64_t{1} << i % 64) - 1)));
  return std::min(found, state_.found);
}

bool PacketSearch::is_found(std::uint64_t number) const {
  const std::lock_guard lock(mutex_);
  if (number == 0 || number > state_.looked_at) return false;
  return has(blocks_[(number - 1) / block_packets], static_cast<std::uint32_t>((number - 1) % block_packets));
}

}  // namespace roce::gui
