// SPDX-License-Identifier: Apache-2.0
#include "analyze/transport/psn_ring.hpp"

#include <algorithm>

namespace roce::analyze {

PsnRing::PsnRing(const PsnRing& other) : size_(other.size_) {
  if (size_ == 0) return;
  slots_ = std::make_unique<Seen[]>(size_);
  std::copy_n(other.slots_.get(), size_, slots_.get());
}

Seen& PsnRing::make_slot(std::int64_t psn, std::int64_t needed_from, RingBudget& budget) {
  if (size_ == 0) grow(budget);
  if (size_ == 0) return nothing_;  // no budget for even the smallest: remember nothing
  for (;;) {
    Seen& slot = slots_[static_cast<std::size_t>(psn) & (size_ - 1)];
    const bool in_use = slot.psn >= 0 && slot.psn != psn && slot.psn >= needed_from;
    if (!in_use) return slot;
    if (grow(budget)) continue;
    ++budget.forgotten;
    return slot;
  }
}

void Holes::add(const Hole& hole) {
  if (hole.from >= hole.to) return;
  std::vector<Hole>& holes = list();
  if (holes.size() >= limit) holes.erase(holes.begin());
  holes.push_back(hole);
}

Hole* Holes::find(std::int64_t psn) noexcept {
  Hole* of_repeat = nullptr;
  if (!list_) return nullptr;
  for (Hole& hole : *list_) {
    if (psn < hole.from || psn >= hole.to) continue;
    if (!hole.of_repeat) return &hole;
    of_repeat = &hole;
  }
  return of_repeat;
}

std::uint64_t Holes::missing(std::int64_t psn) const noexcept {
  if (!list_) return 0;
  return static_cast<std::uint64_t>(std::count_if(list_->begin(), list_->end(), [&](const Hole& hole) {
    return psn >= hole.from && psn < hole.to && !hole.counted;
  }));
}

void Holes::fill(std::int64_t psn, std::int64_t count) {
  if (!list_) return;
  const std::int64_t end = psn + count;
  std::vector<Hole> rest;
  for (Hole& hole : *list_) {
    if (end <= hole.from || psn >= hole.to) {
      rest.push_back(hole);
      continue;
    }
    Hole part = hole;
    if (hole.from < psn) {
      part.to = psn;
      rest.push_back(part);
    }
    if (end < hole.to) {
      part = hole;
      part.from = end;
      rest.push_back(part);
    }
  }
  while (rest.size() > limit) rest.erase(rest.begin());
  *list_ = std::move(rest);
}

}  // namespace roce::analyze
