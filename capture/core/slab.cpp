// SPDX-License-Identifier: Apache-2.0
#include "capture/core/slab.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

namespace roce::capture {

struct SlabPool::Shelf {
  static constexpr std::size_t kept = 32;  // more than are in use at once
  std::mutex mutex;
  std::vector<std::unique_ptr<Slab>> slabs;
};

SlabPool::SlabPool(std::size_t slab_bytes)
    : slab_bytes_(std::max<std::size_t>(slab_bytes, 64)), shelf_(std::make_shared<Shelf>()) {
  shelf_->slabs.reserve(Shelf::kept);
}

std::shared_ptr<Slab> SlabPool::take(std::size_t wanted) {
  std::unique_ptr<Slab> slab;
  if (wanted <= slab_bytes_) {
    const std::lock_guard lock(shelf_->mutex);
    if (!shelf_->slabs.empty()) {
      slab = std::move(shelf_->slabs.back());
      shelf_->slabs.pop_back();
    }
  }
  if (!slab) {
    slab = std::make_unique<Slab>();
    slab->size = std::max(wanted, slab_bytes_);
    slab->bytes = std::make_unique_for_overwrite<std::uint8_t[]>(slab->size);
  }
  // The shelf outlives the pool while slabs are in use.
  const auto give_back = [shelf = shelf_, usual = slab_bytes_](Slab* back) {
    std::unique_ptr<Slab> owned(back);
    if (owned->size != usual) return;
    const std::lock_guard lock(shelf->mutex);
    if (shelf->slabs.size() < Shelf::kept) shelf->slabs.push_back(std::move(owned));
  };
  return {slab.release(), give_back};
}

}  // namespace roce::capture
